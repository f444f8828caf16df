"""BLEU, ROUGE and BERTScore by the libraries that publish them; `domain/metrics_nlg.py` says what is compared."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from annotation.domain.metrics_nlg import TextPair
from annotation.services.errors import Refused

_WORD = re.compile("[a-z0-9]")
_LAYERS = ("num_hidden_layers", "n_layers", "num_layers")  # as BERT, DistilBERT and T5 call their number
_USUAL_LENGTH = 512


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
        score = metric.corpus_score(guesses, references).score / 100
        found[f"bleu_{order}"] = min(score, 1.0)  # the library's sum of logarithms may end a trifle above
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
    """The mean F1 of BERTScore, with the last layer of the model in this folder. An empty prediction has 0, which the
    library says too where its tokenizer lets it."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # whatever the folder lacks is an error, not fetched
    layers, longest = _sizes(model)
    try:
        from bert_score import BERTScorer  # type: ignore[import-not-found]

        scorer = BERTScorer(model_type=model, num_layers=layers)
    except Exception as error:  # what is wrong with a folder is said by many libraries, each in its own kind
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise Refused(f"{model}: BERTScore cannot load the model in this folder ({reason}).") from error
    # Many tokenizers do not say how much their model takes. RoBERTa counts the positions from 2.
    if scorer._tokenizer.model_max_length > longest:
        scorer._tokenizer.model_max_length = longest - 2
    said = [pair for pair in pairs if pair.predicted]
    if not said:
        return 0.0
    _, _, f1 = scorer.score([pair.predicted for pair in said], [pair.gold for pair in said])
    return float(f1.sum()) / len(pairs)


def _sizes(model: str) -> tuple[int, int]:
    """How many layers the model has, and how many tokens it takes at most. Raises Refused where its config.json does
    not say the layers."""
    try:
        config = json.loads((Path(model) / "config.json").read_text(encoding="utf-8"))
        layers = next(config[name] for name in _LAYERS if name in config)
        return int(layers), int(config.get("max_position_embeddings", _USUAL_LENGTH))
    except (OSError, ValueError, TypeError, StopIteration):
        raise Refused(f"{model}: its config.json does not say “num_hidden_layers”, so it is no model.") from None
