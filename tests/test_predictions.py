"""Lines of predictions: read one by one, what is wrong with them kept and counted."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from annotation.domain.predictions import (
    LONGEST_LINE,
    LONGEST_TEXT,
    LONGEST_VALUE,
    LOOKED_AT,
    MOST_LISTED,
    Predictions,
    ProblemKind,
    WrongFile,
    bounded_lines,
    read_predictions,
    require_key,
    text_prediction,
)
from annotation.domain.unrolling import unroll_nlu
from tests.evaluating import line

KNOWN = {("7", 1): True, ("7", 3): True, ("7", 5): True, ("7", 0): False}


def read(*lines: Any, key: str = "text") -> Predictions[str]:
    raw = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in lines]
    return read_predictions(bounded_lines(io.BytesIO(b"\n".join(raw))), key, text_prediction, KNOWN, "pred.jsonl")


def problems(found: Predictions[str]) -> list[tuple[str, int]]:
    return [(str(one.kind), one.line) for one in found.problems]


def test_lines_in_any_order_are_taken_and_what_is_missing_is_counted() -> None:
    found = read(line(5, text="Yes."), line(1, text="No."))
    assert found.by_turn == {("7", 5): "Yes.", ("7", 1): "No."}
    assert found.summary(3) | {"problems": found.problems} == {
        "lines": 2,
        "turns": 3,
        "predicted": 2,
        "missing": 1,
        "malformed": 0,
        "malformed_share": 0.0,
        "repeated": 0,
        "unknown": 0,
        "not_scored": 0,
        "problems": [],
    }


def test_numbers_may_be_texts_and_ids_numbers() -> None:
    assert list(read(line(1, text="a"), {"dialogue_id": 7, "uttr_id": "3", "text": "b"}).by_turn) == [
        ("7", 1),
        ("7", 3),
    ]


def test_a_mark_at_the_beginning_blank_lines_and_windows_line_ends_do_no_harm() -> None:
    raw = "\ufeff" + json.dumps(line(1, text="é")) + "\r\n\r\n" + json.dumps(line(3, text="x")) + "\r\n"
    found = read(raw.encode())
    assert found.by_turn == {("7", 1): "é", ("7", 3): "x"}
    assert found.lines == 2


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (b"{not json", "no JSON"),
        (b"[1]", "no JSON object"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[" * 100_000, "nested"),
        (b'{"dialogue_id": "7", "uttr_id": 3, "text": "\\ud83d"}', "half of a character"),
        (b'{"uttr_id": ' + b"9" * 5000 + b"}", "number that is too large (99999999999999999999…)"),
        (b'{"dialogue_id": "7", "uttr_id": ' + b"9" * 4000 + b"}", "number that is too large (99999999999999999999…)"),
        (b'{"dialogue_id": "7", "uttr_id": 3, "text": NaN}', "holds NaN, which is no JSON"),
        (b'{"dialogue_id": "7", "uttr_id": 3, "text": "x", "n": -Infinity}', "holds -Infinity, which is no JSON"),
        (b'{"dialogue_id": "7", "uttr_id": 3, "text": 1e999}', "number that is too large (1e999)"),
        (b'{"dialogue_id": "7", "uttr_id": 3, "text": "x", "text": "y"}', 'gives "text" twice'),
        (b'{"dialogue_id": "7", "uttr_id": 3, "more": {"a": 1, "a": 2}, "text": "x"}', 'gives "a" twice'),
        (line(3, text="x" * (LONGEST_TEXT + 1)), "more than 20,000 characters"),
        ({"uttr_id": 1, "text": "x"}, "dialogue_id"),
        ({"dialogue_id": "7", "uttr_id": True, "text": "x"}, "uttr_id"),
        (line(3), "no “text”"),
        (line(3, text=["x"]), "“text” is no text"),
        (b"x" * (LONGEST_LINE + 1), "longer than"),
    ],
)
def test_a_malformed_line_is_listed_with_its_number_and_reason(bad: Any, words: str) -> None:
    found = read(line(1, text="fine"), bad, line(5, text="fine"))
    assert problems(found) == [("malformed", 2)]
    assert words in found.problems[0].message
    assert found.summary(3)["malformed_share"] == 1 / 3
    assert set(found.by_turn) >= {("7", 1), ("7", 5)}
    assert found.by_turn.get(("7", 3)) is None


def test_a_character_written_in_two_halves_is_whole() -> None:
    assert read(b'{"dialogue_id": "7", "uttr_id": 3, "text": "\\ud83d\\ude00"}').by_turn == {("7", 3): "😀"}


def test_the_first_prediction_of_an_utterance_counts_even_when_it_is_malformed() -> None:
    found = read(line(1, text="first"), line(1, text="second"), line(3, text=1), line(3, text="late"))
    assert found.by_turn == {("7", 1): "first", ("7", 3): None}
    assert problems(found) == [("repeated", 2), ("malformed", 3), ("repeated", 4)]


def test_an_unknown_utterance_is_listed_and_one_of_another_task_counted() -> None:
    found = read(line(1, text="x"), line(99, text="x"), line(1, "8", text="x"), line(0, text="x"))
    assert problems(found) == [("unknown", 2), ("unknown", 3)]
    assert found.counts[ProblemKind.NOT_SCORED] == 1


def test_no_more_problems_are_kept_than_fit_while_all_are_counted() -> None:
    found = read(line(1, text="x"), *[b"{"] * (MOST_LISTED + 5))
    assert len(found.problems) == MOST_LISTED
    assert found.counts[ProblemKind.MALFORMED] == MOST_LISTED + 5


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "is empty"),
        ([b"\n\n"], "is empty"),
        ([line(1, nlu=[])], "holds “nlu”, not “text”; score it with evaluate_nlu"),
        ([[line(1, text="x")]], "no file of predictions"),
        ([b"once upon a time"], "no file of predictions"),
        ([line(1, "8", text="x"), line(0, text="x")], "none of its 2 lines predicts"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(lines: list[Any], words: str) -> None:
    with pytest.raises(WrongFile, match=words):
        read(*lines)


def test_a_model_that_never_keeps_to_the_form_is_scored_all_the_same() -> None:
    found = read(line(1, text=None), line(3, text=None))
    assert found.summary(3)["malformed_share"] == 1.0


@pytest.mark.parametrize(
    "raw",
    [
        b'{"dialogue_id": "7", "uttr_id": 3, "text": "Yes',
        b'{"id": 7, "uttr_id": "3", "text": NaN}',
        b'\xef\xbb\xbf {"dialogue_id":"\\u0037","uttr_id":3,"text":"\\ud800"}',
        b'{"dialogue_id": "7", "uttr_id": 3, "text": "\xff"}',
        b'{"dialogue_id": "7", "uttr_id": 3, "text": ' + b"[" * 100_000,
    ],
)
def test_a_line_that_breaks_off_after_its_ids_still_is_a_wrong_prediction_of_that_utterance(raw: bytes) -> None:
    found = read(line(1, text="fine"), raw)
    assert found.by_turn == {("7", 1): "fine", ("7", 3): None}
    assert problems(found) == [("malformed", 2)]
    assert found.summary(3)["missing"] == 1


@pytest.mark.parametrize(
    "raw",
    [
        b'{"dialogue_id": "7", "uttr_id": 33',  # who knows which number it was to be
        b'{"dialogue_id": "8", "uttr_id": 3, "text": NaN}',
        b'{"dialogue_id": "7", "uttr_id": 0, "text": NaN}',
        b'{"text": "x", "dialogue_id": "7", "uttr_id": 3, ',
    ],
)
def test_a_broken_line_that_names_no_utterance_of_the_task_is_only_counted(raw: bytes) -> None:
    found = read(line(1, text="fine"), raw)
    assert found.by_turn == {("7", 1): "fine"}
    assert problems(found) == [("malformed", 2)]


def test_a_broken_line_does_not_take_the_place_of_a_prediction_that_came_before() -> None:
    assert read(line(3, text="fine"), b'{"dialogue_id": "7", "uttr_id": 3, "text": ').by_turn == {("7", 3): "fine"}


@pytest.mark.parametrize("place", ["value", "intent", "slot", "attribute"])
def test_a_long_name_or_value_is_malformed_before_anything_is_composed(place: str) -> None:
    """160,000 marks took half a minute."""
    marks = "a" + "\u0301\u0323" * 80_000
    names = {"value": "x", "intent": "inform", "slot": "symptom", "attribute": "onset"} | {place: marks}
    nlu = [{"intent": names["intent"], "slots": {names["slot"]: [{names["attribute"]: names["value"]}]}}]
    raw = io.BytesIO(b"\n".join(json.dumps(one).encode() for one in (line(1, nlu=nlu), line(3, nlu=[]))))
    found = read_predictions(bounded_lines(raw), "nlu", unroll_nlu, KNOWN, "pred.jsonl")
    assert [one.message for one in found.problems] == [f"“nlu” holds a text of more than {LONGEST_VALUE:,} characters."]


def test_what_a_file_is_shows_in_its_first_lines() -> None:
    good = json.dumps(line(1, text="x")).encode() + b"\n"

    def looked(data: bytes) -> str:
        require_key(bounded_lines(stream := io.BytesIO(data)), "text", "pred.jsonl")
        return f"{stream.tell()}"

    assert looked(b"{}\n" * (LOOKED_AT - 1) + good * 1000) == str(3 * (LOOKED_AT - 1) + len(good))
    for junk in (b"1\n", b"{}\n", b"{bad\n"):
        with pytest.raises(WrongFile, match=f"none of its first {LOOKED_AT} lines has “text”"):
            looked(junk * 1_000_000 + good)
    with pytest.raises(WrongFile, match="is empty"):
        looked(b"\n" * 1_000_000)
