"""A questionnaire file (YAML) → `Questionnaire`, with every fault named by file, line and key path.

The file is a mapping with the keys `name`, `version`, `title`, `about`, `guideline`, `speakers`, `intents`, `slots`,
`lists`, `special_cases`, `unlabelled_reasons`. Speakers, intents, slots and a slot's fields are mappings from the name
to its keys, so a name can't be used twice; their order is the order on the screen. The keys are those of the
dataclasses in `questionnaire`, which say what they mean. `yaml_tree` says which YAML is read (`yes` and `no` are words
there).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from annotation.domain.notices import Notice
from annotation.domain.questionnaire import Intent, Questionnaire, Slot, Speaker, SpecialCase
from annotation.domain.questionnaire_fields import NAME_RULE, knows_kind, read_field, usable_name
from annotation.domain.questionnaire_lists import read_lists
from annotation.domain.questionnaire_sections import Report, Section
from annotation.domain.yaml_tree import read_tree

# The workbench's own keys on an utterance; digits and "?", "." and "/" are refused as they are not letters.
RESERVED_KEYS = frozenset("jkynuqz")
ABOUT = ("utterance",)  # the only thing that a label can be about today

_FILE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z._+-]{0,31}")
_FIELD_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")


class QuestionnaireError(ValueError):
    """A questionnaire file can't be used. `notices` lists everything that is wrong, in the order of the file."""

    def __init__(self, notices: list[Notice]) -> None:
        self.notices = sorted(notices, key=lambda notice: notice.line)
        super().__init__("\n".join(str(notice) for notice in self.notices))


@dataclass(frozen=True, slots=True)
class _Names:
    """The names that other parts of the file may refer to, each in the order of the file."""

    speakers: tuple[str, ...]
    intents: tuple[str, ...]
    slotless: frozenset[str]
    slots: tuple[str, ...]
    lists: tuple[str, ...]


def load_questionnaire(text: str, *, file: str) -> Questionnaire:
    """The questionnaire that `text` describes; `file` names it in messages. Raises `QuestionnaireError`."""
    report = Report(file)
    tree, faults = read_tree(text.removeprefix("\ufeff"))
    for fault in faults:
        report.add(fault.line, fault.key, fault.message)
    if tree is None:
        raise QuestionnaireError(report.notices)
    root = Section.of(tree, "", report)
    questionnaire = _questionnaire(root)
    if report.notices:
        raise QuestionnaireError(report.notices)
    return questionnaire


def _questionnaire(root: Section) -> Questionnaire:
    root.only(
        "name", "version", "title", "about", "guideline", "speakers", "intents", "slots", "lists", "special_cases",
        "unlabelled_reasons",
    )  # fmt: skip
    root.require("name", "version", "about", "speakers", "intents", "slots")
    for key in ("speakers", "intents", "slots"):
        if root.has(key) and not root.nodes[key].value:
            root.fault(key, f"`{key}` is empty; define one at least.")
    names = _names(root)
    name = _matching(root, "name", _FILE_NAME, "begin with a letter or digit and hold only a-z, 0-9, - and _")
    questionnaire = Questionnaire(
        name=name,
        version=_matching(root, "version", _VERSION, 'be a short text in quotes, such as "1.0"'),
        title=root.text("title", name, filled=True),
        about=_about(root),
        speakers=tuple(_speaker(key, section) for key, section in _filled(root, "speakers")),
        intents=tuple(_intent(key, section, names) for key, section in _filled(root, "intents")),
        slots=tuple(_slot(key, section, names) for key, section in _filled(root, "slots")),
        lists=read_lists(root.inside("lists")) if root.has("lists") else {},
        special_cases=tuple(_special_cases(root, names)),
        guideline=root.text("guideline"),
        unlabelled_reasons=root.texts("unlabelled_reasons"),
    )
    _check_speakers(root, questionnaire)
    _check_intents(root, questionnaire)
    _check_keys(root)
    return questionnaire


def _filled(root: Section, key: str) -> list[tuple[str, Section]]:
    """The named parts under a key. An empty key was already reported."""
    if not root.has(key) or not root.nodes[key].value:
        return []
    return list(root.inside(key).children())


def _names(root: Section) -> _Names:
    """A first look at the names, before the parts that refer to them are read. Faults are reported later."""

    def keys(part: str) -> tuple[str, ...]:
        node = root.nodes.get(part)
        return tuple(node.value) if node is not None and isinstance(node.value, dict) else ()

    intents = root.nodes.get("intents")
    slotless: set[str] = set()
    if intents is not None and isinstance(intents.value, dict):
        for name, node in intents.value.items():
            if isinstance(node.value, dict) and "slotless" in node.value and node.value["slotless"].value is True:
                slotless.add(name)
    return _Names(keys("speakers"), keys("intents"), frozenset(slotless), keys("slots"), keys("lists"))


def _matching(section: Section, key: str, pattern: re.Pattern[str], rule: str) -> str:
    value = section.text(key, filled=True)
    if value and not pattern.fullmatch(value):
        section.fault(key, f"`{key}` must {rule}, but it is “{value[:60]}”.")
    return value


def _about(root: Section) -> str:
    value = root.text("about", ABOUT[0], filled=True)
    if value not in ABOUT:
        root.fault("about", f"A label can only be about an utterance today, not about “{value}”; write `utterance`.")
    return ABOUT[0]


def _check_name(name: str, section: Section) -> None:
    if not usable_name(name):
        section.fault("", f"The name “{name[:60]}” can't be used: {NAME_RULE}.")


def _speaker(name: str, section: Section) -> Speaker:
    section.only("title", "mark", "usual_intent", "other_intent")
    section.require("usual_intent", "other_intent")
    _check_name(name, section)
    mark = section.text("mark", name[:1].upper(), filled=True)
    if len(mark) > 2:
        section.fault("mark", f"`mark` must be one or two characters, but it is “{mark[:40]}”.")
    return Speaker(
        name=name,
        title=section.text("title", name, filled=True),
        mark=mark,
        usual_intent=section.text("usual_intent", filled=True),
        other_intent=section.text("other_intent", filled=True),
    )


def _intent(name: str, section: Section, names: _Names) -> Intent:
    section.only("title", "speakers", "asks", "named", "slotless", "key", "help", "guideline")
    section.require("speakers")
    _check_name(name, section)
    slotless = section.flag("slotless")
    if section.has("key") and not slotless:
        section.fault("key", "Only an intent that is `slotless: true` has a key of its own; the others use slot keys.")
    return Intent(
        name=name,
        title=section.text("title", name, filled=True),
        speakers=section.references("speakers", names.speakers, "speaker"),
        asks=section.flag("asks"),
        named=section.flag("named"),
        slotless=slotless,
        key=section.text("key", filled=True),
        help=section.text("help"),
        guideline=section.text("guideline"),
    )


def _slot(name: str, section: Section, names: _Names) -> Slot:
    section.only(
        "title", "intents", "fields", "head", "status", "implied_value", "key", "tracked", "help", "guideline"
    )  # fmt: skip
    section.require("intents", "fields")
    _check_name(name, section)
    fields = _slot_fields(section)
    known = tuple(fields.nodes)
    head = section.reference("head", known, "field")
    if head and section.has("implied_value"):
        section.fault("implied_value", "A slot with a `head` takes its value from there; remove one of the two.")
    intents = section.references("intents", names.intents, "intent")
    for intent in names.slotless.intersection(intents):
        section.fault("intents", f"The intent “{intent}” is slotless, so it can't be used with a slot.")
    slot = Slot(
        name=name,
        title=section.text("title", name, filled=True),
        intents=intents,
        fields=tuple(
            read_field(key, item, is_head=key == head, lists=names.lists, speakers=names.speakers, intents=intents)
            for key, item in fields.children()
        ),
        head=head,
        status=section.reference("status", known, "field"),
        implied_value=section.text("implied_value", filled=True),
        key=section.text("key", filled=True),
        tracked=section.flag("tracked"),
        help=section.text("help"),
        guideline=section.text("guideline"),
    )
    _check_fields(slot, section, fields)
    return slot


def _slot_fields(section: Section) -> Section:
    if section.has("fields") and not section.nodes["fields"].value:
        section.fault("fields", "The slot has no fields; define one at least.")
        return Section(section.report, section.at("fields"), section.line, {})
    return section.inside("fields")


def _check_fields(slot: Slot, section: Section, fields: Section) -> None:
    """Rules between the fields of one slot."""
    portal: dict[str, str] = dict.fromkeys(("uid", "intent", "slot"), "every label")
    for item in slot.fields:
        if not _FIELD_NAME.fullmatch(item.name):
            message = f"The field name “{item.name[:60]}” must begin with a-z and hold only a-z, 0-9 and _."
            fields.fault(item.name, message)
        # A portal file writes ticks and ratings beside the answer, under keys made from the field's.
        suffixes = ("", " check", *((" status",) if item.kind == "rated_values" else ()))
        for key in (item.portal + suffix for suffix in suffixes):
            if key in portal:
                place = fields.inside(item.name)
                place.fault("portal", f"The portal key “{key}” is already used by {portal[key]}; choose another one.")
                break
            portal[key] = f"`{item.name}`"
    head, status = slot.head_field, slot.status_field
    if head is not None and knows_kind(fields.inside(head.name)) and head.kind not in ("values", "text"):
        section.fault("head", f"The head must be a field of kind `values` or `text`, but `{head.name}` is {head.kind}.")
    if status is not None and knows_kind(fields.inside(status.name)) and status.kind != "choice":
        section.fault("status", f"The status must be a field of kind `choice`, but `{status.name}` is {status.kind}.")


def _special_cases(root: Section, names: _Names) -> list[SpecialCase]:
    cases = []
    for number, node in enumerate(root.items("special_cases"), start=1):
        section = Section.of(node, f"special_cases[{number}]", root.report)
        section.only("title", "rule", "example", "slots", "intents")
        section.require("title", "rule")
        cases.append(
            SpecialCase(
                title=section.text("title", filled=True),
                rule=section.text("rule", filled=True),
                example=section.text("example"),
                slots=section.references("slots", names.slots, "slot"),
                intents=section.references("intents", names.intents, "intent"),
            )
        )
    return cases


def _check_speakers(root: Section, questionnaire: Questionnaire) -> None:
    for speaker in questionnaire.speakers:
        section = root.inside("speakers").inside(speaker.name)
        allowed = [intent.name for intent in questionnaire.intents_for(speaker.name)]
        for key in ("usual_intent", "other_intent"):
            intent = getattr(speaker, key)
            if intent:
                section.check_known(key, intent, allowed, f"intent of the speaker {speaker.name} called")


def _check_intents(root: Section, questionnaire: Questionnaire) -> None:
    for intent in questionnaire.intents:
        if not intent.slotless and not questionnaire.slots_for(intent.name):
            section = root.inside("intents").inside(intent.name)
            section.fault("", f"No slot takes the intent “{intent.name}”; name it in a slot or write `slotless: true`.")


def _check_keys(root: Section) -> None:
    """Keys are single letters, none of the workbench's own, and each is used once."""
    used: dict[str, str] = {}
    for part in ("intents", "slots"):
        for name, section in _filled(root, part):
            key = section.nodes["key"].value if section.has("key") else None
            if not isinstance(key, str) or not key:
                continue  # missing, or reported where it was read
            if not re.fullmatch(r"[a-z]", key):
                section.fault("key", f"`key` must be one letter from a to z, but it is “{key[:40]}”.")
            elif key in RESERVED_KEYS:
                section.fault("key", f"The workbench uses the key “{key}” itself; choose another letter.")
            elif key in used:
                section.fault("key", f"The key “{key}” is already used by {used[key]}; choose another letter.")
            used.setdefault(key, f"`{part}.{name}`")
