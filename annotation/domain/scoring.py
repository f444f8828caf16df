"""A training or test attempt against gold: four figures of growing strictness, and each utterance in words.

The ladder is that of the agreement report. On the first rung an utterance's *set of intents* is compared; on the others
its *entries*: a label with two values gives two, one with a slot but no value gives one, a label without a slot none.
True and false positives and false negatives are pooled over all utterances, entries as multisets; precision is
TP/(TP+FP), recall TP/(TP+FN), F 2TP/(2TP+FP+FN) (Hripcsak & Rothschild 2005), undefined where the denominator is zero.

An utterance that was not answered counts as one without labels, other than in the agreement of two annotators: in a
test, leaving out what is difficult must not pay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from annotation.domain.alignment import Outcome, align
from annotation.domain.label_content import content, plain
from annotation.domain.label_differences import SameConcept, Voice, head_values
from annotation.domain.labels import Label, Reading
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.wording import label_text

GOLD, YOU = Voice("the gold"), Voice("you", "say", "have")


class ScoringError(ValueError):
    """An attempt that cannot be scored; one sentence says why."""


class Rung(StrEnum):
    """What has to be the same for two labels to count as the same."""

    INTENTS = "intents"
    SLOT = "slot"
    SLOT_VALUE = "slot_value"
    SLOT_VALUE_ATTRIBUTES = "slot_value_attributes"


@dataclass(frozen=True, slots=True)
class Counts:
    """`hits` are in both, `extra` in the attempt only, `missed` in the gold only."""

    hits: int = 0
    extra: int = 0
    missed: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.hits + other.hits, self.extra + other.extra, self.missed + other.missed)

    @property
    def precision(self) -> float | None:
        return _ratio(self.hits, self.hits + self.extra)

    @property
    def recall(self) -> float | None:
        return _ratio(self.hits, self.hits + self.missed)

    @property
    def f(self) -> float | None:
        return _ratio(2 * self.hits, 2 * self.hits + self.extra + self.missed)

    def as_json(self) -> dict[str, Any]:
        return {
            "hits": self.hits,
            "extra": self.extra,
            "missed": self.missed,
            "precision": self.precision,
            "recall": self.recall,
            "f": self.f,
        }


@dataclass(frozen=True, slots=True)
class Attempt:
    """One dialogue of a test: the gold, what was labelled, which utterances were answered (None for all).

    `explanations` by position say why the gold is as it is.
    """

    gold: Reading
    labelled: Reading
    answered: Collection[int] | None = None
    explanations: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Feedback:
    """What an annotator is told of one utterance: labels that match, and each difference, in words."""

    dialogue: str
    position: int
    answered: bool
    matched: tuple[str, ...]
    differs: tuple[str, ...]
    explanation: str
    counts: Mapping[Rung, Counts]

    @property
    def right(self) -> bool:
        return self.answered and not self.differs

    def as_json(self) -> dict[str, Any]:
        return {
            "dialogue": self.dialogue,
            "position": self.position,
            "answered": self.answered,
            "right": self.right,
            "matched": list(self.matched),
            "differs": list(self.differs),
            "explanation": self.explanation,
            "counts": {str(rung): counts.as_json() for rung, counts in self.counts.items()},
        }


@dataclass(frozen=True, slots=True)
class Score:
    """The result of an attempt. `passed` is None where no pass mark was set."""

    rungs: Mapping[Rung, Counts]
    answered: int
    total: int
    passed: bool | None
    shortfalls: tuple[str, ...]  # a sentence for every mark that was not reached
    feedback: tuple[Feedback, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "answered": self.answered,
            "total": self.total,
            "passed": self.passed,
            "shortfalls": list(self.shortfalls),
            "rungs": {str(rung): counts.as_json() for rung, counts in self.rungs.items()},
            "feedback": [item.as_json() for item in self.feedback],
        }


def score_attempt(
    questionnaire: Questionnaire,
    attempts: Sequence[Attempt],
    *,
    pass_marks: Mapping[Rung, float] | None = None,
    same_concept: SameConcept | None = None,
) -> Score:
    """All dialogues of one training or test together, pooled.

    `pass_marks` are the least F, from 0 to 1, by rung; all of them must be reached. A rung that is undefined, because
    neither the gold nor the attempt has anything there, is not held against the annotator. `same_concept` matters to
    the words of the feedback only. Raises ScoringError.
    """
    marks = _checked_marks(pass_marks or {})
    _check(attempts)
    feedback = tuple(item for attempt in attempts for item in _feedback(questionnaire, attempt, same_concept))
    rungs = {rung: sum((item.counts[rung] for item in feedback), Counts()) for rung in Rung}
    shortfalls = tuple(
        f"F for {rung.replace('_', ' + ')} is {reached:.3f}, below the pass mark of {marks[rung]:g}."
        for rung in Rung
        if rung in marks and (reached := rungs[rung].f) is not None and reached < marks[rung]
    )
    return Score(
        rungs=rungs,
        answered=sum(item.answered for item in feedback),
        total=len(feedback),
        passed=not shortfalls if marks else None,
        shortfalls=shortfalls,
        feedback=feedback,
    )


def utterance_feedback(
    questionnaire: Questionnaire,
    gold: Sequence[Label],
    labels: Sequence[Label],
    *,
    dialogue: str = "",
    position: int = 0,
    answered: bool = True,
    explanation: str = "",
    same_concept: SameConcept | None = None,
) -> Feedback:
    """One utterance, as it is shown in training at once. Labels of an unanswered utterance are not looked at."""
    given = labels if answered else ()
    matched: list[str] = []
    differs: list[str] = []
    for pairing in align(questionnaire, gold, given, same_concept):
        if pairing.outcome is Outcome.AGREED:
            matched.extend(label_text(questionnaire, label) for label in pairing.b)
        else:
            differs.append(pairing.words(GOLD, YOU))
    counts = {rung: _compared(_said(questionnaire, rung, gold), _said(questionnaire, rung, given)) for rung in Rung}
    return Feedback(dialogue, position, answered, tuple(matched), tuple(differs), explanation, counts)


def _feedback(questionnaire: Questionnaire, attempt: Attempt, same_concept: SameConcept | None) -> Iterable[Feedback]:
    gold, labelled = attempt.gold.by_position(), attempt.labelled.by_position()
    for turn in attempt.gold.utterances:
        place = turn.position
        yield utterance_feedback(
            questionnaire,
            gold[place],
            labelled[place],
            dialogue=attempt.gold.dialogue,
            position=place,
            answered=attempt.answered is None or place in attempt.answered,
            explanation=attempt.explanations.get(place, ""),
            same_concept=same_concept,
        )


def _said(questionnaire: Questionnaire, rung: Rung, labels: Iterable[Label]) -> Counter[object]:
    """What is counted on a rung."""
    if rung is Rung.INTENTS:
        return Counter({(label.intent, plain(label.intent_name)) for label in labels})
    found: Counter[object] = Counter()
    for label in labels:
        if label.slot:
            for value in {plain(value) for value in head_values(questionnaire, label)} or {""}:
                found[_entry(questionnaire, rung, label, value)] += 1
    return found


def _entry(questionnaire: Questionnaire, rung: Rung, label: Label, value: str) -> object:
    """Status, answers and ticks are attributes; the intent is not, it has its own rung."""
    if rung is Rung.SLOT:
        return label.slot
    if rung is Rung.SLOT_VALUE:
        return label.slot, value
    slot = questionnaire.slot(label.slot)
    _, _, _, answers, checks = content(label, without=slot.head if slot else "")
    return label.slot, value, answers, checks


def _compared(gold: Counter[object], given: Counter[object]) -> Counts:
    return Counts((gold & given).total(), (given - gold).total(), (gold - given).total())


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _check(attempts: Sequence[Attempt]) -> None:
    names = Counter(attempt.gold.dialogue for attempt in attempts)
    for attempt in attempts:
        gold, labelled = attempt.gold, attempt.labelled
        if gold.dialogue != labelled.dialogue:
            raise ScoringError(
                f"The gold is of {gold.dialogue}, the attempt of {labelled.dialogue}; score like with like."
            )
        places, theirs = ([turn.position for turn in reading.utterances] for reading in (gold, labelled))
        if places != theirs:
            raise ScoringError(f"Gold and attempt of {gold.dialogue} do not have the same utterances.")
        outside = {label.position for label in (*gold.labels, *labelled.labels)} - set(places)
        outside |= set(attempt.answered or ()) - set(places)
        if outside:
            raise ScoringError(
                f"{gold.dialogue} has no utterance {min(outside)}, but a label or an answer is about it."
            )
        if names[gold.dialogue] > 1:
            raise ScoringError(f"The dialogue {gold.dialogue} is scored twice in one attempt; name it once.")
    if not any(attempt.gold.labels for attempt in attempts):
        raise ScoringError("The gold has no labels to score against; choose a dialogue that has gold.")


def _checked_marks(marks: Mapping[Rung, float]) -> dict[Rung, float]:
    for rung, mark in marks.items():
        if not 0 <= mark <= 1:
            raise ScoringError(f"The pass mark for {rung} must lie between 0 and 1, but it is {mark:g}.")
    return {Rung(rung): mark for rung, mark in marks.items()}
