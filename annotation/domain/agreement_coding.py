"""Labels as numbers: one pass over the readings, after which everything is counted in arrays.

An *item* is an utterance that both annotators of a pair submitted. An *entry* is one thing said in a label: a label
with two values gives two, a label with a slot but no value one with the value "", a label without slot one with the
slot "". Spellings are compared in Unicode's composed form, without case and with white space collapsed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from annotation.domain.agreement_pairs import PairedReading, Place, intent_of
from annotation.domain.concepts import Canon, CanonicalConcept
from annotation.domain.labels import Label, Reading
from annotation.domain.mentions import attributes_of
from annotation.domain.questionnaire import Questionnaire, Slot
from annotation.domain.state import Attribute

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
# What a doctor's or linker's decision makes of a head value wherever it occurs: (slot, value) → concept.
Concepts = Mapping[tuple[str, str], str]
Key = TypeVar("Key")
ASKED = "asks about"  # the attribute under which an inquiry's ticks are compared


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing said in a label, in the form that is compared. `concept` is the value's concept or else the value."""

    intent: str
    slot: str
    value: str
    status: str
    attributes: tuple[tuple[str, Attribute], ...]
    concept: str

    @property
    def tracked(self) -> bool:
        """Whether it says anything that a state can hold: an inquiry after the mere slot does not."""
        return bool(self.slot) and bool(self.value or self.status or self.attributes)


@dataclass(slots=True)
class Side:
    """One annotator's entries over all items, in the order of the items: `items[k]` said `codes[k]` in `labels[k]`."""

    items: Ints
    codes: Ints
    labels: list[Label]
    sets: Ints  # by item: the code of its set of intents
    starts: Ints  # the entries of item i are those from starts[i] up to starts[i + 1]


@dataclass(slots=True)
class Coded:
    """All pairs as arrays. Codes point into `entries`, `sets` (bit masks over `intents`), `speakers`, `pairs`."""

    units: Sequence[PairedReading]
    entries: list[Entry]
    intents: list[str]
    sets: list[int]
    speakers: list[str]
    pairs: list[tuple[str, str]]
    dialogues: list[str]
    unit: Ints  # by item
    position: Ints  # by item
    speaker: Ints  # by item
    pair_of_unit: Ints
    dialogue_of_unit: Ints
    total_of_unit: Ints  # all utterances of the dialogue, submitted or not
    a: Side
    b: Side

    @property
    def size(self) -> int:
        """The number of items."""
        return len(self.unit)

    def place(self, item: int) -> Place:
        return self.units[int(self.unit[item])].dialogue, int(self.position[item])


@lru_cache(maxsize=50_000)
def folded(text: str) -> str:
    """The spelling that is compared: NFC, case-folded, white space collapsed."""
    return " ".join(unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).split())


def canon_of_heads(questionnaire: Questionnaire, concepts: Concepts) -> Canon:
    """The same as a canon; values of slots that have no head are left out."""
    heads = {slot.name: slot.head for slot in questionnaire.slots if slot.head}
    return Canon(
        {
            (slot, heads[slot], folded(value)): CanonicalConcept(concept, concept)
            for (slot, value), concept in concepts.items()
            if slot in heads
        }
    )


def code_pairs(questionnaire: Questionnaire, units: Sequence[PairedReading], canon: Canon) -> Coded:
    """One pass over all labels."""
    coder = _Coder(questionnaire, canon)
    pairs, dialogues, speakers = _Numbers[tuple[str, str]](), _Numbers[str](), _Numbers[str]()
    unit: list[int] = []
    position: list[int] = []
    speaker: list[int] = []
    a, b = _Open(), _Open()
    for number, one in enumerate(units):
        both = one.submitted_a & one.submitted_b
        first = len(unit)
        turns = [turn for turn in one.a.utterances if turn.position in both]
        unit += [number] * len(turns)
        position += [turn.position for turn in turns]
        speaker += [speakers[turn.speaker] for turn in turns]
        item_of = {turn.position: first + place for place, turn in enumerate(turns)}
        coder.add(a, one.a, item_of)
        coder.add(b, one.b, item_of)
    return Coded(
        units=units,
        entries=coder.entries,
        intents=list(coder.intents),
        sets=list(coder.sets),
        unit=_ints(unit),
        position=_ints(position),
        speaker=_ints(speaker),
        pair_of_unit=_ints([pairs[one.annotators] for one in units]),
        dialogue_of_unit=_ints([dialogues[one.dialogue] for one in units]),
        total_of_unit=_ints([len(one.a.utterances) for one in units]),
        speakers=list(speakers),
        pairs=list(pairs),
        dialogues=list(dialogues),
        a=a.closed(len(unit)),
        b=b.closed(len(unit)),
    )


class _Numbers(dict[Key, int]):
    """Keys numbered in the order in which they are first asked for."""

    def __missing__(self, key: Key) -> int:
        self[key] = number = len(self)
        return number


@dataclass(slots=True)
class _Open:
    """A side while it is being filled."""

    items: list[int] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    sets: list[int] = field(default_factory=list)

    def closed(self, size: int) -> Side:
        items, codes, labels = _ints(self.items), _ints(self.codes), self.labels
        if len(items) and (np.diff(items) < 0).any():
            order = np.argsort(items, kind="stable")
            items, codes, labels = items[order], codes[order], [labels[place] for place in order]
        return Side(items, codes, labels, _ints(self.sets), np.searchsorted(items, np.arange(size + 1)))


class _Coder:
    """Gives every label the codes of its entries; labels that say the same are looked at once."""

    def __init__(self, questionnaire: Questionnaire, canon: Canon) -> None:
        self._questionnaire = questionnaire
        self._canon = canon
        self._single = {label_id for label_id, _ in canon.labels}  # what they mean is not what others mean
        self._slots = {slot.name: slot for slot in questionnaire.slots}
        self._known: dict[tuple[str, str, str, str, tuple[str, ...], str], tuple[int, list[int]]] = {}
        self._numbers = _Numbers[Entry]()
        self.intents = _Numbers[str]()
        self.sets = _Numbers[int]()
        for intent in questionnaire.intents:
            self.intents[intent.name]

    @property
    def entries(self) -> list[Entry]:
        return list(self._numbers)

    def add(self, side: _Open, reading: Reading, item_of: Mapping[int, int]) -> None:
        """Add the reading's labels of the items given by position."""
        masks = dict.fromkeys(item_of.values(), 0)
        known, items, codes, labels = self._known, side.items, side.codes, side.labels
        single = self._single
        for label in reading.labels:
            item = item_of.get(label.position)
            if item is None:
                continue
            own = label.id if label.id in single else ""
            key = (label.intent, label.slot, repr(label.answers), label.intent_name, label.checks, own)
            found = known.get(key)
            if found is None:
                found = known[key] = self._code(label)
            masks[item] |= found[0]
            for code in found[1]:
                items.append(item)
                codes.append(code)
                labels.append(label)
        side.sets += [self.sets[mask] for mask in masks.values()]

    def _code(self, label: Label) -> tuple[int, list[int]]:
        intent = intent_of(self._questionnaire, label)
        return 1 << self.intents[intent], [self._numbers[entry] for entry in self._entries(intent, label)]

    def _entries(self, intent: str, label: Label) -> Iterable[Entry]:
        slot = self._slots.get(label.slot)
        if slot is None:
            return [Entry(intent, label.slot, "", "", _loose(label.answers), "")]
        status = folded(str(label.answers.get(slot.status) or "")) if slot.status else ""
        attributes = _attributes(slot, label)
        values = label.values(slot.head) if slot.head else []
        return [
            Entry(intent, slot.name, folded(value), status, attributes, self._concept(slot, value, label.id))
            for value in values or [slot.implied_value]
        ]

    def _concept(self, slot: Slot, value: str, label_id: str) -> str:
        """The concept, marked so that no value can be mistaken for one."""
        concept = self._canon.concept(slot.name, slot.head, value, label_id) if slot.head else None
        return f"\x00{concept.cui}" if concept else folded(value)


def _attributes(slot: Slot, label: Label) -> tuple[tuple[str, Attribute], ...]:
    """Everything a label says beside head and status. The order inside a list says nothing, so it is not compared."""
    found: dict[str, Attribute] = {}
    if any(name not in (slot.head, slot.status) for name in label.answers):
        found = {name: folded_attribute(value) for name, value in attributes_of(slot, label).items()}
    if label.checks:
        found[ASKED] = tuple(sorted(label.checks))
    return tuple(sorted(found.items()))


def folded_attribute(value: Attribute) -> Attribute:
    """An attribute as it is compared."""
    return folded(value) if isinstance(value, str) else tuple(sorted(folded(one) for one in value))


def _loose(answers: Mapping[str, Any]) -> tuple[tuple[str, Attribute], ...]:
    """The answers of a label whose slot the questionnaire does not know."""
    return tuple(sorted((name, folded(str(answer))) for name, answer in answers.items() if answer))


def _ints(numbers: Sequence[int]) -> Ints:
    return np.array(numbers, dtype=np.int64)
