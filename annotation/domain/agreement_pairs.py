"""What agreement is measured on: two readings of one dialogue with the utterances each annotator submitted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from annotation.domain.labels import Label, Reading
from annotation.domain.questionnaire import Questionnaire

Place = tuple[str, int]  # (dialogue, position)


@dataclass(frozen=True, slots=True)
class SubmittedReading:
    """One annotator's reading of one dialogue. `annotator` is an id that outlives a change of name."""

    annotator: str
    reading: Reading
    submitted: frozenset[int]

    @classmethod
    def whole(cls, annotator: str, reading: Reading) -> SubmittedReading:
        """A reading of which every utterance is submitted."""
        return cls(annotator, reading, frozenset(turn.position for turn in reading.utterances))


@dataclass(frozen=True, slots=True)
class PairedReading:
    """Two annotators' readings of one dialogue. Labels of utterances that were not submitted by both are not looked at.

    Raises ValueError when the readings are of different dialogues or the annotators are the same.
    """

    a: Reading
    b: Reading
    annotator_a: str
    annotator_b: str
    submitted_a: frozenset[int]
    submitted_b: frozenset[int]

    def __post_init__(self) -> None:
        if self.annotator_a == self.annotator_b:
            raise ValueError(
                f"Dialogue {self.a.dialogue} is paired with itself: both readings are {self.annotator_a}'s."
            )
        if self.a.dialogue != self.b.dialogue or not _same_turns(self.a, self.b):
            raise ValueError(f"The readings of {self.a.dialogue} and {self.b.dialogue} are not of the same utterances.")

    @property
    def dialogue(self) -> str:
        return self.a.dialogue

    @property
    def annotators(self) -> tuple[str, str]:
        return self.annotator_a, self.annotator_b


def paired(readings: Iterable[SubmittedReading]) -> list[PairedReading]:
    """Every two annotators of a dialogue once, A before B in the order of their ids; three annotators give three pairs.

    A dialogue read by one annotator gives none. Raises ValueError when an annotator comes twice for a dialogue.
    """
    by_dialogue: dict[str, list[SubmittedReading]] = {}
    for one in readings:
        by_dialogue.setdefault(one.reading.dialogue, []).append(one)
    return [
        PairedReading(
            first.reading, second.reading, first.annotator, second.annotator, first.submitted, second.submitted
        )
        for group in by_dialogue.values()
        for first, second in combinations(sorted(group, key=lambda one: one.annotator), 2)
    ]


def intent_of(questionnaire: Questionnaire, label: Label) -> str:
    """The intent as it is compared: one that annotators name themselves counts under the name it was given."""
    if label.intent_name:
        intent = questionnaire.intent(label.intent)
        if intent is not None and intent.named:
            return " ".join(label.intent_name.split()).casefold()
    return label.intent


def reads_only_the_speaker(questionnaire: Questionnaire, readings: Iterable[Reading]) -> list[Reading]:
    """The readings of an annotator who hears nothing but who is speaking.

    Every utterance gets its speaker's most frequent set of intents in these readings, without slots; the first set met
    wins a tie. What agreement such an annotator reaches is owed to the dialogue's form, not to its understanding.
    """
    read = list(readings)
    seen: dict[str, Counter[frozenset[str]]] = {}
    for speaker, intents in _intent_sets(questionnaire, read):
        seen.setdefault(speaker, Counter())[intents] += 1
    usual = {speaker: sorted(counts.most_common(1)[0][0]) for speaker, counts in seen.items()}
    return [
        replace(one, labels=()).with_labels(
            Label(turn.position, intent) for turn in one.utterances for intent in usual[turn.speaker]
        )
        for one in read
    ]


def _intent_sets(questionnaire: Questionnaire, readings: Iterable[Reading]) -> Iterator[tuple[str, frozenset[str]]]:
    for reading in readings:
        by_position = reading.by_position()
        for turn in reading.utterances:
            yield turn.speaker, frozenset(intent_of(questionnaire, label) for label in by_position[turn.position])


def _same_turns(a: Reading, b: Reading) -> bool:
    if a.utterances is b.utterances:
        return True
    return [(turn.position, turn.speaker) for turn in a.utterances] == [
        (turn.position, turn.speaker) for turn in b.utterances
    ]
