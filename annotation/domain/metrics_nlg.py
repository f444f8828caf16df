"""Generation: how near a model's next sentence is to the doctor's (MediTOD's third task).

BLEU-2 and -4 are over the whole corpus without smoothing, ROUGE-1 and -L are means of F over utterances, all between 0
and 1. This module says which texts are compared and how they are split; the scores come from a `TextScorer`.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from annotation.domain.evaluation_gold import GoldDialogue
from annotation.domain.predictions import Predictions

FIGURES = ("bleu_2", "bleu_4", "rouge_1", "rouge_l")
TOKENISATION = {
    "bleu": "lower case; each of the ASCII punctuation marks a token; split at white space",
    "rouge": "rouge-score's own: lower case, runs of a–z and 0–9, no stemming",
}
_PUNCTUATION = str.maketrans({sign: f" {sign} " for sign in string.punctuation})


@dataclass(frozen=True, slots=True)
class TextPair:
    """What the doctor said and what was predicted, both as `prepared` writes them."""

    gold: str
    predicted: str


class TextScorer(Protocol):
    """Scores pairs of prepared texts; raises what its libraries raise."""

    def scores(self, pairs: Sequence[TextPair]) -> Mapping[str, float | None]:
        """A value for each of FIGURES, None where it is undefined; `pairs` is not empty."""

    def bert_score(self, pairs: Sequence[TextPair]) -> Mapping[str, Any]:
        """Either {"f1", "model"} or {"left_out": why}."""


@dataclass(frozen=True, slots=True)
class NlgResult:
    """None for a figure where there is nothing to compare. `left_out` turns have no text in the gold."""

    figures: Mapping[str, float | None]
    bert_score: Mapping[str, Any]
    scored: int
    left_out: int

    def as_json(self) -> dict[str, Any]:
        return {
            **self.figures,
            "bert_score": dict(self.bert_score),
            "tokenisation": dict(TOKENISATION),
            "utterances": {"scored": self.scored, "left_out": self.left_out},
        }


def prepared(text: str) -> str:
    """Lower case, punctuation marks apart, single blanks."""
    return " ".join(text.lower().translate(_PUNCTUATION).split())


def text_pairs(gold: Sequence[GoldDialogue], predictions: Predictions[str]) -> list[TextPair]:
    """Every doctor's turn that has a text, with its prediction; a missing or malformed one is an empty text."""
    return [
        TextPair(said, prepared(predictions.by_turn.get(turn.key) or ""))
        for dialogue in gold
        for turn in dialogue.turns
        if (said := prepared(turn.text))
    ]


def score_nlg(gold: Sequence[GoldDialogue], predictions: Predictions[str], scorer: TextScorer) -> NlgResult:
    """All figures; `gold` comes from `evaluation_gold.doctor_turns`."""
    pairs = text_pairs(gold, predictions)
    figures = scorer.scores(pairs) if pairs else dict.fromkeys(FIGURES, None)
    bert = scorer.bert_score(pairs) if pairs else {"left_out": "there is nothing to compare"}
    return NlgResult(figures, bert, len(pairs), sum(len(one.turns) for one in gold) - len(pairs))
