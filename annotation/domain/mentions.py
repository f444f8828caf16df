"""What the patient says about themselves, taken out of labels: the input of the state rule."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from annotation.domain.labels import Label, Reading
from annotation.domain.questionnaire import Field, Kind, Questionnaire, Slot
from annotation.domain.state import Attribute, Mention
from annotation.domain.validation import CRITERION

# The state follows from what the patient's turns inform about; questions and the doctor's words do not enter it.
SUBJECT = "patient"
INFORMING = "inform"
RATING = ":"
# What identifies an entry of the state: its slot and its value.
EntryKey = tuple[str, str | None]


def mentions(
    questionnaire: Questionnaire, reading: Reading, only: Collection[EntryKey] | None = None
) -> Iterator[Mention]:
    """Every mention in the order of the dialogue, or those of the entries in `only`."""
    speakers = {utterance.position: utterance.speaker for utterance in reading.utterances}
    for label in reading.labels:
        if label.intent != INFORMING or speakers.get(label.position) != SUBJECT:
            continue
        if only is None or any(key in only for key in entry_keys(questionnaire, label)):
            for mention in mentions_of_label(questionnaire, label):
                if only is None or (mention.slot, mention.value) in only:
                    yield mention


def mentions_of_label(questionnaire: Questionnaire, label: Label) -> Iterator[Mention]:
    """One mention for each value of the label; all of them carry its attributes."""
    slot = questionnaire.slot(label.slot)
    if slot is None:
        return
    attributes = attributes_of(slot, label)
    status = str(label.answers.get(slot.status, "")) if slot.status else ""
    for _, value in entry_keys(questionnaire, label):
        if value or attributes or status:
            yield Mention(label.position, slot.name, value, status, attributes)


def entry_keys(questionnaire: Questionnaire, label: Label) -> list[EntryKey]:
    """Which entries of the state a label would speak of, were it the patient's."""
    slot = questionnaire.slot(label.slot)
    if slot is None:
        return []
    values = label.values(slot.head) if slot.head else []
    return [(slot.name, value) for value in values] or [(slot.name, slot.implied_value or None)]


def attributes_of(slot: Slot, label: Label) -> dict[str, Attribute]:
    """The answers beside head and status. Rated values are split by their rating: `characteristics:yes`."""
    result: dict[str, Attribute] = {}
    for field in slot.fields:
        answer = label.answers.get(field.name)
        if field.name not in (slot.head, slot.status) and answer:
            result.update(_attribute(field, answer))
        criterion = label.answers.get(field.name + CRITERION)
        if criterion:
            result[field.name + CRITERION] = criterion
    return result


def _attribute(field: Field, answer: object) -> dict[str, Attribute]:
    if field.kind is Kind.RATED_VALUES and isinstance(answer, list):
        split: dict[str, Attribute] = {}
        for item in answer:
            name = f"{field.name}{RATING}{item.get('rating') or ''}"
            split[name] = (*split.get(name, ()), item["value"])
        return split
    if isinstance(answer, list):
        return {field.name: tuple(answer)}
    return {field.name: str(answer)}
