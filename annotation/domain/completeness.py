"""What a label set still lacks, by four rules.

MediTOD (arXiv 2410.14204, section 3.4) found such labels after the fact; here they are said while one labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from annotation.domain.labels import Label, Reading
from annotation.domain.mentions import INFORMING
from annotation.domain.questionnaire import Field, Kind, Questionnaire, Slot
from annotation.domain.validation import CRITERION
from annotation.domain.wording import field_name


class Rule(StrEnum):
    STATUS = "status"  # an inform on a slot with a status lacks it
    HEAD = "head"  # an attribute stands without its head
    RATING = "rating"  # a listed factor or characteristic lacks its status
    UNLABELLED = "unlabelled"  # an utterance has no label at all


RULES = {
    Rule.STATUS: "a status is missing",
    Rule.HEAD: "answers without what they are about",
    Rule.RATING: "a factor or characteristic without its status",
    Rule.UNLABELLED: "an utterance without a label",
}


@dataclass(frozen=True, slots=True)
class Gap:
    """One thing that is missing: the rule, the utterance, the label ("" for an utterance without one), in words."""

    rule: Rule
    position: int
    label: str
    message: str


def gaps(questionnaire: Questionnaire, reading: Reading, *, excused: Iterable[int] = ()) -> list[Gap]:
    """Everything that is missing, in the order of the dialogue. `excused` positions need no label."""
    without = set(excused)
    speakers = {utterance.position: utterance.speaker for utterance in reading.utterances}
    found: list[Gap] = []
    for position, labels in sorted(reading.by_position().items()):
        if not labels and position not in without:
            found.append(Gap(Rule.UNLABELLED, position, "", "has no label"))
        for label in labels:
            found.extend(gaps_of_label(questionnaire, label, speakers.get(position, "")))
    return found


def gaps_of_label(questionnaire: Questionnaire, label: Label, speaker: str) -> Iterator[Gap]:
    """What one label on this speaker's turn lacks. Only what is offered there can be missing."""
    slot = questionnaire.slot(label.slot) if label.slot else None
    intent = questionnaire.intent(label.intent)
    if slot is None or intent is None or intent.asks:
        return
    thing = ", ".join(label.values(slot.head)) if slot.head else ""
    name = f"{slot.title.lower()} “{thing}”" if thing else slot.title.lower()
    for field in slot.fields:
        needed = field.needed and label.intent == INFORMING and field.offered(label.intent, speaker)
        if needed and not label.answers.get(field.name):
            yield Gap(Rule.STATUS, label.position, label.id, f"{name} has no {field_name(field)}")
    if _headless(slot, label):
        yield Gap(Rule.HEAD, label.position, label.id, f"{name} has answers but does not say what they are about")
    for field in slot.fields:
        for value in unrated(field, label):
            message = f"{name}: {field_name(field)} “{value}” does not say how (it needs a status)"
            yield Gap(Rule.RATING, label.position, label.id, message)


def _headless(slot: Slot, label: Label) -> bool:
    """A mention without a head is fine as long as nothing but its status hangs on it."""
    hanging = any(name.removesuffix(CRITERION) != slot.status for name in label.answers)
    return bool(slot.head) and hanging and not label.values(slot.head)


def unrated(field: Field, label: Label) -> list[str]:
    """The values of a rated field that lack a rating, or carry one that is no longer used."""
    if field.kind is not Kind.RATED_VALUES:
        return []
    result = []
    for item in label.answers.get(field.name) or ():
        choice = field.choice(item.get("rating", ""))
        if choice is None or choice.older:
            result.append(item["value"])
    return result


_ASKED = {
    Rule.STATUS: "Which one applies?",
    Rule.HEAD: "What are they about?",
    Rule.RATING: "Which one applies?",
    Rule.UNLABELLED: "What does it say, or why is there nothing to label?",
}


@dataclass(frozen=True, slots=True)
class Question:
    """What an annotator is asked about one label by one rule, or about an utterance without a label."""

    rule: Rule
    position: int
    label: str
    text: str

    @property
    def place(self) -> tuple[str, str]:
        """What stays the same while the label changes: the label, or the utterance, and the rule."""
        return place(self.rule, self.position, self.label)


def place(rule: str, position: int, label: str) -> tuple[str, str]:
    """See `Question.place`; for what was stored of a question."""
    return label or f"u{position}", str(rule)


def questions(found: Iterable[Gap]) -> list[Question]:
    """The gaps as questions to their annotator, in the order given: those of one label by one rule make one."""
    said: dict[tuple[Rule, int, str], list[str]] = {}
    for gap in found:
        said.setdefault((gap.rule, gap.position, gap.label), []).append(gap.message)
    return [
        Question(rule, position, label, f"{_sentence(rule, messages)} {_ASKED[rule]}")
        for (rule, position, label), messages in said.items()
    ]


def _sentence(rule: Rule, messages: list[str]) -> str:
    text = "This utterance has no label" if rule is Rule.UNLABELLED else "; ".join(messages)
    return f"{text[:1].upper()}{text[1:]}."
