"""Score predictions of what the patient says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.management.base import CommandParser

from annotation.domain.evaluation_gold import patient_turns
from annotation.domain.metrics_nlu import score_nlu
from annotation.domain.unrolling import Unrolled, unroll_nlu
from annotation.management.commands._evaluation import (
    EvaluationCommand,
    as_counted,
    prediction_lines,
    predictions_json,
    score_lines,
)


class Command(EvaluationCommand):
    help = (
        "Scores predictions of “nlu” against a dataset: precision, recall and F1 over unrolled tuples, overall, of "
        "medical and of other ones, and by slot and attribute. Uses no database."
    )

    def arguments(self, parser: CommandParser) -> None:
        super().arguments(parser)
        self.comparing_arguments(parser)

    def run(self, *, gold: str, pred: str, random_seed: int, **options: Any) -> None:
        comparator = self.comparator(options)
        dialogues = self.read_gold(gold, patient_turns, options)
        predictions = self.read_predictions(pred, "nlu", _tuples, dialogues)
        scores = score_nlu(dialogues, as_counted(predictions, options), comparator, seed=random_seed)
        result = {
            **scores.as_json(),
            "comparator": comparator.as_json(),
            "malformed_counts_as": options["malformed"],
            **predictions_json(predictions, dialogues),
        }
        self.finish(result, lines=_lines(result))


def _tuples(given: Any) -> frozenset[Unrolled]:
    return frozenset(unroll_nlu(given))


def _lines(result: Mapping[str, Any]) -> Iterator[str]:
    yield from score_lines(result)
    yield from prediction_lines(result)
