"""The dialogues that models are scored on."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest

from annotation.domain.dataset import DatasetError
from annotation.domain.evaluation_gold import doctor_turns, known_turns, parse_dataset, patient_turns
from annotation.domain.text_decoding import UnreadableFile
from tests.evaluating import dataset, doctor, patient


def test_the_patient_is_understood_turn_by_turn() -> None:
    (dialogue,) = patient_turns(dataset())
    assert [turn.key for turn in dialogue.turns] == [("7", 1), ("7", 3), ("7", 5), ("7", 7)]
    assert [len(turn.tuples) for turn in dialogue.turns] == [4, 2, 1, 0]
    assert [turn.scored for turn in dialogue.turns] == [True, True, True, False]


def test_the_doctor_is_predicted_after_the_opening_and_the_control_turn_never() -> None:
    (dialogue,) = doctor_turns(dataset())
    assert [turn.key for turn in dialogue.turns] == [("7", 2), ("7", 4), ("7", 6)]
    assert ("7", 0) in dialogue.other_turns
    assert ("7", 8) in dialogue.other_turns
    assert known_turns([dialogue])["7", 2] is True
    assert known_turns([dialogue])["7", 8] is False


def test_a_doctor_who_speaks_after_the_patient_is_predicted_from_the_first_word() -> None:
    turns = [patient(0, "Hello."), doctor(1, "Hello.", {"action": "nod_prompt_salutations"})]
    (dialogue,) = doctor_turns({"8": {"utterances": turns}})
    assert [turn.key for turn in dialogue.turns] == [("8", 1)]


@pytest.mark.parametrize("nlu", [[], [{"intent": "inform"}], [{"intent": "inform", "slots": {}}]])
def test_a_turn_that_informs_about_nothing_is_not_scored(nlu: list[Any]) -> None:
    (dialogue,) = patient_turns({"8": {"utterances": [patient(0, "Mm.", *nlu)]}})
    assert not dialogue.turns[0].scored


@pytest.mark.parametrize("actions", [[], [{"action": "inquire"}]])
def test_neither_is_one_that_inquires_about_nothing(actions: list[Any]) -> None:
    (dialogue,) = doctor_turns({"8": {"utterances": [patient(0, "Mm."), doctor(1, "So?", *actions)]}})
    assert not dialogue.turns[0].scored


def test_a_patient_who_asks_and_a_doctor_who_informs_are_scored() -> None:
    turns = [patient(0, "Why?", {"intent": "inquire"}), doctor(1, "So.", {"action": "inform"})]
    gold = {"8": {"utterances": turns}}
    assert [one.turns[0].scored for one in (*patient_turns(gold), *doctor_turns(gold))] == [True, True]


def test_a_turn_without_number_has_that_of_its_place() -> None:
    turn = {"speaker": "patient", "text": "x", "nlu": []}
    (dialogue,) = patient_turns({"8": {"utterances": [turn, turn]}})
    assert [one.key for one in dialogue.turns] == [("8", 0), ("8", 1)]


def test_states_are_not_even_kept_while_reading() -> None:
    state = {"positive_symptom": [{"value": f"symptom {n}"} for n in range(500)]}
    text = json.dumps({"8": {"utterances": [{**patient(n, "x"), "dialog_state": state} for n in range(200)]}})
    tracemalloc.start()
    found = parse_dataset(text, "big.json")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "dialog_state" not in found["8"]["utterances"][0]
    assert peak < len(text) / 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "one dialogue under each id"),
        ("{}", "one dialogue under each id"),
        ('{"7": 1}', "no list “utterances”"),
        ('{"7": {"utterances": [1]}}', "turn 0: it is no object"),
        ('{"7": {"utterances": [{"uttr_id": "a"}]}}', "whole “uttr_id”"),
        ('{"7": {"utterances": []}, "7": {"utterances": []}}', '"7" twice'),
        ('{"7": {"utterances": [{"uttr_id": 1}, {"uttr_id": 1}]}}', "uttr_id 1 twice"),
        ('{"7": {"utterances": [{"speaker": "patient", "nlu": "x"}]}}', 'dialogue "7", turn 0: "nlu" is no list'),
    ],
)
def test_something_that_is_no_dataset_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(DatasetError, match=words):
        patient_turns(parse_dataset(text, "x.json"))


@pytest.mark.parametrize(("text", "words"), [('{"7": ', "breaks off"), ("{'7': 1}", "damaged"), ("[" * 9999, "nested")])
def test_broken_json_is_said_as_everywhere(text: str, words: str) -> None:
    with pytest.raises(UnreadableFile, match=words):
        parse_dataset(text, "x.json")
