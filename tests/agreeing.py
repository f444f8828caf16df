"""Readings for tests of agreement, written as sets of intents or as labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from annotation.domain.agreement import AgreementReport, PairedReading, SubmittedReading, agreement, paired
from annotation.domain.labels import Label, Reading, Utterance
from annotation.questionnaires import get_questionnaire

CMAS = get_questionnaire("cmas")
SPEAKERS = {"D": "doctor", "P": "patient", "C": "control"}


def turns(marks: str) -> tuple[Utterance, ...]:
    return tuple(Utterance(place, SPEAKERS[mark], f"turn {place}") for place, mark in enumerate(marks))


def by_intents(sets: Sequence[Iterable[str]], dialogue: str = "X", marks: str = "") -> Reading:
    """A reading that gives each utterance these intents, without slots."""
    labels = [Label(place, intent) for place, intents in enumerate(sets) for intent in sorted(intents)]
    return Reading(dialogue, turns(marks or ("DP" * len(sets))[: len(sets)])).with_labels(labels)


def by_labels(*labels: Label, marks: str = "DPDPDP", dialogue: str = "X") -> Reading:
    return Reading(dialogue, turns(marks)).with_labels(labels)


def inform(position: int, slot: str, *values: str, **answers: object) -> Label:
    found = {"value": list(values), **answers} if values else dict(answers)
    return Label(position, "inform", slot, found)


def inquire(position: int, slot: str, *values: str, checks: tuple[str, ...] = (), **answers: object) -> Label:
    found = {"value": list(values), **answers} if values else dict(answers)
    return Label(position, "inquire", slot, found, checks)


def pair(a: Reading, b: Reading, *, names: tuple[str, str] = ("1", "2"), missing: Iterable[int] = ()) -> PairedReading:
    """Both readings, submitted whole but for B's `missing` utterances."""
    whole = frozenset(turn.position for turn in a.utterances)
    return PairedReading(a, b, *names, whole, whole - set(missing))


def report(a: Reading, b: Reading, **options: object) -> AgreementReport:
    return agreement(CMAS, [pair(a, b)], **options)  # type: ignore[arg-type]


def read_by(readings: dict[str, Reading]) -> list[PairedReading]:
    """Every pair of the annotators of one dialogue."""
    return paired(SubmittedReading.whole(name, reading) for name, reading in readings.items())
