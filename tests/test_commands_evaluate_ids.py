"""The commands that score predictions, limited to some dialogues of the gold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from annotation.models import Project
from tests.conftest import People
from tests.evaluating import dataset, edited_nlu, line, own_predictions, write_lines
from tests.exporting import make_gold_project, write
from tests.test_commands_evaluate import TASKS, evaluated
from tests.test_commands_files import run, run_json


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "dialogs.json"
    path.write_text(json.dumps(dataset()), encoding="utf-8")
    return path


def two_dialogues(gold: Path) -> Path:
    whole = {**dataset(), "8": dataset()["7"]}
    gold.write_text(json.dumps(whole), encoding="utf-8")
    return gold


def test_a_file_for_one_split_is_scored_on_that_split(gold: Path, tmp_path: Path) -> None:
    two_dialogues(gold)
    lines = own_predictions(dataset(), "patient", "nlu")
    whole = evaluated("evaluate_nlu", gold, lines)
    assert whole["overall"]["recall"] == 0.5
    assert whole["dialogues"] == {"scored": 2, "without_prediction": 1}
    (tmp_path / "test_ids.json").write_text('["7"]')
    (tmp_path / "more_ids.json").write_text("[8]")
    for words in (["--ids", str(tmp_path / "test_ids.json")], ["--dialogues", " 7, "]):
        for command, speaker, key in TASKS:
            found = evaluated(command, gold, own_predictions(dataset(), speaker, key), *words)
            assert found["dialogues"] == {"scored": 1, "without_prediction": 0}
            assert found.get("rouge_l", found.get("overall")) in (1, {"precision": 1, "recall": 1, "f1": 1})
            assert found["predictions"]["missing"] == 0
    both = ["--ids", str(tmp_path / "test_ids.json"), "--ids", str(tmp_path / "more_ids.json")]
    assert evaluated("evaluate_nlu", gold, lines, *both)["overall"] == whole["overall"]
    other = evaluated("evaluate_nlu", gold, [*lines, line(1, "8", nlu=[])], "--dialogues", "8")
    assert other["predictions"] | {"turns": 4, "lines": 5} == {
        "lines": 5,
        "turns": 4,
        "predicted": 1,
        "missing": 3,
        "malformed": 0,
        "malformed_share": 0,
        "repeated": 0,
        "unknown": 0,
        "not_scored": 4,
    }


def test_dialogues_without_any_prediction_are_said_in_words(gold: Path) -> None:
    two_dialogues(gold)
    pred = write_lines(gold.parent / "pred.jsonl", own_predictions(dataset(), "patient", "nlu"))
    text = run("evaluate_nlu", "--gold", str(gold), "--pred", str(pred))
    assert "1 of 2 dialogues has no prediction at all; what they say counts as missed. --ids or --dialogues" in text
    text = run("evaluate_nlu", "--gold", str(gold), "--pred", str(pred), "--dialogues", "7")
    assert "no prediction at all" not in text


@pytest.mark.parametrize(
    ("ids", "words", "sentence"),
    [
        ('["7", "x", "y"]', [], 'ids.json names "x" and 1 more, which dialogs.json does not have.'),
        ("[]", [], "ids.json: It is an empty list of ids"),
        ('{"7": 1}', [], "ids.json: It is no list of ids of dialogues"),
        ("[true]", [], "ids.json: It is no list of ids of dialogues"),
        ("[[" * 100_000, [], "ids.json, line 1: The JSON is nested too deeply"),
        ('["7"', [], "ids.json, line 1: The JSON breaks off"),
        (None, ["--dialogues", "x"], '--dialogues names "x", which dialogs.json does not have.'),
        (None, ["--ids", "nowhere.json"], "nowhere.json: No such file"),
    ],
)
def test_ids_that_name_no_dialogue_of_the_gold_are_refused(
    gold: Path, tmp_path: Path, ids: str | None, words: list[str], sentence: str
) -> None:
    if ids is not None:
        (tmp_path / "ids.json").write_text(ids)
        words = ["--ids", str(tmp_path / "ids.json")]
    with pytest.raises(CommandError) as error:
        evaluated("evaluate_nlu", gold, edited_nlu(), *words)
    assert sentence in str(error.value)


def test_the_ids_of_an_export_s_splits_are_taken(project: Project, people: People, tmp_path: Path) -> None:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    out = tmp_path / "out"
    write(project, out)
    named = ["--gold", str(out / "dialogs.json"), "--pred", str(out / "utterances.jsonl")]
    counts = {
        split: run_json("evaluate_nlu", *named, "--ids", str(out / f"{split}_ids.json"))["dialogues"]["scored"]
        for split in ("train", "test", "ood_test")
    }
    stated = json.loads((out / "manifest.json").read_text())["splits"]["dialogues"]
    assert counts == {split: stated[split] for split in counts}
