"""What the patient says about themselves, taken out of labels: the input of the state rule."""

from __future__ import annotations

from collections.abc import Iterator, Set

from annotation.domain.labels import Label, Reading
from annotation.domain.questionnaire import Field, Kind, Questionnaire, Slot
from annotation.domain.state import Attribute, EntryKey, Mention
from annotation.domain.validation import CRITERION

# The state follows from what the patient's turns inform about; questions and the doctor's words do not enter it.
SUBJECT = "patient"
INFORMING = "inform"
RATING = ":"


def mentions(questionnaire: Questionnaire, reading: Reading, only: Set[EntryKey] | None = None) -> Iterator[Mention]:
    """Every mention in the order of the dialogue, or those of the entries in `only`."""
    speakers = {utterance.position: utterance.speaker for utterance in reading.utterances}
    labels = reading.labels if only is None else _speaking_of(questionnaire, reading, only)
    for label in labels:
        if label.intent == INFORMING and speakers.get(label.position) == SUBJECT:
            for mention in mentions_of_label(questionnaire, label):
                if only is None or (mention.slot, mention.value) in only:
                    yield mention


def _speaking_of(questionnaire: Questionnaire, reading: Reading, only: Set[EntryKey]) -> Iterator[Label]:
    """The labels that may speak of these entries. Asked after every save, of every label: it looks no further than it
    must."""
    wanted: dict[str, set[str | None]] = {}
    for name, value in only:
        wanted.setdefault(name, set()).add(value)
    heads = {name: slot.head for name in wanted if (slot := questionnaire.slot(name)) and _has_plain_values(slot)}
    for label in reading.labels:
        if label.slot not in wanted:
            continue
        said = label.answers.get(heads.get(label.slot, ""))
        if isinstance(said, list) and wanted[label.slot].isdisjoint(said):
            continue
        yield label


def _has_plain_values(slot: Slot) -> bool:
    head = slot.head_field
    return head is not None and head.kind is Kind.VALUES


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
