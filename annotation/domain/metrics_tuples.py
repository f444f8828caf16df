"""Precision, recall and F1 over unrolled tuples, pooled over all turns, with intervals by bootstrap over dialogues.

Within a turn the tuples are sets. Medical tuples match when they are equal. Others match when all but the attribute's
value is equal and a comparator says that the values are the same; each matches at most one, and the matching is the
largest there is, so that no order counts. Published metric: MediTOD (arXiv 2410.14204).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from annotation.domain.agreement_bootstrap import SEED, Interval, Resampling, resampling, spans
from annotation.domain.agreement_coding import Floats
from annotation.domain.agreement_figures import defined, ratio
from annotation.domain.comparators import Comparator
from annotation.domain.evaluation_gold import GoldDialogue, TurnKey
from annotation.domain.unrolling import Unrolled

# What a tuple is counted under: its slot without prefix ("intent" for an intent alone), its attribute ("value" for the
# slot or the intent itself), and whether it is medical.
Column = tuple[str, str, bool]
# A part of the result: ("overall",), ("by_slot", slot) or ("by_attribute", slot, attribute).
Part = tuple[str, ...]
# Of a malformed prediction nothing can be told but that it is wrong.
MALFORMED_COLUMN: Column = ("(malformed)", "", False)
OVERALL, MEDICAL, NON_MEDICAL, BY_SLOT, BY_ATTRIBUTE = "overall", "medical", "non_medical", "by_slot", "by_attribute"
_MATCHED, _MISSED, _WRONG = range(3)


@dataclass(slots=True)
class Counts:
    """Matched, missed (in the gold only) and wrong (predicted only) tuples, by column. A malformed prediction is one
    wrong tuple in a column of its own."""

    cells: dict[Column, list[int]] = field(default_factory=dict)

    def add(self, column: Column, matched: int, missed: int, wrong: int) -> None:
        cell = self.cells.setdefault(column, [0, 0, 0])
        cell[_MATCHED] += matched
        cell[_MISSED] += missed
        cell[_WRONG] += wrong

    def compare(self, gold: Iterable[Unrolled], predicted: Iterable[Unrolled], comparator: Comparator) -> None:
        """Count one turn."""
        for (group, medical), (said, guessed) in grouped(gold, predicted).items():
            both = len(matched_texts(said, guessed, None if medical else comparator))
            self.add(column_of(group, medical), both, len(said) - both, len(guessed) - both)


@dataclass(frozen=True, slots=True)
class TupleScores:
    """The figures of each part over all dialogues, their counts, and their intervals."""

    figures: Mapping[Part, Mapping[str, float | None]]
    counts: Mapping[Part, tuple[int, int, int]]
    intervals: Mapping[Part, Mapping[str, Interval]]
    resampling: Resampling

    def as_json(self) -> dict[str, Any]:
        """`overall`, `medical`, `non_medical`, `by_slot`, `by_attribute`, each with precision, recall and F1 (None:
        undefined); the counts and the intervals of each in trees of the same shape."""
        names = ("matched", "missed", "wrong")
        counts = {part: dict(zip(names, row, strict=True)) for part, row in self.counts.items()}
        ends = {part: {name: one.as_json() for name, one in row.items()} for part, row in self.intervals.items()}
        return {
            **tree({part: dict(row) for part, row in self.figures.items()}),
            "counts": tree(counts),
            "intervals": tree(ends),
            "resampling": self.resampling.as_json(),
        }


@dataclass(frozen=True, slots=True)
class TurnsLeftOut:
    """Turns whose tuples are not scored: without labels in the gold, or informing or inquiring about nothing."""

    scored: int
    left_out: int

    def as_json(self) -> dict[str, int]:
        return {"scored": self.scored, "left_out": self.left_out}


def grouped(
    gold: Iterable[Unrolled], predicted: Iterable[Unrolled]
) -> dict[tuple[Unrolled, bool], tuple[set[str], set[str]]]:
    """The tuples of one turn by what must be equal, all of a medical tuple and all but the attribute's value of
    another, and by whether they are medical: the attribute's values in the gold and in the prediction."""
    groups: dict[tuple[Unrolled, bool], tuple[set[str], set[str]]] = {}
    for side, tuples in enumerate((gold, predicted)):
        for one in tuples:
            key = (one, True) if one.medical else (one._replace(attribute_value=""), False)
            groups.setdefault(key, (set(), set()))[side].add(one.attribute_value)
    return groups


def matched_texts(said: set[str], guessed: set[str], comparator: Comparator | None) -> dict[str, str]:
    """The largest matching of the two sets (Kuhn's augmenting paths), what was said by what was guessed; without
    comparator: of equals."""
    if comparator is None or said == guessed:
        return {text: text for text in said & guessed}
    left = sorted(said)
    right = [sorted(guessed, key=lambda text, one=one: (text != one, text)) for one in left]  # type: ignore[misc]
    known: dict[tuple[str, str], bool] = {}
    partner: dict[str, int] = {}

    def same(one: str, other: str) -> bool:
        if (one, other) not in known:
            known[one, other] = one == other or comparator.same(one, other)
        return known[one, other]

    def placed(place: int, tried: set[str]) -> bool:
        for text in right[place]:
            if text in tried or not same(left[place], text):
                continue
            tried.add(text)
            if text not in partner or placed(partner[text], tried):
                partner[text] = place
                return True
        return False

    for place in range(len(left)):
        placed(place, set())
    return {text: left[place] for text, place in partner.items()}


def column_of(one: Unrolled, medical: bool) -> Column:
    return one.plain_slot or "intent", one.attribute or "value", medical


def count_dialogues(
    gold: Iterable[GoldDialogue], predicted: Mapping[TurnKey, frozenset[Unrolled] | None], comparator: Comparator
) -> tuple[list[Counts], TurnsLeftOut]:
    """The counts of each dialogue that has a scored turn. A turn without a prediction has an empty one; of one whose
    prediction is malformed (None), all is missed, and one tuple is wrong."""
    rows: list[Counts] = []
    scored = left_out = 0
    for dialogue in gold:
        turns = [turn for turn in dialogue.turns if turn.scored]
        scored, left_out = scored + len(turns), left_out + len(dialogue.turns) - len(turns)
        if not turns:
            continue
        counts = Counts()
        for turn in turns:
            given = predicted.get(turn.key, frozenset())
            counts.compare(turn.tuples, given or frozenset(), comparator)
            if given is None:
                counts.add(MALFORMED_COLUMN, 0, 0, 1)
        rows.append(counts)
    return rows, TurnsLeftOut(scored, left_out)


def tuple_scores(rows: Sequence[Counts], *, seed: int = SEED) -> TupleScores:
    """The figures of each part, from the counts of each dialogue."""
    columns = sorted({column for row in rows for column in row.cells})
    table = np.array([[row.cells.get(column, (0, 0, 0)) for column in columns] for row in rows], dtype=np.float64)
    table = table.reshape(len(rows), len(columns), 3)
    draws = resampling(len(rows), seed=seed)
    figures: dict[Part, dict[str, float | None]] = {}
    counts: dict[Part, tuple[int, int, int]] = {}
    ends: dict[Part, dict[str, Interval]] = {}
    for part, chosen in _parts(columns).items():
        by_dialogue: Floats = table[:, chosen, :].sum(axis=1)
        total = by_dialogue.sum(axis=0)
        matched, missed, wrong = (int(n) for n in total)
        counts[part] = (matched, missed, wrong)
        figures[part] = {name: defined(float(one[0])) for name, one in _scores(total[None, :]).items()}
        # One part at a time: a model may invent any number of names, each with thousands of draws.
        ends[part] = intervals(_scores(draws.weights @ by_dialogue), draws)
    return TupleScores(figures, counts, ends, draws)


def intervals(by_draw: Mapping[str, Floats], draws: Resampling) -> dict[str, Interval]:
    """The interval of each figure between 0 and 1, from what it is in each draw."""
    return {path: _shares_only(one) for path, one in spans(by_draw, draws).items()}


def tree(parts: Mapping[Part, Any]) -> dict[str, Any]:
    """{("by_slot", "symptom"): x} as {"by_slot": {"symptom": x}}."""
    whole: dict[str, Any] = {BY_SLOT: {}, BY_ATTRIBUTE: {}}
    for part, value in parts.items():
        place = whole
        for name in part[:-1]:
            place = place.setdefault(name, {})
        place[part[-1]] = value
    ordered = (OVERALL, MEDICAL, NON_MEDICAL, BY_SLOT, BY_ATTRIBUTE)
    return {name: whole[name] for name in ordered if name in whole}


def _parts(columns: Sequence[Column]) -> dict[Part, list[int]]:
    """Every part with the places of its columns; the three large ones even where nothing is in them, and each of them
    with what is malformed."""
    parts: dict[Part, list[int]] = {(OVERALL,): [], (MEDICAL,): [], (NON_MEDICAL,): []}
    for place, column in enumerate(columns):
        slot, attribute, medical = column
        own: list[Part] = [(MEDICAL,) if medical else (NON_MEDICAL,), (BY_ATTRIBUTE, slot, attribute)]
        if column == MALFORMED_COLUMN:
            own = [(MEDICAL,), (NON_MEDICAL,)]
        for part in ((OVERALL,), (BY_SLOT, slot), *own):
            parts.setdefault(part, []).append(place)
    return parts


def _scores(counts: Floats) -> dict[str, Floats]:
    """Precision, recall and F1 = 2·matched / (2·matched + missed + wrong) from rows of counts; NaN where undefined."""
    matched, missed, wrong = counts[:, _MATCHED], counts[:, _MISSED], counts[:, _WRONG]
    return {
        "precision": ratio(matched, matched + wrong),
        "recall": ratio(matched, matched + missed),
        "f1": ratio(2 * matched, 2 * matched + missed + wrong),
    }


def _shares_only(one: Interval) -> Interval:
    """The interval without what lies below 0, which a jackknife may reach and no share can."""
    ends = one.interval
    if ends.low is None or ends.high is None:
        return one
    return replace(one, interval=replace(ends, low=max(0.0, ends.low), high=max(0.0, ends.high)))
