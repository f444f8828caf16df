"""The keys of the workbench and of adjudication: one table from which the bindings, the help and the settings are made.

A key is written as it is pressed: "s", "Shift+s", "Ctrl+z", "ArrowDown", "Enter", "?", ".". Digits choose the values
found in the utterance and cannot be moved.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from annotation.domain.questionnaire import Questionnaire

NAMED = r"Arrow(Up|Down|Left|Right)|Page(Up|Down)|Home|End|Insert|Delete|Backspace|Enter|Tab|Escape|F([1-9]|1[0-2])"
KEY = re.compile(rf"(Ctrl\+)?(Alt\+)?(Shift\+)?([a-z]|[!-/:-@\[-`{{-~]|{NAMED})")
DIGITS = tuple("123456789")
FORM_GROUP = "In a form"
ADJUDICATE = "adjudicate:"  # how actions of that page begin; its keys never meet those of the workbench
# Taken by the form, the browser or assistive technology whatever a person would like.
FIXED = {"Tab", "Shift+Tab", "Ctrl+Tab", "Ctrl+Shift+Tab", "Escape", "Ctrl+n", "Ctrl+t", "Ctrl+w", *DIGITS}


@dataclass(frozen=True, slots=True)
class Binding:
    """One action with its keys. `fixed` ones are shown in the help but cannot be remapped."""

    action: str
    title: str
    group: str
    keys: tuple[str, ...]
    fixed: bool = False

    @property
    def page(self) -> str:
        """Where its keys hold: two actions may share a key on different pages."""
        return "adjudication" if self.action.startswith(ADJUDICATE) else "workbench"


_ACTIONS = (
    Binding("next", "Next utterance", "Move", ("ArrowDown", "j")),
    Binding("previous", "Previous utterance", "Move", ("ArrowUp", "k")),
    Binding("next-unlabelled", "Next utterance without a label", "Move", ("]",)),
    Binding("previous-unlabelled", "Previous utterance without a label", "Move", ("[",)),
    Binding("next-to-look-at", "Next utterance that is contradictory, incomplete or asked about", "Move", ("-",)),
    Binding("first", "First utterance", "Move", ("Home",)),
    Binding("last", "Last utterance", "Move", ("End",)),
    Binding("next-label", "Into the labels of the utterance, and to the next one", "Move", ("ArrowRight",)),
    Binding("previous-label", "Back among the labels", "Move", ("ArrowLeft",)),
    Binding("open", "Open the questionnaire; on a label, edit it; after a question, answer it", "Label", ("Enter",)),
    Binding("repeat", "Repeat the last label here", "Label", (".",)),
    Binding("delete", "Delete the label (the last one of the utterance)", "Label", ("Delete", "Backspace")),
    Binding("edit", "Edit the last label of the utterance", "Label", (",",)),
    Binding("undo", "Undo", "Label", ("z", "Ctrl+z")),
    Binding("redo", "Redo", "Label", ("Shift+z", "Ctrl+Shift+z", "Ctrl+y")),
    Binding("answer-yes", "The patient says yes to everything asked", "Answer the question before", ("y",)),
    Binding("answer-no", "The patient says no to everything asked", "Answer the question before", ("n",)),
    Binding("answer-unsure", "The patient is not sure about what was asked", "Answer the question before", ("u",)),
    Binding("finish", "Mark the dialogue as done", "Dialogue", ("Ctrl+Enter",)),
    Binding("guidelines", "Guidelines for what is open", "Dialogue", ("q",)),
    Binding("concern", "Raise a concern about the utterance or the label", "Dialogue", ("!",)),
    Binding("reply", "Reply to a concern about the utterance", "Dialogue", (";",)),
    Binding("check", "In training: what matches the gold, what differs and why", "Dialogue", ("/",)),
    Binding("history", "What was changed, by whom", "Dialogue", ("=",)),
    Binding("help", "All keys", "Dialogue", ("?",)),
)
_FORM = (
    Binding("form-save", "Take the highlighted value, save, go to the next utterance", FORM_GROUP, ("Enter",), True),
    Binding("form-stay", "Save and stay on this utterance", FORM_GROUP, ("Shift+Enter",), True),
    Binding("form-value", "Take the highlighted value and begin another", FORM_GROUP, (",",), True),
    Binding("form-next", "Take the highlighted value and go to the next question", FORM_GROUP, ("Tab",), True),
    Binding("form-list", "Through the suggestions", FORM_GROUP, ("ArrowDown", "ArrowUp"), True),
    Binding(
        "form-leave", "Close the list; again, leave the form (what you typed is kept)", FORM_GROUP, ("Escape",), True
    ),
    Binding("form-guidelines", "Guidelines for this slot", FORM_GROUP, ("F1",), True),
    Binding("chip", "Take a value found in the utterance", "Values found in the utterance", ("1 … 9",), True),
)


_DECIDE, _MOVE, _GOLD = "Adjudication: decide", "Adjudication: move", "Adjudication: dialogue"
_ADJUDICATION = tuple(
    Binding(f"{ADJUDICATE}{action}", title, group, keys)
    for action, title, group, keys in (
        ("A", "Take A (accept, where there is one label)", _DECIDE, ("a",)),
        ("B", "Take B", _DECIDE, ("b",)),
        ("both", "Take both", _DECIDE, ("t",)),
        ("edit", "Edit: starts with what is taken, or with A", _DECIDE, ("e",)),
        ("edit-b", "Edit, starting with B", _DECIDE, ("Shift+e",)),
        ("new", "Write a new label instead", _DECIDE, ("n",)),
        ("beside", "Write a label beside what is there", _DECIDE, ("Shift+n",)),
        ("none", "None of them; on what both agree, do not accept it", _DECIDE, ("x",)),
        ("undo", "Take the last decision back", _DECIDE, ("z", "Ctrl+z")),
        ("reason", "Give a reason; Enter goes back", _DECIDE, ("r",)),
        ("guideline", "Make the decision a guideline example", _DECIDE, ("g",)),
        ("next-open", "Next conflict that is open", _MOVE, ("]",)),
        ("previous-open", "Previous conflict that is open", _MOVE, ("[",)),
        ("back", "Back to what was decided last", _MOVE, (",",)),
        ("next", "Next utterance", _MOVE, ("ArrowDown", "j")),
        ("previous", "Previous utterance", _MOVE, ("ArrowUp", "k")),
        ("next-item", "Next label of the utterance", _MOVE, ("ArrowRight",)),
        ("previous-item", "Previous label of the utterance", _MOVE, ("ArrowLeft",)),
        ("finish", "Mark the gold as done", _GOLD, ("Ctrl+Enter",)),
        ("help", "All keys", _GOLD, ("?",)),
    )
)


def default_bindings(questionnaire: Questionnaire) -> list[Binding]:
    """All actions with their default keys: the fixed part of the portal, one for each slot and slotless intent, and
    those of adjudication."""
    found = list(_ACTIONS)
    for intent in questionnaire.intents:
        if intent.slotless and intent.key:
            found.append(
                Binding(f"intent:{intent.name}", f"{intent.title}, saved at once", "Without a slot", (intent.key,))
            )
    for slot in questionnaire.slots:
        if slot.key:
            found.append(Binding(f"slot:{slot.name}", slot.title, "Slots (Shift: the other intent)", (slot.key,)))
    return [*found, *_FORM, *_ADJUDICATION]


def resolve(questionnaire: Questionnaire, overrides: Mapping[str, Any]) -> list[Binding]:
    """The bindings with a person's own keys; an override that is no longer valid is passed over."""
    result = []
    for binding in default_bindings(questionnaire):
        own = overrides.get(binding.action)
        usable = isinstance(own, str) and not binding.fixed and KEY.fullmatch(own) and own not in FIXED
        result.append(Binding(binding.action, binding.title, binding.group, (str(own),)) if usable else binding)
    return result


def bindings_of(page: str, bindings: list[Binding]) -> list[Binding]:
    """Those of "workbench" or of "adjudication"."""
    return [binding for binding in bindings if binding.page == page]


def check_overrides(questionnaire: Questionnaire, overrides: Mapping[str, str]) -> list[str]:
    """What is wrong with a person's keys, a sentence each: unknown actions, impossible keys, two actions of one page on
    one key."""
    problems = []
    known = {binding.action: binding for binding in default_bindings(questionnaire)}
    for action, key in overrides.items():
        if action not in known or known[action].fixed:
            problems.append(f"There is no action “{action}” that could be given a key.")
        elif not KEY.fullmatch(key) or key in FIXED:
            problems.append(f"“{key}” cannot be the key for “{known[action].title}”.")
    taken: dict[tuple[str, str], Binding] = {}
    for binding in resolve(questionnaire, overrides):
        if binding.group == FORM_GROUP:
            continue
        for key in keys_taken(binding):
            other = taken.setdefault((binding.page, key), binding)
            if other is not binding:
                problems.append(f"“{key}” would be both “{other.title}” and “{binding.title}”.")
    return problems


def keys_taken(binding: Binding) -> tuple[str, ...]:
    """The keys of a binding; a slot takes its Shift variant too."""
    shifted = tuple(f"Shift+{key}" for key in binding.keys) if binding.action.startswith("slot:") else ()
    return binding.keys + shifted


def as_json(bindings: list[Binding]) -> list[dict[str, Any]]:
    """The table as plain data for the page."""
    return [{**asdict(binding), "keys": list(binding.keys)} for binding in bindings]
