"""A label, and a reading: the utterances of one dialogue with the labels somebody gave them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

# What a label's `answers` hold, by the kind of the field (see `questionnaire.Kind`): for values a list of texts, for
# rated values a list of {"value", "rating"}, for a choice its name, for a text or a scale a text ("8", as the dataset
# writes it). A field's criterion ("CAGE", "worst pain ever") is kept under "<field>.criterion" as text.
Answers = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Label:
    """One answer to one utterance: an intent, usually a slot, and the answers to the slot's questions.

    `id` is a UUID in text form, unique in the portal; empty for a label that was never stored.
    `position` is the utterance it is about. `rank` orders the labels of a label set as they were made.
    `checks` are the fields an inquiry asks about. `kept` holds, by the key of the file it came from, input that had no
    place in the questionnaire or was spelled otherwise than this project writes it; nothing read is ever dropped.
    """

    position: int
    intent: str
    slot: str = ""
    answers: Answers = field(default_factory=dict)
    checks: tuple[str, ...] = ()
    kept: Mapping[str, Any] = field(default_factory=dict)
    intent_name: str = ""
    id: str = ""
    rank: int = 0
    origin: str = "typed"
    questionnaire_version: str = ""

    def values(self, head: str) -> list[str]:
        """The values of the head field as a list, whether the field holds several, one or none."""
        answer = self.answers.get(head)
        if not answer:
            return []
        if isinstance(answer, str):
            return [answer]
        return [_value(item) for item in answer]

    def with_answers(self, **changes: Any) -> Label:
        """A copy with some answers replaced."""
        return replace(self, answers={**self.answers, **changes})


def _value(item: Any) -> str:
    """One of several values, rated or not. Most are text, which is asked first."""
    if isinstance(item, str):
        return item
    return item["value"] if isinstance(item, Mapping) else str(item)


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn of a dialogue. `position` counts from 0; `speaker` is a name the questionnaire knows."""

    position: int
    speaker: str
    text: str
    keywords: tuple[str, ...] = ()
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """One dialogue as one label set sees it: all utterances in order, all labels in the order of (position, rank)."""

    dialogue: str
    utterances: tuple[Utterance, ...]
    labels: tuple[Label, ...] = ()

    def labels_at(self, position: int) -> tuple[Label, ...]:
        return tuple(label for label in self.labels if label.position == position)

    def by_position(self) -> dict[int, list[Label]]:
        """The labels of every utterance, an empty list where there is none."""
        table: dict[int, list[Label]] = {utterance.position: [] for utterance in self.utterances}
        for label in self.labels:
            table.setdefault(label.position, []).append(label)
        return table

    def with_labels(self, labels: Iterable[Label]) -> Reading:
        """The same dialogue with other labels, put in order."""
        return replace(self, labels=tuple(sorted(labels, key=lambda label: (label.position, label.rank))))
