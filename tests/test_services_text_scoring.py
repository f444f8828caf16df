"""BERTScore with and without its package and a model; BLEU and ROUGE are tested with what is compared."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from annotation.domain.metrics_nlg import TextPair
from annotation.services.errors import Refused
from annotation.services.text_scoring import LibraryScorer


def test_bert_score_needs_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.services.text_scoring.find_spec", lambda name: None)
    found = LibraryScorer(bert_model=str(tmp_path)).bert_score([TextPair("a", "a")])
    assert found == {"left_out": "the package bert-score is not installed"}


def test_bert_score_is_asked_for_the_model_s_last_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a package of the same name and signatures in its place, which scores by length."""
    (tmp_path / "bert_score").mkdir()
    code = """
class Scores(list):
    def sum(self):
        return sum(self)

class Tokenizer:
    model_max_length = 10**30

class BERTScorer:
    def __init__(self, model_type, num_layers):
        assert num_layers == 7 and model_type.endswith("model")
        if "broken" in model_type:
            raise RuntimeError("no weights.\\nand more")
        self._tokenizer = Tokenizer()

    def score(self, cands, refs):
        assert self._tokenizer.model_max_length == 510, "a tokenizer does not take more"
        assert all(cands) and all(refs), "newer tokenizers fail at an empty text"
        return None, None, Scores(len(one) / len(other) for one, other in zip(cands, refs))
"""
    (tmp_path / "bert_score" / "__init__.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    model = tmp_path / "model"
    model.mkdir()
    pairs = [TextPair("abcd", "ab"), TextPair("ab", "ab")]
    with pytest.raises(Refused, match="so it is no model"):
        LibraryScorer(bert_model=str(model)).bert_score(pairs)
    (model / "config.json").write_text('{"num_hidden_layers": 7}')
    assert LibraryScorer(bert_model=str(model)).bert_score(pairs) == {"f1": 0.75, "model": "model"}
    missing = [*pairs, TextPair("abc", ""), TextPair("abc", "")]
    assert LibraryScorer(bert_model=str(model)).bert_score(missing) == {"f1": 0.375, "model": "model"}
    assert LibraryScorer(bert_model=str(model)).bert_score(missing[2:]) == {"f1": 0.0, "model": "model"}
    broken = tmp_path / "broken-model"
    broken.mkdir()
    (broken / "config.json").write_text('{"n_layers": 7, "max_position_embeddings": 512}')
    with pytest.raises(
        Refused, match=r"broken-model: BERTScore cannot load the model in this folder \(no weights\)\.$"
    ):
        LibraryScorer(bert_model=str(broken)).bert_score(pairs)
    monkeypatch.delitem(sys.modules, "bert_score")


def test_bert_score_reads_a_local_folder_and_fetches_nothing(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="no folder"):
        LibraryScorer(bert_model="roberta-large")
    assert LibraryScorer(bert_model=str(tmp_path))
