"""A whole dataset, or an export's own lines, where predictions are taken."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from annotation.domain import prediction_files
from annotation.domain.evaluation_gold import known_turns, patient_turns
from annotation.domain.prediction_files import utterance_lines
from annotation.domain.predictions import Predictions, WrongFile, read_predictions
from annotation.domain.unrolling import Unrolled, unroll_nlu
from tests.evaluating import dataset, own_predictions


def lines_of(data: bytes) -> list[Any]:
    found = utterance_lines(io.BytesIO(data), "dialogs.json")
    return [raw if raw is None else json.loads(raw) for raw in found]


def read(data: bytes) -> Predictions[frozenset[Unrolled]]:
    known = known_turns(patient_turns(dataset()))
    lines = utterance_lines(io.BytesIO(data), "dialogs.json")
    return read_predictions(lines, "nlu", lambda given: frozenset(unroll_nlu(given)), known, "dialogs.json")


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_dataset_is_read_as_lines_whose_other_speaker_is_passed_over(indent: int | None, mark: bytes) -> None:
    found = read(mark + json.dumps(dataset(), indent=indent).encode())
    gold = {turn.key: turn.tuples for one in patient_turns(dataset()) for turn in one.turns}
    assert found.by_turn == gold
    assert found.summary(len(gold)) | {"problems": found.problems} == {
        "lines": 9,
        "turns": 4,
        "predicted": 4,
        "missing": 0,
        "malformed": 0,
        "malformed_share": 0.0,
        "repeated": 0,
        "unknown": 0,
        "not_scored": 5,
        "problems": [],
    }


def test_what_is_wrong_in_a_dataset_is_listed_by_the_number_of_its_utterance() -> None:
    whole = dataset()
    whole["7"]["utterances"][3]["nlu"] = "cough"
    whole["8"] = {"utterances": [whole["7"]["utterances"][1], "no object"]}
    found = read(json.dumps(whole).encode())
    assert [(str(one.kind), one.line) for one in found.problems] == [
        ("malformed", 4),
        ("unknown", 10),
        ("malformed", 11),
    ]


def test_an_utterance_without_a_number_has_its_place_and_no_state_is_handed_on() -> None:
    turns = [{"speaker": "doctor", "text": "a"}, {"speaker": "patient", "nlu": [], "dialog_state": {"x": []}}]
    assert lines_of(json.dumps({"7": {"utterances": turns}}).encode()) == [
        {"uttr_id": 0, "speaker": "doctor", "text": "a", "dialogue_id": "7"},
        {"uttr_id": 1, "speaker": "patient", "nlu": [], "dialogue_id": "7"},
    ]


def test_lines_that_begin_like_a_dataset_stay_lines() -> None:
    """A model may put anything first, and break off anywhere."""
    raw = [b'{"meta": {"model": "m"}, "dialogue_id": "7", "uttr_id": 1, "nlu": []}', b'{"utterances": {"7": ', b"{}"]
    assert list(utterance_lines(io.BytesIO(b"\n".join(raw)), "pred.jsonl")) == [raw[0] + b"\n", raw[1] + b"\n", raw[2]]


def test_the_dialogue_may_stand_under_id_as_in_an_export_s_lines() -> None:
    rows = [{"id": "7", "split": "test", **turn} for turn in dataset()["7"]["utterances"]]
    found = read("\n".join(map(json.dumps, rows)).encode())
    assert found.by_turn == read(json.dumps(dataset()).encode()).by_turn
    both = {**own_predictions(dataset(), "patient", "nlu")[0], "id": "row 1"}
    assert list(read(json.dumps(both).encode()).by_turn) == [("7", 1)], "a line's own number is not the dialogue"
    nameless = {**both, "dialogue_id": None}
    found = read("\n".join(map(json.dumps, [nameless, both])).encode())
    assert "“dialogue_id” (or “id”)" in found.problems[0].message


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"7": {"utterances": [', "dialogs.json, line 1: The JSON breaks off here"),
        (b'{"7": {"utterances": []}, "8": 1}', "dialogs.json: dialogue .8. has no list “utterances”"),
        (b'{"7": {"utterances": []}, "7": {"utterances": []}}', "It gives .7. twice"),
        (b'{"7": {"utterances": [' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_dataset_that_cannot_be_read_is_refused_in_one_sentence(data: bytes, said: str) -> None:
    with pytest.raises(WrongFile, match=said):
        list(utterance_lines(io.BytesIO(data), "dialogs.json"))


def test_a_dataset_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    data = json.dumps(dataset()).encode()
    monkeypatch.setattr(prediction_files, "MOST_CONTAINERS", 10)
    with pytest.raises(WrongFile, match="more than 10 objects and lists; send it as JSON lines"):
        lines_of(data)
    monkeypatch.setattr(prediction_files, "LARGEST_DATASET", len(data) - 1)
    with pytest.raises(WrongFile, match="send it as JSON lines"):
        lines_of(data)
