"""The commands that score predictions take an export as it lies there: its folder, and the rows of `huggingface`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.models import Project
from tests.conftest import People
from tests.exporting import make_gold_project, write
from tests.test_commands_files import run_json

ROWS = "huggingface/test.jsonl"


@pytest.fixture
def folder(project: Project, people: People, tmp_path: Path) -> Path:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    write(project, tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.parametrize("command", ["evaluate_nlu", "evaluate_pol", "evaluate_nlg"])
def test_rows_of_hugging_face_are_predictions_of_every_task(folder: Path, command: str) -> None:
    words = ["--gold", str(folder), "--pred", str(folder / ROWS), "--ids", str(folder / "test_ids.json")]
    found = run_json(command, *words)
    assert found["predictions"]["malformed"] == found["predictions"]["missing"] == 0
    assert found["predictions"]["predicted"] > 0
    assert found.get("rouge_l", found.get("overall")) in (1, {"precision": 1, "recall": 1, "f1": 1})
    assert found == run_json(command, "--gold", str(folder / "dialogs.json"), *words[2:]), "the folder is its dataset"


@pytest.mark.parametrize("labels", ["[{", '[{"intent": "inform", "intent": "x"}]', '["\\ud800"]', "[1e999]"])
def test_labels_that_cannot_be_read_are_a_malformed_prediction(folder: Path, labels: str) -> None:
    rows = [json.loads(line) for line in (folder / ROWS).read_text(encoding="utf-8").splitlines()]
    whose = next(row for row in rows if row["speaker"] == "patient" and row["intents"])
    whose["annotation"] = labels
    pred = folder.parent / "pred.jsonl"
    pred.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    found = run_json("evaluate_nlu", "--gold", str(folder), "--pred", str(pred), "--ids", str(folder / "test_ids.json"))
    assert found["predictions"]["malformed"] == 1
    assert found["predictions"]["missing"] == 0, "the line says whose it is"


def test_folders_that_are_no_files_are_named(folder: Path) -> None:
    def refusal(**options: Any) -> str:
        with pytest.raises(CommandError) as refused:
            call_command("evaluate_nlu", **options)
        return str(refused.value)

    gold = str(folder / "dialogs.json")
    assert refusal(gold=str(folder / "huggingface"), pred=gold) == (
        "The folder huggingface has no dialogs.json; name the dataset's file."
    )
    assert refusal(gold=gold, pred=str(folder)) == (
        "out is a folder; --pred takes a file of it, such as utterances.jsonl."
    )
