"""Policy: the same figures for actions, and Precision@K, against figures worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.domain.comparators import Exact
from annotation.domain.evaluation_gold import doctor_turns
from annotation.domain.metrics_pol import score_pol
from annotation.domain.unrolling import unroll_actions
from tests.evaluating import Json, dataset, doctor, edited_actions, line, own_predictions, patient, predicted


def scored(lines: list[Json], gold: dict[str, Any] | None = None) -> dict[str, Any]:
    turns = doctor_turns(gold or dataset())
    return score_pol(turns, predicted(lines, unroll_actions, "actions"), Exact()).as_json()


def asks(*values: str) -> Json:
    return {"action": "inquire", "symptom": [{"value": value} for value in values]}


def at_k(found: dict[str, Any]) -> dict[str, tuple[int, int]]:
    return {name: (one["hits"], one["predicted"]) for name, one in found["precision_at"].items()}


def test_gold_against_itself_scores_1() -> None:
    found = scored(own_predictions(dataset(), "doctor", "actions"))
    assert found["overall"] == found["medical"] == {"precision": 1, "recall": 1, "f1": 1}
    assert found["counts"]["overall"]["matched"] == 9
    assert {name: one["precision"] for name, one in found["precision_at"].items()} == {"1": 1, "4": 1, "8": 1, "inf": 1}


def test_known_edits_score_what_was_worked_out_by_hand() -> None:
    """The diagnosis alone is in its place. The pain, its location and the chest come one turn early, the cough one turn
    late; chit-chat, and what is asked of the cough, is missed."""
    found = scored(edited_actions())
    assert found["counts"]["medical"] == {"matched": 1, "missed": 7, "wrong": 4}
    assert found["counts"]["non_medical"] == {"matched": 0, "missed": 1, "wrong": 0}
    assert found["overall"] == {"precision": 1 / 5, "recall": pytest.approx(1 / 9), "f1": pytest.approx(1 / 7)}
    assert at_k(found) == {"1": (1, 5), "4": (4, 5), "8": (4, 5), "inf": (4, 5)}
    assert found["precision_at"]["4"]["precision"] == 0.8


def test_the_window_of_k_turns_begins_with_the_turn_itself() -> None:
    """Ten turns of the doctor ask s0 … s9; at the first one, things are predicted that come 0, 3, 4, 7 and 8 later."""
    turns = [patient(0, "Hello.")]
    turns += [doctor(n + 1, "?", asks(f"s{n}")) for n in range(10)]
    found = scored([line(1, actions=[asks("s0", "s3", "s4", "s7", "s8", "never")])], {"7": {"utterances": turns}})
    assert at_k(found) == {"1": (1, 6), "4": (2, 6), "8": (4, 6), "inf": (5, 6)}


def test_the_example_of_the_document() -> None:
    turns = [
        patient(0, "Hello."),
        *(doctor(n, "?", asks(one)) for n, one in enumerate(["cough", "chest pain", "fever"], 1)),
    ]
    found = scored([line(1, actions=[asks("chest pain", "weight loss")])], {"7": {"utterances": turns}})
    assert at_k(found) == {"1": (0, 2), "4": (1, 2), "8": (1, 2), "inf": (1, 2)}


def test_what_is_asked_twice_counts_where_it_comes_first() -> None:
    turns = [patient(0, "Hello."), *(doctor(n, "?", asks("s0")) for n in range(1, 10))]
    found = scored([line(1, actions=[asks("s0")])], {"7": {"utterances": turns}})
    assert at_k(found) == {"1": (1, 1), "4": (1, 1), "8": (1, 1), "inf": (1, 1)}


def test_what_the_doctor_said_before_is_no_hit() -> None:
    turns = [patient(0, "Hello."), doctor(1, "?", asks("s0")), doctor(2, "?", asks("s1"))]
    assert at_k(scored([line(2, actions=[asks("s0")])], {"7": {"utterances": turns}}))["inf"] == (0, 1)


def test_windows_end_with_the_dialogue() -> None:
    one = [patient(0, "Hello."), doctor(1, "?", asks("s0"))]
    two = [patient(0, "Hello."), doctor(1, "?", asks("s1"))]
    gold = {"7": {"utterances": one}, "8": {"utterances": two}}
    assert at_k(scored([line(1, actions=[asks("s1")])], gold))["inf"] == (0, 1)


def test_only_medical_tuples_that_name_a_slot_are_looked_for() -> None:
    checks = [{"type": "onset", "values": ["today"]}]
    action = {"action": "inquire", "symptom": [{"value": "s0", "checks": checks}]}
    turns = [patient(0, "Hello."), doctor(1, "?", action, {"action": "chit-chat"})]
    found = scored([line(1, actions=[action, {"action": "chit-chat"}])], {"7": {"utterances": turns}})
    assert at_k(found)["1"] == (2, 2)  # the value, and that its onset is asked about
    assert found["counts"]["overall"]["matched"] == 4


def test_without_any_prediction_the_precision_is_undefined() -> None:
    assert scored([])["precision_at"]["1"]["precision"] is None


def test_an_inquiry_about_nothing_is_not_scored_but_is_a_turn_of_the_window() -> None:
    bare = {"action": "inquire"}
    turns = [patient(0, "Hello."), *(doctor(n, "?", bare) for n in range(1, 5)), doctor(5, "?", asks("s0"))]
    gold = {"7": {"utterances": [turns[0], doctor(1, "?", asks("s1")), *turns[2:]]}}
    found = scored([line(1, actions=[asks("s0")]), line(2, actions=[asks("wrong")])], gold)
    assert at_k(found) == {"1": (0, 1), "4": (0, 1), "8": (1, 1), "inf": (1, 1)}
    assert found["utterances"] == {"scored": 2, "left_out": 3}
    assert found["counts"]["overall"]["wrong"] == 1


def test_the_interval_of_precision_at_k_is_over_dialogues() -> None:
    gold = {str(n): {"utterances": [patient(0, "Hello."), doctor(1, "?", asks("s0"))]} for n in range(20)}
    lines = [line(1, str(n), actions=[asks("s0" if n % 2 else "s1")]) for n in range(20)]
    ends = scored(lines, gold)["precision_at"]["1"]["interval"]["interval"]
    assert ends["method"] == "bootstrap"
    assert ends["low"] == pytest.approx(0.28, abs=0.05)


def test_a_malformed_prediction_is_no_hit_in_any_window() -> None:
    gold = doctor_turns(dataset())
    given = predicted(edited_actions(), unroll_actions, "actions")
    given.by_turn["7", 4] = None
    found = score_pol(gold, given, Exact()).as_json()
    assert found["counts"]["by_slot"]["(malformed)"]["wrong"] == 1
    assert at_k(found) == {"1": (1, 5), "4": (4, 5), "8": (4, 5), "inf": (4, 5)}
    given.by_turn["7", 0] = None  # the opening is not predicted
    assert score_pol(gold, given, Exact()).as_json() == found
