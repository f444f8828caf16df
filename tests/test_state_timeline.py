"""Two patient states side by side."""

from __future__ import annotations

import json

import pytest

from annotation.domain.state_timeline import Mark, state_timeline
from tests.agreeing import CMAS, by_labels, inform


def test_the_first_turn_that_differs_is_the_cause_and_later_ones_follow() -> None:
    a = by_labels(inform(1, "symptom", "cough", status="yes"), inform(3, "symptom", "fever", status="yes"))
    b = by_labels(inform(1, "symptom", "cough", status="no"), inform(3, "symptom", "fever", status="yes"))
    found = state_timeline(CMAS, a, b)
    assert [turn.position for turn in found] == [1, 3, 5]
    assert [[(row.value, row.mark, row.cause) for row in turn.rows] for turn in found] == [
        [("cough", Mark.CAUSE, 1)],
        [("cough", Mark.FOLLOWS, 1), ("fever", Mark.EQUAL, None)],
        [("cough", Mark.FOLLOWS, 1), ("fever", Mark.EQUAL, None)],
    ]
    assert [turn.equal for turn in found] == [False, False, False]
    assert [len(turn.causes) for turn in found] == [1, 0, 0]


def test_an_entry_that_became_equal_again_has_a_new_cause() -> None:
    a = by_labels(inform(1, "habit", "tea", status="yes"), inform(3, "habit", "tea", status="no"))
    b = by_labels(
        inform(1, "habit", "tea", status="no"),
        inform(3, "habit", "tea", status="no"),
        inform(5, "habit", "tea", status="yes"),
    )
    rows = [turn.rows[0] for turn in state_timeline(CMAS, a, b)]
    assert [(row.mark, row.cause) for row in rows] == [(Mark.CAUSE, 1), (Mark.EQUAL, None), (Mark.CAUSE, 5)]


def test_a_second_difference_of_the_same_entry_still_follows_from_the_first() -> None:
    a = by_labels(inform(1, "symptom", "cough", status="yes"), inform(3, "symptom", "cough", status="yes", onset="now"))
    b = by_labels(inform(1, "symptom", "cough", status="no"), inform(3, "symptom", "cough", status="no", onset="then"))
    rows = [turn.rows[0] for turn in state_timeline(CMAS, a, b)]
    assert [(row.mark, row.cause, row.set_here) for row in rows] == [
        (Mark.CAUSE, 1, True),
        (Mark.FOLLOWS, 1, True),
        (Mark.FOLLOWS, 1, False),
    ]


def test_an_entry_that_only_one_state_has_stands_against_nothing() -> None:
    a = by_labels(inform(1, "symptom", "cough", status="yes", onset="today"))
    (row,) = state_timeline(CMAS, a, by_labels())[0].rows
    assert row.b is None
    assert row.a is not None
    assert (row.a.status, row.a.attributes) == ("yes", (("onset", "today"),))
    assert json.loads(json.dumps(row.as_json()))["a"] == {"status": "yes", "attributes": {"onset": "today"}}


def test_only_the_positions_asked_for_are_replayed() -> None:
    a = by_labels(inform(1, "symptom", "cough", status="yes"), inform(3, "symptom", "fever", status="yes"))
    found = state_timeline(CMAS, a, by_labels(inform(3, "symptom", "fever", status="yes")), positions={3, 5})
    assert [(turn.position, turn.equal) for turn in found] == [(3, True), (5, True)]


def test_readings_of_different_dialogues_are_refused() -> None:
    with pytest.raises(ValueError, match="same utterances"):
        state_timeline(CMAS, by_labels(), by_labels(marks="DP"))
