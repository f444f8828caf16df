"""Score predictions of what the doctor does next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.management.base import CommandParser

from annotation.domain.evaluation_gold import doctor_turns
from annotation.domain.metrics_pol import score_pol
from annotation.domain.unrolling import Unrolled, unroll_actions
from annotation.management.commands._evaluation import (
    EvaluationCommand,
    as_counted,
    figure_text,
    interval_text,
    prediction_lines,
    predictions_json,
    score_lines,
)


class Command(EvaluationCommand):
    help = (
        "Scores predictions of “actions” against a dataset: precision, recall and F1 over unrolled tuples, and "
        "Precision@K: a predicted medical tuple counts if the doctor comes to it within K turns. Uses no database."
    )

    def arguments(self, parser: CommandParser) -> None:
        super().arguments(parser)
        self.comparing_arguments(parser)

    def run(self, *, gold: str, pred: str, random_seed: int, **options: Any) -> None:
        comparator = self.comparator(options)
        dialogues = self.read_gold(gold, doctor_turns, options)
        predictions = self.read_predictions(pred, "actions", _tuples, dialogues)
        scores = score_pol(dialogues, as_counted(predictions, options), comparator, seed=random_seed)
        result = {
            **scores.as_json(),
            "comparator": comparator.as_json(),
            "malformed_counts_as": options["malformed"],
            **predictions_json(predictions, dialogues),
        }
        self.finish(result, lines=_lines(result))


def _tuples(given: Any) -> frozenset[Unrolled]:
    return frozenset(unroll_actions(given))


def _lines(result: Mapping[str, Any]) -> Iterator[str]:
    yield from score_lines(result)
    for name, one in result["precision_at"].items():
        sign = "∞" if name == "inf" else name
        yield (
            f"Precision@{sign}: {figure_text(one['precision'])} ({interval_text(one['interval'])}), "
            f"{one['hits']:,} of {one['predicted']:,}"
        )
    yield from prediction_lines(result)
