"""What the patient says about themselves, taken out of labels: the input of the state rule."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.domain.labels import Label, Reading
from annotation.domain.questionnaire import Field, Kind, Questionnaire, Slot
from annotation.domain.state import Attribute, Mention
from annotation.domain.validation import CRITERION

# The state follows from what the patient's turns inform about; questions and the doctor's words do not enter it.
SUBJECT = "patient"
INFORMING = "inform"
RATING = ":"


def mentions(questionnaire: Questionnaire, reading: Reading) -> Iterator[Mention]:
    """Every mention in the order of the dialogue."""
    speakers = {utterance.position: utterance.speaker for utterance in reading.utterances}
    for label in reading.labels:
        if label.intent == INFORMING and speakers.get(label.position) == SUBJECT:
            yield from mentions_of_label(questionnaire, label)


def mentions_of_label(questionnaire: Questionnaire, label: Label) -> Iterator[Mention]:
    """One mention for each value of the label; all of them carry its attributes."""
    slot = questionnaire.slot(label.slot)
    if slot is None:
        return
    attributes = attributes_of(slot, label)
    status = str(label.answers.get(slot.status, "")) if slot.status else ""
    values: list[str | None] = list(label.values(slot.head)) if slot.head else []
    if not values:
        values = [slot.implied_value or None]
    for value in values:
        if value or attributes or status:
            yield Mention(label.position, slot.name, value, status, attributes)


def attributes_of(slot: Slot, label: Label) -> dict[str, Attribute]:
    """The answers beside head and status. Rated values are split by their rating: `characteristics:yes`."""
    result: dict[str, Attribute] = {}
    for field in slot.fields:
        answer = label.answers.get(field.name)
        if field.name != slot.head and field.name != slot.status and answer:
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
