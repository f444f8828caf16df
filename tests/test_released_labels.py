"""Labels of the released form come back where nothing of them is lost; else they are left out and named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.domain.dataset_writing import dialogue_to_dataset
from annotation.domain.labels import Reading, Utterance
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.released_labels import NO_STATES, labels_of_released
from annotation.domain.unusual import checked_import
from annotation.questionnaires import get_questionnaire
from tests.exporting import ODD_LABELS, ODD_TURNS
from tests.factory import inform, inquire


@pytest.fixture
def cmas() -> Questionnaire:
    return get_questionnaire("cmas")


def written(cmas: Questionnaire, turns: Any, labels: Any) -> list[dict[str, Any]]:
    spoken = tuple(Utterance(position, speaker, text) for position, (speaker, text) in enumerate(turns))
    found = dialogue_to_dataset(cmas, Reading("A", spoken).with_labels(labels))["utterances"]
    plain: list[dict[str, Any]] = json.loads(json.dumps(found))
    return plain


def test_every_released_turn_comes_back(cmas: Questionnaire, real_data: Path) -> None:
    dialogs = json.loads((real_data / "meditod/dialogs.json").read_text(encoding="utf-8"))
    for name, dialogue in dialogs.items():
        turns = dialogue["utterances"]
        labels, lost = labels_of_released(cmas, name, turns)
        assert lost == []
        assert len(labels) > 100
        assert [label.rank for label in labels] == list(range(len(labels)))
        spoken = [(turn["speaker"], turn["text"]) for turn in turns]
        again = written(cmas, spoken, labels)
        assert [turn.get("nlu", turn.get("actions")) for turn in again] == [
            turn.get("nlu", turn.get("actions")) for turn in turns
        ]


def test_what_the_portal_writes_comes_back(cmas: Questionnaire) -> None:
    stored = [checked_import(cmas, label, ODD_TURNS[label.position][0])[0] for label in ODD_LABELS]
    turns = written(cmas, ODD_TURNS, stored)
    labels, lost = labels_of_released(cmas, "A", turns)
    assert lost == []
    assert written(cmas, ODD_TURNS, labels) == turns


SPOKEN = [("doctor", "Cough?"), ("patient", "Yes, badly."), ("doctor", "Since when?")]
SAID = [
    inquire(0, "symptom", "cough"),
    inform(1, "symptom", "cough", status="yes"),
    inquire(2, "symptom", "cough", checks=["onset"]),
]
BAD = [
    (1, {"nlu": [{"intent": "inform", "slots": {"positive_mood": [{"value": "low"}]}}]}, "cannot be said in labels"),
    (1, {"nlu": [{"intent": "inform", "slots": {"positive_symptom": [{"value": 3}]}}]}, "cannot be said"),
    (1, {"nlu": [{"intent": "inform", "slots": {"positive_symptom": [{"value": "a", "pet": "b"}]}}]}, "pet"),
    (1, {"nlu": [{"intent": "inform", "slots": {"positive_symptom": "cough"}}]}, "cannot be said"),
    (1, {"nlu": [{"intent": "inform", "slots": []}]}, "cannot be said"),
    (1, {"nlu": [{}]}, "There is no intent “”"),
    (1, {"nlu": ["inform"]}, "cannot be said"),
    (1, {"nlu": {}}, "it is no list"),
    (1, {"nlu": None}, "it is no list"),
    (1, {"nlu": [{"intent": "x" * 100}]}, "There is no intent"),
    (1, {"nlu": [{"intent": "other", "name": "n" * 201}]}, "has more than 200 characters"),
    (1, {"nlu": [], "actions": [{"action": "inform"}]}, "A turn of the patient has “actions”"),
    (2, {"actions": [{"action": "inquire", "symptom": [{"value": "x", "checks": [{"type": "pet"}]}]}]}, "pet"),
    (2, {"actions": [{"action": "inquire", "symptom": [{"value": "x", "checks": "onset"}]}]}, "cannot be said"),
    (2, {"actions": [{"action": "inquire", "symptom": {"value": "x"}}]}, "cannot be said"),
    (2, {"actions": [{"action": "hum"}]}, "There is no intent “hum”"),
    (2, {"actions": [], "nlu": [{"intent": "inform"}]}, "A turn of the doctor has “nlu”"),
]


@pytest.mark.parametrize(("turn", "said", "reason"), BAD)
def test_what_would_be_changed_is_left_out_and_named(
    cmas: Questionnaire, turn: int, said: dict[str, Any], reason: str
) -> None:
    turns = written(cmas, SPOKEN, SAID)
    turns[turn] |= said
    labels, lost = labels_of_released(cmas, "A", turns)
    assert [label.position for label in labels] == [place for place in range(3) if place != turn]
    named = [one for one in lost if "dialog_state" not in one.message]
    assert [one.turn for one in named] == [turn]
    assert reason in named[0].message


def test_two_intents_with_one_name_come_back_as_what_they_are_written_as(cmas: Questionnaire) -> None:
    turns = written(cmas, SPOKEN, [])
    turns[1]["nlu"] = [{"intent": "nod_prompt_salutations"}, {"intent": "chit-chat"}]
    labels, lost = labels_of_released(cmas, "A", turns)
    assert lost == []
    assert [label.intent for label in labels] == ["nod_prompt", "chit-chat"]


def test_a_state_that_does_not_follow_is_named_and_its_labels_are_kept(cmas: Questionnaire) -> None:
    turns = written(cmas, SPOKEN, SAID)
    turns[1]["dialog_state"] = {"negative_symptom": [{"value": "cough"}]}
    labels, lost = labels_of_released(cmas, "A", turns)
    assert len(labels) == 3
    assert {one.turn for one in lost} == {1}
    assert all("“dialog_state” is another than follows" in one.message for one in lost)


def test_states_that_are_not_stated_are_said_once(cmas: Questionnaire) -> None:
    turns = written(cmas, [*SPOKEN, ("patient", "Days.")], [*SAID, inform(3, "symptom", "fever", status="yes")])
    for turn in turns:
        turn.pop("dialog_state", None)
    labels, lost = labels_of_released(cmas, "A", turns)
    assert len(labels) == 4
    assert [(one.turn, one.message) for one in lost] == [(None, NO_STATES)]
    turns[1]["dialog_state"] = None
    _, lost = labels_of_released(cmas, "A", turns)
    assert [one.turn for one in lost] == [None, 1]
    assert "is another than follows" in lost[1].message


def test_a_key_that_has_no_place_is_named(cmas: Questionnaire) -> None:
    turns = written(cmas, SPOKEN, SAID)
    turns[0]["mood"] = "calm"
    labels, lost = labels_of_released(cmas, "A", turns)
    assert len(labels) == 3
    assert [(one.turn, one.message) for one in lost] == [(0, "“mood” has no place in the portal.")]
