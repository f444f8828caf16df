"""Where the patient's words contradict each other, said in words as it happens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from annotation.domain.questionnaire import Kind, Meaning, Questionnaire, Slot
from annotation.domain.state import Entry, Setting, State
from annotation.domain.validation import CRITERION

SAID = {Meaning.YES: "affirmed", Meaning.NO: "denied"}


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two utterances that say different things of one entry: `earlier` < `position`, both positions."""

    earlier: int
    position: int
    slot: str
    value: str
    message: str


def contradictions(questionnaire: Questionnaire, state: State) -> list[Contradiction]:
    """All of them, in the order in which they arose."""
    found = [item for entry in state.entries for item in _of_entry(questionnaire, entry)]
    return sorted(found, key=lambda item: (item.position, item.earlier))


def _of_entry(questionnaire: Questionnaire, entry: Entry) -> Iterator[Contradiction]:
    slot = questionnaire.slot(entry.slot)
    if slot is None:
        return
    # Nobody typed an implied value: the slot stands for it.
    name = entry.value if entry.value and entry.value != slot.implied_value else slot.title.lower()
    yield from _status_changes(slot, entry, name)
    for attribute, settings in entry.attributes.items():
        field = slot.field(attribute)
        # A list says more each time; a free remark may too. One-answer questions should get one answer.
        if attribute.endswith(CRITERION) or field is None or attribute == "other":
            continue
        if field.kind in (Kind.TEXT, Kind.CHOICE, Kind.SCALE):
            yield from _value_changes(entry, name, attribute.replace("_", " "), settings)


def _status_changes(slot: Slot, entry: Entry, name: str) -> Iterator[Contradiction]:
    """Denied and affirmed, also when the patient was unsure in between."""
    status = slot.status_field
    if status is None:
        return
    meanings = [(setting.position, status.meaning_of(str(setting.value))) for setting in entry.statuses]
    definite = [(position, meaning) for position, meaning in meanings if meaning in SAID]
    for (earlier, said), (position, says) in pairwise(definite):
        if said and says and said != says and earlier != position:
            message = f"{name}: {SAID[said]} at u{earlier}, {SAID[says]} at u{position}"
            yield Contradiction(earlier, position, entry.slot, entry.value or "", message)


def _value_changes(entry: Entry, name: str, attribute: str, settings: tuple[Setting, ...]) -> Iterator[Contradiction]:
    for before, after in pairwise(settings):
        if _plain(before) != _plain(after) and before.position != after.position:
            said = f"“{before.value}” at u{before.position}, “{after.value}” at u{after.position}"
            message = f"{name}: {attribute} {said}"
            yield Contradiction(before.position, after.position, entry.slot, entry.value or "", message)


def _plain(setting: Setting) -> str:
    return " ".join(str(setting.value).casefold().split())
