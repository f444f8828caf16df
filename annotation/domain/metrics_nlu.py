"""Understanding: how much of what the patient's turns say is recognised (MediTOD's first task)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation.domain.agreement_bootstrap import SEED
from annotation.domain.comparators import Comparator
from annotation.domain.evaluation_gold import GoldDialogue
from annotation.domain.metrics_tuples import TupleScores, TurnsLeftOut, count_dialogues, tuple_scores
from annotation.domain.predictions import Predictions
from annotation.domain.unrolling import Unrolled


@dataclass(frozen=True, slots=True)
class NluResult:
    scores: TupleScores
    turns: TurnsLeftOut

    def as_json(self) -> dict[str, Any]:
        return {**self.scores.as_json(), "utterances": self.turns.as_json()}


def score_nlu(
    gold: Sequence[GoldDialogue],
    predictions: Predictions[frozenset[Unrolled]],
    comparator: Comparator,
    *,
    seed: int = SEED,
) -> NluResult:
    """Precision, recall and F1 of the predicted tuples; `gold` comes from `evaluation_gold.patient_turns`."""
    rows, turns = count_dialogues(gold, predictions.by_turn, comparator)
    return NluResult(tuple_scores(rows, seed=seed), turns)
