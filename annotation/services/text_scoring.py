"""BLEU, ROUGE and BERTScore by the libraries that publish them; `domain/metrics_nlg.py` says what is compared."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from annotation.domain.metrics_nlg import TextPair
from annotation.services.errors import Refused

_WORD = re.compile("[a-z0-9]")


class LibraryScorer:
    """BLEU by sacreBLEU, ROUGE by rouge-score, BERTScore by bert-score with a model in a local folder."""

    def __init__(self, *, bert_model: str = "") -> None:
        """Raises Refused where a model is named that is no folder."""
        if bert_model and not Path(bert_model).is_dir():
            raise Refused(f"{bert_model}: there is no folder of that name with a model for BERTScore.")
        self._bert_model = bert_model

    def scores(self, pairs: Sequence[TextPair]) -> Mapping[str, float | None]:
        return {**_bleu(pairs), **_rouge(pairs)}

    def bert_score(self, pairs: Sequence[TextPair]) -> Mapping[str, Any]:
        if not self._bert_model:
            return {"left_out": "no local model was given"}
        if find_spec("bert_score") is None:
            return {"left_out": "the package bert-score is not installed"}
        return {"f1": _bert(pairs, self._bert_model), "model": Path(self._bert_model).name}


def _bleu(pairs: Sequence[TextPair]) -> dict[str, float]:
    """Corpus BLEU without smoothing. The texts are split already, so that nothing but blanks is looked at."""
    from sacrebleu.metrics.bleu import BLEU  # slow to import

    guesses, references = [pair.predicted for pair in pairs], [[pair.gold for pair in pairs]]
    found = {}
    for order in (2, 4):
        metric = BLEU(max_ngram_order=order, smooth_method="none", tokenize="none", force=True)
        found[f"bleu_{order}"] = metric.corpus_score(guesses, references).score / 100
    return found


def _rouge(pairs: Sequence[TextPair]) -> dict[str, float | None]:
    """Mean F over the texts that have something rouge-score takes for a word; None where none has."""
    from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped]

    scorer = RougeScorer(["rouge1", "rougeL"], use_stemmer=False)
    found = [scorer.score(pair.gold, pair.predicted) for pair in pairs if _WORD.search(pair.gold)]
    return {
        name: sum(one[kind].fmeasure for one in found) / len(found) if found else None
        for name, kind in (("rouge_1", "rouge1"), ("rouge_l", "rougeL"))
    }


def _bert(pairs: Sequence[TextPair], model: str) -> float:
    """The mean F1 of BERTScore, with the last layer of the model in this folder."""
    import json

    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # whatever the folder lacks is an error, not fetched
    from bert_score import score  # type: ignore[import-not-found]

    try:
        layers = int(json.loads((Path(model) / "config.json").read_text(encoding="utf-8"))["num_hidden_layers"])
    except (OSError, ValueError, KeyError, TypeError):
        raise Refused(f"{model}: its config.json does not say “num_hidden_layers”, so it is no model.") from None
    guesses, said = [pair.predicted for pair in pairs], [pair.gold for pair in pairs]
    _, _, f1 = score(guesses, said, model_type=model, num_layers=layers)
    return float(f1.mean())
