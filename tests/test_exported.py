"""Pieces of files, and names of files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotation.domain.exported import MAX_NAME_BYTES, ONE_PIECE, Assembly, Container, Exported, Piece, file_stem

LIST = Container("[", ",", "]")


def test_pieces_of_several_files_become_whole_files() -> None:
    assembly = Assembly()
    pieces = [Piece("a", "1", LIST), Piece("b", "x\n"), Piece("a", "2", LIST), Piece("c", "whole", ONE_PIECE)]
    files: dict[str, str] = {}
    for piece in pieces:
        files[piece.path] = files.get(piece.path, "") + assembly.text(piece)
    for path, ending in assembly.endings():
        files[path] += ending
    assert files == {"a": "[1,2]", "b": "x\n", "c": "whole"}


@pytest.mark.parametrize(
    "turn",
    [
        {"speaker": "doctor", "uttr_id": 0, "text": "“Où?”\u2028", "keywords": ["a|b"], "actions": []},
        {"speaker": "patient", "uttr_id": 1, "text": "x", "keywords": [], "dialog_state": {}, "nlu": [{"intent": "a"}]},
        {"speaker": "patient", "uttr_id": 1, "text": "x", "keywords": [], "nlu": [], "mood": None},
    ],
)
def test_a_turn_is_written_as_json_writes_it(turn: dict[str, Any]) -> None:
    (written,) = Exported("A", "train", [turn]).written
    assert written.whole == json.dumps(turn, ensure_ascii=False)
    assert written.labels == json.dumps(turn.get("nlu", turn.get("actions")), ensure_ascii=False)
    assert written.state == (json.dumps(turn["dialog_state"]) if "dialog_state" in turn else "")


@pytest.mark.parametrize(
    ("given", "stem"),
    [("RES0001", "RES0001"), ("心 1", "心 1"), ("a:b", "a%3Ab"), (".a", "%2Ea"), ("a.", "a%2E"), ("a%3Ab", "a%253Ab")],
)
def test_an_id_becomes_a_name_that_every_system_takes(given: str, stem: str) -> None:
    assert file_stem(given) == stem


def test_long_ids_become_short_names_that_differ() -> None:
    one, other = file_stem("心" * 99 + "1"), file_stem("心" * 99 + "2")
    assert one != other
    assert len(one.encode()) <= MAX_NAME_BYTES + 50
