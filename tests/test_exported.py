"""Pieces of files, and names of files."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from typing import Any

import pytest

from annotation.domain.export_portal import portal_pieces
from annotation.domain.export_utterances import CSV_HEADER, csv_cells, csv_pieces, csv_text
from annotation.domain.exported import ONE_PIECE, Assembly, Container, Exported, Piece
from annotation.domain.file_names import MAX_NAME_BYTES, file_stem, file_stems

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
    [
        ("RES0001", "RES0001"),
        ("心 1", "心 1"),
        ("a:b", "a%3Ab"),
        (".a", "%2Ea"),
        ("a.", "a%2E"),
        ("a%3Ab", "a%253Ab"),
        ("con", "%63on"),
        ("CON", "%43ON"),
        ("Lpt1.x", "%4Cpt1.x"),
        ("nul ", "nul%20"),
        ("cone", "cone"),
    ],
)
def test_an_id_becomes_a_name_that_every_system_takes(given: str, stem: str) -> None:
    assert file_stem(given) == stem


def test_long_ids_become_short_names_that_differ() -> None:
    one, other = file_stem("心" * 99 + "1"), file_stem("心" * 99 + "2")
    assert one != other
    assert len(one.encode()) <= MAX_NAME_BYTES + 50


TWINS = [
    "A",
    "a",
    "b",
    "caf\u00e9",
    "cafe\u0301",
    "STRASSE",
    "straße",
    "K",
    "\u212a",
    "i",
    "\u0131",
    "con",
    "心:1",
    "x" * 200,
]


def test_no_two_ids_have_names_that_some_system_takes_for_one() -> None:
    stems = file_stems(TWINS)
    for form in ("NFC", "NFD", "NFKC"):
        folded = {unicodedata.normalize(form, unicodedata.normalize(form, stem).casefold()) for stem in stems.values()}
        assert len(folded) == len(TWINS)
        assert len({unicodedata.normalize(form, stem).upper() for stem in stems.values()}) == len(TWINS)
    assert file_stems(reversed(TWINS)) == stems
    assert {one for one in TWINS if stems[one] == one} == {"b"}  # the others are alike, reserved, unsafe or long
    assert file_stems(["RES0001", "res-2", "心"]) == {"RES0001": "RES0001", "res-2": "res-2", "心": "心"}
    # Nobody can choose an id that is called as another one is for being like a third.
    assert len(set(file_stems([*TWINS, *stems.values()]).values())) == len({*TWINS, *stems.values()})


def test_a_dialogues_own_files_are_called_by_its_stem() -> None:
    twins = [Exported(one, "train", [], stem=stem) for one, stem in file_stems(["A", "a"]).items()]
    paths = [piece.path for item in [*twins, Exported("B", "train", [])] for piece in portal_pieces(item)]
    assert len({path.casefold() for path in paths}) == 6
    assert paths[-1] == "portal/B.labels.json"


@pytest.mark.parametrize("text", ["a\rb", "a\nb", "a\r\nb", "\r", '"\r,', "a,b", " a ", "\u2028", "", "=1", "a\x00b"])
def test_a_cell_reads_back_as_it_was_whatever_is_in_it(text: str) -> None:
    rows = [["1", text, "2"], ["3", "x", text]]
    written = csv_text(rows)
    assert list(csv.reader(io.StringIO(written, newline=""))) == rows
    assert csv_cells(written) == rows
    assert written.endswith("\n")
    plain = io.StringIO()
    csv.writer(plain, lineterminator="\n").writerows(rows)
    assert ("\r" in text) or written == plain.getvalue()


def test_a_text_with_a_carriage_return_is_one_cell_of_the_table() -> None:
    turn = {"speaker": "doctor", "uttr_id": 0, "text": "One\rtwo", "keywords": [], "actions": []}
    (piece,) = csv_pieces(Exported("A", "train", [turn]))
    header, row = csv_cells(piece.container.opening + piece.text)
    assert (tuple(header), row[4], len(row)) == (CSV_HEADER, "One\rtwo", len(CSV_HEADER))


def test_a_cell_may_be_longer_than_readers_usually_take() -> None:
    rows = [["x" * 200_000]]
    usual = csv.field_size_limit()
    assert csv_cells(csv_text(rows)) == rows
    assert csv.field_size_limit() == usual
