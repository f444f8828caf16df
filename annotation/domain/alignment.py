"""The labels that two people gave one utterance, side by side: what they agree on, what differs, what one has alone.

First everything that both say is set aside as agreed, also where one of them says in several labels what the other
says in one ("cough, fever" and "cough" + "fever"). The rest is matched label by label: as many as possible that are
about the same thing (slot and value), then of the same slot, then of the same intent, then labels that both have no
slot ("greeting" and "nod" are two readings of one thing); among these the matching with fewest differences. Other
labels that share neither slot nor intent stay alone. Two that differ in nothing but the wording of one concept agree.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from annotation.domain.label_content import Content, content, exact_content, plain
from annotation.domain.label_differences import (
    A,
    B,
    Difference,
    DifferenceKind,
    SameConcept,
    Voice,
    differences,
    head_values,
    intent_title,
    slot_title,
)
from annotation.domain.labels import Label, Reading
from annotation.domain.matching import cheapest_matching
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.wording import label_text

# Each level outweighs everything below it: a difference costs about 100, a label has far fewer than a million of them.
_LEVEL = 10**9


class Outcome(StrEnum):
    AGREED = "agreed"
    DIFFERS = "differs"
    ONLY_A = "only A"
    ONLY_B = "only B"


class Closeness(StrEnum):
    """How much two labels have in common at least."""

    THING = "same thing"  # slot and value
    SLOT = "same slot"
    INTENT = "same intent"
    BARE = "no slot"  # two intents that stand for themselves: one of them is the reading of the utterance


@dataclass(frozen=True, slots=True)
class Pairing:
    """Labels of A and B that belong together. Each side holds one label; none on the other side of a label that stands
    alone; several where both agree but one says it in more labels.

    `key` names the pairing among those of its dialogue. It depends on what the labels say and not on whose they are.
    Agreed ones have differences only where one concept is worded in two ways.
    `same` says what the two have in common ("same symptom", "" for nothing), `alone` the label that stands alone, both
    in words.
    """

    key: str
    position: int
    outcome: Outcome
    a: tuple[Label, ...]
    b: tuple[Label, ...]
    differences: tuple[Difference, ...] = ()
    same: str = ""
    alone: str = ""

    def swapped(self) -> Pairing:
        """The same with A and B exchanged."""
        outcome = {Outcome.ONLY_A: Outcome.ONLY_B, Outcome.ONLY_B: Outcome.ONLY_A}.get(self.outcome, self.outcome)
        turned = tuple(difference.swapped() for difference in self.differences)
        return replace(self, outcome=outcome, a=self.b, b=self.a, differences=turned)

    @property
    def reworded(self) -> bool:
        """Whether the two agree on a concept, but not on its wording."""
        return self.outcome is Outcome.AGREED and bool(self.differences)

    @property
    def kinds(self) -> tuple[DifferenceKind, ...]:
        """The classes of its differences, each once; a proposal for the error type of a decision."""
        if self.outcome in (Outcome.ONLY_A, Outcome.ONLY_B):
            return (DifferenceKind.OMISSION,)
        return tuple(dict.fromkeys(difference.kind for difference in self.differences))

    def words(self, a: Voice = A, b: Voice = B) -> str:
        """`same symptom, other status: A says yes, B says no; missing onset (only A has “8 days ago”)`"""
        if self.reworded:
            return "both agree, " + "; ".join(difference.words(a, b) for difference in self.differences)
        if self.outcome is Outcome.AGREED:
            return "both agree" if len(self.a) == len(self.b) else "both agree, in a different number of labels"
        if self.outcome is Outcome.DIFFERS:
            found = "; ".join(difference.words(a, b) for difference in self.differences)
            return f"{self.same}, {found}" if self.same else found
        who = a if self.outcome is Outcome.ONLY_A else b
        return f"only {who.name} {who.has} “{self.alone}”"


def align(
    questionnaire: Questionnaire,
    labels_a: Sequence[Label],
    labels_b: Sequence[Label],
    same_concept: SameConcept | None = None,
) -> list[Pairing]:
    """The labels of one utterance; each is in exactly one pairing. Pairings come in the order of A's labels, then B's.

    What is matched with what does not depend on the order of the labels. Raises ValueError for labels of several
    utterances.
    """
    positions = {label.position for label in (*labels_a, *labels_b)}
    if len(positions) > 1:
        raise ValueError(f"Labels of one utterance are aligned at a time, not of the utterances {sorted(positions)}.")
    rest_a, rest_b = list(labels_a), list(labels_b)
    groups = [*_identical(rest_a, rest_b), *_regrouped(questionnaire, rest_a, rest_b)]
    groups += _matched(questionnaire, rest_a, rest_b, same_concept)
    groups += [((label,), ()) for label in rest_a] + [((), (label,)) for label in rest_b]
    place_a = {id(label): place for place, label in enumerate(labels_a)}
    place_b = {id(label): place for place, label in enumerate(labels_b)}
    last = len(labels_a)
    groups.sort(
        key=lambda group: (
            place_a[id(group[0][0])] if group[0] else last,
            place_b[id(group[1][0])] if group[1] else 0,
        )
    )
    used: Counter[str] = Counter()
    return [_pairing(questionnaire, a, b, same_concept, used) for a, b in groups]


def align_readings(
    questionnaire: Questionnaire, a: Reading, b: Reading, same_concept: SameConcept | None = None
) -> dict[int, list[Pairing]]:
    """All utterances of a dialogue by position, those without labels too."""
    of_a, of_b = a.by_position(), b.by_position()
    return {
        position: align(questionnaire, of_a.get(position, ()), of_b.get(position, ()), same_concept)
        for position in sorted(of_a.keys() | of_b.keys())
    }


Group = tuple[tuple[Label, ...], tuple[Label, ...]]


def _identical(rest_a: list[Label], rest_b: list[Label]) -> Iterator[Group]:
    """Pairs that say the same, taken out of both lists."""
    for label in list(rest_a):
        wanted = content(label)
        match = next((place for place, other in enumerate(rest_b) if content(other) == wanted), None)
        if match is not None:
            _remove(rest_a, label)
            yield (label,), (rest_b.pop(match),)


def _regrouped(questionnaire: Questionnaire, rest_a: list[Label], rest_b: list[Label]) -> list[Group]:
    """Labels that differ in nothing but in how their values are divided among them, taken out of both lists."""
    found: list[Group] = []
    shelves = _by_content_beside_head(questionnaire, rest_a), _by_content_beside_head(questionnaire, rest_b)
    for key, shelf_a in shelves[0].items():
        for group_a, group_b in _linked(questionnaire, shelf_a, shelves[1].get(key, [])):
            if _values(questionnaire, group_a) == _values(questionnaire, group_b):
                for label in group_a:
                    _remove(rest_a, label)
                for label in group_b:
                    _remove(rest_b, label)
                found.append((tuple(group_a), tuple(group_b)))
    return found


def _linked(
    questionnaire: Questionnaire, shelf_a: list[Label], shelf_b: list[Label]
) -> list[tuple[list[Label], list[Label]]]:
    """The labels of both sides in groups that have no value in common with each other."""
    groups: list[tuple[set[str], list[Label], list[Label]]] = []
    for label, side in [*((label, 1) for label in shelf_a), *((label, 2) for label in shelf_b)]:
        values = {plain(value) for value in head_values(questionnaire, label)}
        merged: tuple[set[str], list[Label], list[Label]] = (values, [], [])
        for group in [group for group in groups if group[0] & values]:
            groups.remove(group)
            merged = (merged[0] | group[0], merged[1] + group[1], merged[2] + group[2])
        (merged[1] if side == 1 else merged[2]).append(label)
        groups.append(merged)
    return [(of_a, of_b) for _, of_a, of_b in groups]


def _by_content_beside_head(questionnaire: Questionnaire, labels: list[Label]) -> Mapping[object, list[Label]]:
    shelves: dict[object, list[Label]] = {}
    for label in labels:
        slot = questionnaire.slot(label.slot)
        if slot is not None and slot.head and label.values(slot.head):
            shelves.setdefault(content(label, without=slot.head), []).append(label)
    return shelves


def _values(questionnaire: Questionnaire, labels: list[Label]) -> Counter[str]:
    return Counter(value for label in labels for value in {plain(value) for value in head_values(questionnaire, label)})


def _matched(
    questionnaire: Questionnaire, rest_a: list[Label], rest_b: list[Label], concept: SameConcept | None
) -> list[Group]:
    """The best matching of what is left, taken out of both lists."""
    # In the order of what they say, so that equally good matchings are decided the same way for any order of labels.
    list_a, list_b = sorted(rest_a, key=_by_content), sorted(rest_b, key=_by_content)
    weight = _LEVEL ** len(Closeness)
    gains = {close: _LEVEL ** (len(Closeness) - place) for place, close in enumerate(Closeness)}
    costs = []
    for a in list_a:
        line = []
        for b in list_b:
            close = closeness(questionnaire, a, b, concept)
            price = 2 * weight if close is None else 2 * weight - gains[close] + _price(questionnaire, a, b, concept)
            line.append(price)
        costs.append(line)
    groups: list[Group] = []
    for row, column in cheapest_matching(costs, weight):
        _remove(rest_a, list_a[row])
        _remove(rest_b, list_b[column])
        groups.append(((list_a[row],), (list_b[column],)))
    return groups


def _by_content(label: Label) -> tuple[Content, str]:
    return content(label), exact_content(label)


def closeness(questionnaire: Questionnaire, a: Label, b: Label, concept: SameConcept | None = None) -> Closeness | None:
    """What two labels have in common at least, None for nothing that would make them worth comparing."""
    if a.slot and a.slot == b.slot:
        one, other = head_values(questionnaire, a), head_values(questionnaire, b)
        if not one and not other:
            return Closeness.THING
        if {plain(value) for value in one} & {plain(value) for value in other}:
            return Closeness.THING
        if concept and any(concept(a, value, b, match) for value in one for match in other):
            return Closeness.THING
        return Closeness.SLOT
    if a.intent == b.intent:
        return Closeness.INTENT
    return None if a.slot or b.slot else Closeness.BARE


def _price(questionnaire: Questionnaire, a: Label, b: Label, concept: SameConcept | None) -> int:
    """100 for every difference, and up to 99 for how far the spellings of their values are from each other."""
    one = "\n".join(sorted(plain(value) for value in head_values(questionnaire, a)))
    other = "\n".join(sorted(plain(value) for value in head_values(questionnaire, b)))
    return 100 * len(differences(questionnaire, a, b, concept)) + _distance(one, other)


def _distance(one: str, other: str) -> int:
    """0 for equal texts to 99 for texts without a common pair of neighbouring characters (Dice's measure)."""
    if one == other:
        return 0
    pairs_one = Counter(zip(f" {one}", f"{one} ", strict=True))
    pairs_other = Counter(zip(f" {other}", f"{other} ", strict=True))
    common = (pairs_one & pairs_other).total()
    return 99 - 98 * 2 * common // (pairs_one.total() + pairs_other.total())


def _pairing(
    questionnaire: Questionnaire,
    a: tuple[Label, ...],
    b: tuple[Label, ...],
    concept: SameConcept | None,
    used: Counter[str],
) -> Pairing:
    position = (a or b)[0].position
    key = _key(position, a, b)
    used[key] += 1
    if used[key] > 1:
        key = f"{key}.{used[key]}"
    if not a or not b:
        outcome = Outcome.ONLY_A if a else Outcome.ONLY_B
        return Pairing(key, position, outcome, a, b, alone=label_text(questionnaire, (a or b)[0]))
    found = differences(questionnaire, a[0], b[0], concept) if len(a) == len(b) == 1 else []
    if all(difference.kind is DifferenceKind.WORDING for difference in found):
        return Pairing(key, position, Outcome.AGREED, a, b, tuple(found))
    return Pairing(key, position, Outcome.DIFFERS, a, b, tuple(found), _common(questionnaire, a[0], b[0], concept))


def _common(questionnaire: Questionnaire, a: Label, b: Label, concept: SameConcept | None) -> str:
    """What two labels have in common, in words."""
    close = closeness(questionnaire, a, b, concept)
    if close is Closeness.THING:
        return f"same {slot_title(questionnaire, a.slot)}"
    if close is Closeness.SLOT:
        return f"same slot ({slot_title(questionnaire, a.slot)})"
    return "" if close is Closeness.BARE else f"same intent ({intent_title(questionnaire, a.intent)})"


def _key(position: int, a: tuple[Label, ...], b: tuple[Label, ...]) -> str:
    sides = sorted(repr(sorted(content(label) for label in side)) for side in (a, b))
    return f"{position}-{hashlib.sha256(repr(sides).encode()).hexdigest()[:16]}"


def _remove(labels: list[Label], label: Label) -> None:
    """Take out this very object; equal labels may stand beside it."""
    del labels[next(place for place, other in enumerate(labels) if other is label)]
