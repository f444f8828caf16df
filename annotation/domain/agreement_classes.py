"""Disagreements one by one: whose entry stands against whose, and each in exactly one class.

Within an utterance, entries that say the same are set aside; the rest are aligned so that what is most alike stands
together (same slot and value; same slot and concept; same slot and intent; same intent; anything). What finds no
partner was omitted by the other annotator. The first difference in this order names the class: the intent, then (of
different slots) the slot, then the status, then the value's wording where the concept is the same, then the value,
then any other answer. A different value outranks the status, since the two are then not about the same thing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from annotation.domain.agreement_coding import Coded, Entry, Ints, Side
from annotation.domain.agreement_counts import Counts, Path, shared
from annotation.domain.agreement_figures import Figure, Ratio, f_figure
from annotation.domain.labels import Label
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.wording import label_text

DECOMPOSITION: Path = ("decomposition",)


class Kind(StrEnum):
    INTENT = "intent"
    OMISSION = "omission"
    SLOT = "wrong_slot"
    STATUS = "status"
    WORDING = "wording_same_cui"
    VALUE = "value"
    ATTRIBUTE = "attribute"


WORDS = {
    Kind.INTENT: "another intent",
    Kind.OMISSION: "only one annotator has it",
    Kind.SLOT: "another slot",
    Kind.STATUS: "another status",
    Kind.WORDING: "other words for the same concept",
    Kind.VALUE: "another value",
    Kind.ATTRIBUTE: "another answer to a further question",
}


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One difference between two labels, or a label that only one annotator has (the other is None)."""

    kind: Kind
    dialogue: str
    position: int
    speaker: str
    annotators: tuple[str, str]
    label_a: Label | None
    label_b: Label | None
    questionnaire: Questionnaire

    @property
    def words(self) -> str:
        """The difference as one line; the annotators are A and B."""
        sides = [
            label_text(self.questionnaire, label) if label else "no such label"
            for label in (self.label_a, self.label_b)
        ]
        return f"{WORDS[self.kind]}: A “{sides[0]}”, B “{sides[1]}”"

    def as_json(self) -> dict[str, str | int | None]:
        return {
            "kind": self.kind.value,
            "dialogue": self.dialogue,
            "position": self.position,
            "speaker": self.speaker,
            "a": label_text(self.questionnaire, self.label_a) if self.label_a else None,
            "b": label_text(self.questionnaire, self.label_b) if self.label_b else None,
            "words": self.words,
        }


@dataclass(frozen=True, slots=True)
class Difference:
    """A disagreement as places among both sides' entries; None for a missing partner."""

    kind: Kind
    item: int
    a: int | None
    b: int | None


@dataclass(frozen=True, slots=True)
class Alignment:
    """All differences, and the entries of A and B (places among each side's entries) on the same slot and value."""

    differences: list[Difference]
    matched_a: Ints
    matched_b: Ints


def classify(one: Entry, other: Entry) -> Kind:
    """The class of two different entries that stand against each other."""
    if one.intent != other.intent:
        return Kind.INTENT
    if one.slot != other.slot:
        return Kind.SLOT if one.slot and other.slot else Kind.OMISSION
    if one.concept != other.concept:
        return Kind.VALUE
    if one.status != other.status:
        return Kind.STATUS
    return Kind.WORDING if one.value != other.value else Kind.ATTRIBUTE


def align(entries: Sequence[Entry], a: Sequence[int], b: Sequence[int]) -> list[tuple[int | None, int | None]]:
    """Who stands against whom: places in `a` and `b` (codes of entries), each once, the most alike first."""
    result: list[tuple[int | None, int | None]] = []
    free_a, free_b = [], list(range(len(b)))
    for place_a, code in enumerate(a):
        place_b = next((place for place in free_b if b[place] == code), None)
        if place_b is None:
            free_a.append(place_a)
        else:
            free_b.remove(place_b)
            result.append((place_a, place_b))
    if len(free_a) == len(free_b) == 1:
        return [*result, (free_a[0], free_b[0])]
    ranked = [
        (likeness(entries[a[place_a]], entries[b[place_b]]), -place_a, -place_b)
        for place_a in free_a
        for place_b in free_b
    ]
    for _, minus_a, minus_b in sorted(ranked, reverse=True):
        if -minus_a in free_a and -minus_b in free_b:
            free_a.remove(-minus_a)
            free_b.remove(-minus_b)
            result.append((-minus_a, -minus_b))
    return [*result, *((place, None) for place in free_a), *((None, place) for place in free_b)]


def likeness(one: Entry, other: Entry) -> tuple[int, int, int, float]:
    """How alike two different entries are; compared from left to right."""
    intent, status = int(one.intent == other.intent), int(one.status == other.status)
    if one.slot and one.slot == other.slot:
        if one.concept == other.concept:
            return 4 + int(one.value == other.value), intent, status, _common(one, other)
        if intent:
            return 3, 0, 0, _overlap(one.value, other.value) + status / 100
    return intent, int(bool(one.slot) == bool(other.slot)), int(one.value == other.value), float(status)


def _common(one: Entry, other: Entry) -> float:
    return float(len(set(one.attributes) & set(other.attributes)))


def _overlap(one: str, other: str) -> float:
    """The share of words that two values have in common."""
    words, others = set(one.split()), set(other.split())
    return len(words & others) / max(1, len(words | others))


def align_all(coded: Coded) -> Alignment:
    """Aligns every utterance on which the annotators' entries differ; the others match entry by entry."""
    a, b = coded.a, coded.b
    equal = _equal_items(coded)
    differences: list[Difference] = []
    matched: list[tuple[int, int]] = []
    codes_a, codes_b, starts_a, starts_b = a.codes.tolist(), b.codes.tolist(), a.starts.tolist(), b.starts.tolist()
    for item in np.flatnonzero(~equal).tolist():
        from_a, from_b = starts_a[item], starts_b[item]
        said_a, said_b = codes_a[from_a : starts_a[item + 1]], codes_b[from_b : starts_b[item + 1]]
        for place_a, place_b in align(coded.entries, said_a, said_b):
            if place_a is None or place_b is None:
                one = None if place_a is None else from_a + place_a
                differences.append(Difference(Kind.OMISSION, item, one, None if place_b is None else from_b + place_b))
                continue
            first, second = coded.entries[said_a[place_a]], coded.entries[said_b[place_b]]
            if first is not second:
                differences.append(Difference(classify(first, second), item, from_a + place_a, from_b + place_b))
            if first.slot == second.slot and first.value == second.value:
                matched.append((from_a + place_a, from_b + place_b))
    more = np.array(matched, dtype=np.int64).reshape(-1, 2)
    return Alignment(
        differences,
        np.concatenate([_equal_places(a, equal), more[:, 0]]),
        np.concatenate([_equal_places(b, equal), more[:, 1]]),
    )


def _equal_items(coded: Coded) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    found = shared(coded.size, (coded.a.items, coded.a.codes), (coded.b.items, coded.b.codes))
    equal: np.ndarray[tuple[int], np.dtype[np.bool_]] = (found.only_a == 0) & (found.only_b == 0)
    return equal


def _equal_places(side: Side, equal: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Ints:
    """The entries of the items that are equal, in an order that is the same for both annotators."""
    order: Ints = np.lexsort((side.codes, side.items))
    return order[equal[side.items[order]]]


def count_classes(coded: Coded, alignment: Alignment, counts: Counts) -> list[Figure]:
    """Adds the columns of the decomposition; gives F over whole entries, and F if a class vanished.

    Everything an entry says must be the same: intent, slot, value, status and all other answers.
    """
    found = shared(coded.size, (coded.a.items, coded.a.codes), (coded.b.items, coded.b.codes))
    counts.add_shared(DECOMPOSITION, found)
    both, only_a, only_b = ((*DECOMPOSITION, name) for name in ("both", "only_a", "only_b"))
    figures = [f_figure((*DECOMPOSITION, "f"), DECOMPOSITION)]
    for kind in Kind:
        mine = [one for one in alignment.differences if one.kind is kind]
        n = counts.add((*DECOMPOSITION, "classes", kind.value, "n"), _per_item(mine, coded.size))
        halves = [one for one in mine if one.a is None or one.b is None]
        half = counts.add((*DECOMPOSITION, "classes", kind.value, "half"), _per_item(halves, coded.size), shown=False)
        # A vanished pair turns one miss on each side into a hit; a vanished omission turns the one miss into a hit.
        without = Ratio(
            ((2, both), (2, n)),
            ((2, both), (1, only_a), (1, only_b), (1, half)),
        )
        figures.append(
            Figure((*DECOMPOSITION, "classes", kind.value, "f_without"), without, (n,), figures[0].over, interval=False)
        )
    return figures


def _per_item(differences: Sequence[Difference], size: int) -> Ints:
    return np.bincount(np.array([one.item for one in differences], dtype=np.int64), minlength=size)


def disagreements(questionnaire: Questionnaire, coded: Coded, alignment: Alignment) -> Iterator[Disagreement]:
    """Every disagreement with its place and labels, in the order of the items."""
    for one in alignment.differences:
        unit = coded.units[int(coded.unit[one.item])]
        yield Disagreement(
            one.kind,
            unit.dialogue,
            int(coded.position[one.item]),
            coded.speakers[int(coded.speaker[one.item])],
            unit.annotators,
            None if one.a is None else coded.a.labels[one.a],
            None if one.b is None else coded.b.labels[one.b],
            questionnaire,
        )
