"""Score predictions of what the doctor says next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.management.base import CommandParser

from annotation.domain.evaluation_gold import doctor_turns
from annotation.domain.metrics_nlg import FIGURES, score_nlg
from annotation.domain.predictions import text_prediction
from annotation.management.commands._evaluation import (
    EvaluationCommand,
    figure_text,
    prediction_lines,
    predictions_json,
)
from annotation.services.text_scoring import LibraryScorer

_TITLES = {"bleu_2": "BLEU-2", "bleu_4": "BLEU-4", "rouge_1": "ROUGE-1", "rouge_l": "ROUGE-L"}


class Command(EvaluationCommand):
    help = (
        "Scores predictions of the doctor's “text” against a dataset: BLEU-2, BLEU-4, ROUGE-1, ROUGE-L, and BERTScore "
        "where its package is installed and a local model is named. Uses no database and no network."
    )

    def arguments(self, parser: CommandParser) -> None:
        super().arguments(parser)
        parser.add_argument("--bert-model", default="", help="folder of a model for BERTScore")

    def run(self, *, gold: str, pred: str, bert_model: str, **options: Any) -> None:
        scorer = LibraryScorer(bert_model=bert_model)
        dialogues = self.read_gold(gold, doctor_turns, options)
        predictions = self.read_predictions(pred, "text", text_prediction, dialogues)
        scores = score_nlg(dialogues, predictions, scorer)
        result = {**scores.as_json(), **predictions_json(predictions, dialogues)}
        self.finish(result, lines=_lines(result))


def _lines(result: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{_TITLES[name]:<9}  {figure_text(result[name])}" for name in FIGURES)
    bert = result["bert_score"]
    yield f"BERTScore  {figure_text(bert['f1']) if 'f1' in bert else 'left out: ' + bert['left_out']}"
    yield from (f"Tokens of {name.upper()}: {words}." for name, words in result["tokenisation"].items())
    yield from prediction_lines(result)
