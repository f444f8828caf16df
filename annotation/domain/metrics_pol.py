"""Policy: how far what a model would do next is what the doctor does (MediTOD's second task).

Precision, recall and F1 compare a prediction with the doctor's turn in its place. A doctor may ask the same things in
another order, so Precision@K counts a predicted medical tuple where it stands in the gold of that turn or of the
K − 1 doctor's turns after it; with K = ∞ in the rest of the dialogue. Published metric: MediTOD (arXiv 2410.14204).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.domain.agreement_bootstrap import SEED, Interval, resampling
from annotation.domain.agreement_figures import defined, ratio
from annotation.domain.comparators import Comparator
from annotation.domain.evaluation_gold import GoldDialogue, TurnKey
from annotation.domain.metrics_tuples import TupleScores, TurnsLeftOut, count_dialogues, intervals, tuple_scores
from annotation.domain.predictions import Predictions
from annotation.domain.unrolling import Unrolled

WINDOWS: Mapping[str, int | None] = {"1": 1, "4": 4, "8": 8, "inf": None}  # None: to the end of the dialogue


@dataclass(frozen=True, slots=True)
class AtK:
    """Of `predicted` medical tuples and malformed predictions `hits` stand in the window; the precision of none is
    None."""

    precision: float | None
    hits: int
    predicted: int
    interval: Interval

    def as_json(self) -> dict[str, Any]:
        return {
            "precision": self.precision,
            "hits": self.hits,
            "predicted": self.predicted,
            "interval": self.interval.as_json(),
        }


@dataclass(frozen=True, slots=True)
class PolResult:
    scores: TupleScores
    at_k: Mapping[str, AtK]
    turns: TurnsLeftOut

    def as_json(self) -> dict[str, Any]:
        at_k = {name: one.as_json() for name, one in self.at_k.items()}
        return {**self.scores.as_json(), "precision_at": at_k, "utterances": self.turns.as_json()}


def score_pol(
    gold: Sequence[GoldDialogue],
    predictions: Predictions[frozenset[Unrolled]],
    comparator: Comparator,
    *,
    seed: int = SEED,
) -> PolResult:
    """Precision, recall, F1 and Precision@K; `gold` comes from `evaluation_gold.doctor_turns`."""
    rows, turns = count_dialogues(gold, predictions.by_turn, comparator)
    return PolResult(tuple_scores(rows, seed=seed), precision_at_k(gold, predictions.by_turn, seed=seed), turns)


def precision_at_k(
    gold: Sequence[GoldDialogue], predicted: Mapping[TurnKey, frozenset[Unrolled] | None], *, seed: int = SEED
) -> dict[str, AtK]:
    """Precision@K for each of WINDOWS, pooled over all predicted tuples, with an interval over dialogues."""
    chosen = [dialogue for dialogue in gold if any(turn.scored for turn in dialogue.turns)]
    distances = [list(_distances(dialogue, predicted)) for dialogue in chosen]
    draws = resampling(len(chosen), seed=seed)
    totals = np.array([len(found) for found in distances], dtype=np.float64)
    hits = {
        name: np.array([sum(d is not None and (k is None or d < k) for d in found) for found in distances], np.float64)
        for name, k in WINDOWS.items()
    }
    ends = intervals(
        {name: ratio(draws.weights @ within, draws.weights @ totals) for name, within in hits.items()}, draws
    )
    predicted_tuples = int(totals.sum())
    return {
        name: AtK(defined(float(ratio(within.sum(), totals.sum()))), int(within.sum()), predicted_tuples, ends[name])
        for name, within in hits.items()
    }


def _distances(dialogue: GoldDialogue, predicted: Mapping[TurnKey, frozenset[Unrolled] | None]) -> Iterator[int | None]:
    """For each medical tuple predicted for a scored turn: how many doctor's turns later the gold has it, 0 for at
    once, None for never, as for a malformed prediction. An intent alone is no medical attribute and is left out."""
    next_at: dict[Unrolled, int] = {}
    for place in range(len(dialogue.turns) - 1, -1, -1):
        turn = dialogue.turns[place]
        next_at.update(dict.fromkeys(turn.tuples, place))
        if not turn.scored:
            continue
        given = predicted.get(turn.key, frozenset())
        if given is None:
            yield None
        for one in given or ():
            if one.medical and one.slot:
                yield next_at[one] - place if one in next_at else None
