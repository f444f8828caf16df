"""The command `link_phrases`: candidates for the phrases of a file, and recall."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.rrf import conso, sty, write_folder
from umls_linker.domain.rrf import Selection
from umls_linker.index.sources import Metathesaurus
from umls_linker.services.vocabularies import vocabulary_build


@pytest.fixture(autouse=True)
def vocabulary(tmp_path: Path, settings: LazySettings) -> None:
    settings.DATA_DIR = tmp_path / "data"
    strings = [
        conso("C0013404", "Dyspnea"),
        conso("C0013404", "Shortness of breath", status="S", preferred="N", sort="SY"),
        conso("C0018681", "Headache"),
        conso("C0042963", "Vomiting"),
    ]
    folder = write_folder(tmp_path / "rrf", strings, [sty(cui, "T184") for cui in ("C0013404", "C0018681", "C0042963")])
    vocabulary_build(source=Metathesaurus.find(folder, Selection()), name="embedded")


def run(*words: str) -> str:
    out = io.StringIO()
    call_command("link_phrases", *words, stdout=out)
    return out.getvalue()


def write(folder: Path, text: str | bytes) -> str:
    path = folder / "phrases.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_candidates_and_recall_as_json(tmp_path: Path) -> None:
    file = write(tmp_path, "Phrase,cui,note\nSOB,C0013404,a\nhead pain,c0018681,\npuking,C0013404,\nhowever,,\n\n")
    result: dict[str, Any] = json.loads(run(file, "--top", "1", "--json"))
    assert [row["phrase"] for row in result["phrases"]] == ["SOB", "head pain", "puking", "however"]
    [best] = result["phrases"][0]["candidates"]
    assert (best["cui"], best["name"], best["semantic_types"]) == ("C0013404", "Dyspnea", ["T184"])
    assert best["reasons"][0].keys() == {"kind", "points", "sentence"}
    assert best["score"] > 0
    assert result["recall"] == {"1": 0.667, "5": 0.667, "10": 0.667}
    assert result["with_cui"] == 3


def test_without_concepts_there_is_no_recall(tmp_path: Path) -> None:
    file = write(tmp_path, "\ufeffphrase\nshort of breath\nqqqq\n")
    assert json.loads(run(file, "--json"))["recall"] == {}
    said = run(file)
    assert "  1. Dyspnea (C0013404; Sign or Symptom)" in said
    assert "qqqq: nothing found" in said
    assert "among the first" not in said


def test_the_right_concept_is_marked_and_counted(tmp_path: Path) -> None:
    said = run(write(tmp_path, "phrase,cui\nemesis,C0042963\n"))
    assert "✓" in said
    assert "The right concept of 1 phrases: 100.0% among the first 1" in said


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "there is no column “phrase”"),
        ("word,cui\nx,\n", "line 1: there is no column “phrase”"),
        ("phrase\n", "there are no phrases in it"),
        ("phrase,cui\ncough,D1\n", "line 2: “D1” is no CUI"),
        ("phrase,cui\n,C0042963\n", "line 2: the phrase is empty"),
        ("phrase\n" + "x" * 2_000, "line 2: the phrase has more than 1,000 characters"),
        (b"phrase\ncaf\xe9\n", "it is not text in UTF-8"),
    ],
)
def test_a_bad_file_gets_one_sentence(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(CommandError) as error:
        run(file)
    assert str(error.value).startswith(file)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_vocabulary_or_number_gets_one_sentence(tmp_path: Path) -> None:
    file = write(tmp_path, "phrase\ncough\n")
    with pytest.raises(CommandError, match="there is no such file"):
        run(str(tmp_path / "none.csv"))
    with pytest.raises(CommandError, match="There is no vocabulary “other”"):
        run(file, "--vocabulary", "other")
    with pytest.raises(CommandError, match="--top is a number from 1 to 100"):
        run(file, "--top", "0")
