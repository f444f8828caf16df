"""A labelled corpus in figures: its size, what its utterances do and are about, where, and which concepts they name.

Every count is over readings, one of each dialogue. The closing turn of the control speaker is no utterance here, as in
a dataset. A label becomes as many entries of a dataset as it has values. Words are what white space separates.
docs/statistics.md states each definition with an example.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from annotation.domain.concepts import NOTHING_DECIDED, Canon, CanonicalConcept
from annotation.domain.dataset_writing import CONTROL
from annotation.domain.label_content import items_of, plain
from annotation.domain.labels import Label, Reading, Utterance
from annotation.domain.questionnaire import Questionnaire, Slot
from annotation.domain.splits import Split
from annotation.domain.unrolling import tidy

SEGMENTS = 10
ALL, NO_SPLIT = "all", "none"


@dataclass(slots=True)
class Size:
    """How large a part of the corpus is; the means are None where there is nothing to divide by."""

    dialogues: int = 0
    utterances: int = 0
    words: int = 0
    labelled: int = 0  # utterances with at least one label
    labels: int = 0
    entries: int = 0

    @property
    def utterances_per_dialogue(self) -> float | None:
        return self.utterances / self.dialogues if self.dialogues else None

    @property
    def words_per_utterance(self) -> float | None:
        return self.words / self.utterances if self.utterances else None

    def as_json(self) -> dict[str, int | float | None]:
        return {
            "dialogues": self.dialogues,
            "utterances": self.utterances,
            "utterances_per_dialogue": self.utterances_per_dialogue,
            "words": self.words,
            "words_per_utterance": self.words_per_utterance,
            "labelled_utterances": self.labelled,
            "labels": self.labels,
            "entries": self.entries,
        }


@dataclass(slots=True)
class SlotFigures:
    """A slot: the utterances about it, where in the dialogues these stand, its entries, and what these answer or ask.

    `segments` counts utterances by tenths of their dialogue. `attributes` counts entries by question; the question for
    the slot's value and that for its status are not among them.
    """

    utterances: int = 0
    entries: int = 0
    segments: list[int] = field(default_factory=lambda: [0] * SEGMENTS)
    attributes: Counter[str] = field(default_factory=Counter)

    @property
    def attributes_per_entry(self) -> float | None:
        return self.attributes.total() / self.entries if self.entries else None

    def as_json(self) -> dict[str, Any]:
        return {
            "utterances": self.utterances,
            "entries": self.entries,
            "segments": list(self.segments),
            "attributes": dict(self.attributes.most_common()),
            "attributes_per_entry": self.attributes_per_entry,
        }


@dataclass(slots=True)
class ConceptFigures:
    """A concept, or a value about which nothing is decided under its most frequent spelling: entries that name it,
    dialogues, and slots. `cui` is empty for the latter."""

    cui: str = ""
    spellings: Counter[str] = field(default_factory=Counter)
    mentions: int = 0
    dialogues: int = 0
    last_dialogue: str | None = None
    slots: Counter[str] = field(default_factory=Counter)

    @property
    def spelling(self) -> str:
        return min(self.spellings, key=lambda text: (-self.spellings[text], text))

    def as_json(self) -> dict[str, Any]:
        return {
            "concept": self.spelling,
            "cui": self.cui,
            "mentions": self.mentions,
            "dialogues": self.dialogues,
            "slots": dict(self.slots.most_common()),
        }


@dataclass(frozen=True, slots=True)
class Grown:
    """What a day brought: labels made less those taken away, and how many there were in its end."""

    day: date
    change: int
    total: int

    def as_json(self) -> dict[str, Any]:
        return {"day": self.day.isoformat(), "change": self.change, "total": self.total}


@dataclass(slots=True)
class Statistics:
    """The figures of a corpus, added to reading by reading."""

    questionnaire: Questionnaire
    splits: Mapping[str, str] = field(default_factory=dict)  # from a dialogue's id to its split
    canon: Canon = NOTHING_DECIDED
    sizes: dict[str, Size] = field(default_factory=lambda: {ALL: Size()})
    intents: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    utterances_by_speaker: Counter[str] = field(default_factory=Counter)
    unlabelled: Counter[str] = field(default_factory=Counter)
    slots: dict[str, SlotFigures] = field(default_factory=lambda: defaultdict(SlotFigures))
    segment_utterances: list[int] = field(default_factory=lambda: [0] * SEGMENTS)
    concepts: dict[str, ConceptFigures] = field(default_factory=lambda: defaultdict(ConceptFigures))

    def add(self, reading: Reading) -> None:
        """Count one dialogue; each must come once."""
        turns = [turn for turn in reading.utterances if turn.speaker != CONTROL]
        by_position = reading.by_position()
        sizes = [self.sizes[ALL]]
        if self.splits:
            sizes.append(self.sizes.setdefault(self.splits.get(reading.dialogue, NO_SPLIT), Size()))
        for size in sizes:
            size.dialogues += 1
        for place, turn in enumerate(turns):
            labels = by_position[turn.position]
            entries = sum(self._weight(label) for label in labels)
            for size in sizes:
                _add_to_size(size, turn, len(labels), entries)
            self._add_turn(turn, labels, place * SEGMENTS // len(turns))
            for label in labels:
                self._add_label(label, reading.dialogue)

    def as_json(self) -> dict[str, Any]:
        return {
            "sizes": {name: size.as_json() for name, size in self.sizes_in_order()},
            "speakers": {
                speaker: {
                    "utterances": n,
                    "unlabelled": self.unlabelled[speaker],
                    "intents": dict(self.intents[speaker].most_common()),
                }
                for speaker, n in self.utterances_by_speaker.most_common()
            },
            "slots": {name: one.as_json() for name, one in self.slots_by_frequency()},
            "segment_utterances": list(self.segment_utterances),
            "concepts": [one.as_json() for one in self.concepts_by_frequency()],
        }

    def sizes_in_order(self) -> list[tuple[str, Size]]:
        """All, then the splits as a dataset names them, those of other names as they came, and what is in none."""
        order = [ALL, *(split.value for split in Split)]
        place = {name: number for number, name in enumerate(order)} | {NO_SPLIT: len(order) + 1}
        return sorted(self.sizes.items(), key=lambda item: place.get(item[0], len(order)))

    def slot_title(self, name: str) -> str:
        """What the questionnaire calls a slot, or the name of one that it does not know."""
        slot = self.questionnaire.slot(name)
        return slot.title if slot else name

    def intent_title(self, name: str) -> str:
        intent = self.questionnaire.intent(name)
        return intent.title if intent else name

    def slots_by_frequency(self) -> list[tuple[str, SlotFigures]]:
        return sorted(self.slots.items(), key=lambda item: (-item[1].utterances, item[0]))

    def concepts_by_frequency(self) -> list[ConceptFigures]:
        return sorted(self.concepts.values(), key=lambda one: (-one.mentions, one.spelling))

    def _add_turn(self, turn: Utterance, labels: Iterable[Label], segment: int) -> None:
        """An utterance counts once for each of its intents and slots, however many labels have them."""
        self.utterances_by_speaker[turn.speaker] += 1
        self.segment_utterances[segment] += 1
        intents = {label.intent for label in labels}
        self.unlabelled[turn.speaker] += not intents
        self.intents[turn.speaker].update(intents)
        for slot in {label.slot for label in labels if label.slot}:
            self.slots[slot].utterances += 1
            self.slots[slot].segments[segment] += 1

    def _add_label(self, label: Label, dialogue: str) -> None:
        slot = self.questionnaire.slot(label.slot) if label.slot else None
        if slot is None:
            return
        weight = self._weight(label)
        figures = self.slots[slot.name]
        figures.entries += weight
        for name in _attributes(slot, label):
            figures.attributes[name] += weight
        for question, text, times in _medical_values(slot, label, weight):
            decided = self.canon.concept(slot.name, question, text, label.id)
            self._add_concept(text, decided, times, slot.name, dialogue)

    def _add_concept(self, text: str, decided: CanonicalConcept | None, times: int, slot: str, dialogue: str) -> None:
        concept = self.concepts[decided.cui if decided else plain(text)]  # no CUI is plain, which has small letters
        concept.cui = decided.cui if decided else ""
        concept.spellings[decided.name if decided else tidy(text)] += times
        concept.mentions += times
        concept.slots[slot] += times
        if concept.last_dialogue != dialogue:
            concept.dialogues += 1
            concept.last_dialogue = dialogue

    def _weight(self, label: Label) -> int:
        """How many entries of a dataset the label becomes."""
        slot = self.questionnaire.slot(label.slot) if label.slot else None
        return max(1, len(label.values(slot.head))) if slot and slot.head else 1


def statistics(
    questionnaire: Questionnaire,
    readings: Iterable[Reading],
    splits: Mapping[str, str] | None = None,
    canon: Canon = NOTHING_DECIDED,
) -> Statistics:
    """The figures of all readings, which are read once. `splits` says in which split a dialogue is; `canon` which
    values mean one concept."""
    found = Statistics(questionnaire, splits or {}, canon)
    for reading in readings:
        found.add(reading)
    return found


def growth(changes: Iterable[tuple[date, int]]) -> list[Grown]:
    """Day by day, from labels made (+1) and taken away (−1), in any order. Days without a change are left out."""
    by_day: Counter[date] = Counter()
    for day, change in changes:
        by_day[day] += change
    rows: list[Grown] = []
    total = 0
    for day in sorted(by_day):
        total += by_day[day]
        rows.append(Grown(day, by_day[day], total))
    return rows


def _add_to_size(size: Size, turn: Utterance, labels: int, entries: int) -> None:
    size.utterances += 1
    size.words += len(turn.text.split())
    size.labelled += bool(labels)
    size.labels += labels
    size.entries += entries


def _attributes(slot: Slot, label: Label) -> Iterator[str]:
    """The questions that the label answers or asks about."""
    for question in slot.fields:
        answered = items_of(label.answers.get(question.name)) or question.name in label.checks
        if answered and question.name not in (slot.head, slot.status):
            yield question.name


def _medical_values(slot: Slot, label: Label, weight: int) -> Iterator[tuple[str, str, int]]:
    """(question, value, how often) of what the label names in its medical questions: an answer beside two values is
    about both. A value that the slot implies answers no question."""
    if slot.implied_value:
        yield "", slot.implied_value, 1
    for question in slot.fields:
        if question.medical:
            for text, _ in items_of(label.answers.get(question.name)):
                yield question.name, text, 1 if question.name == slot.head else weight
