"""Where the patient's words contradict each other."""

from __future__ import annotations

import pytest

from annotation.domain.consistency import Contradiction, contradictions
from annotation.domain.labels import Label, Reading, Utterance
from annotation.domain.mentions import mentions
from annotation.domain.state import track
from annotation.questionnaires import get_questionnaire
from tests.factory import inform

CMAS = get_questionnaire("cmas")
UTTERANCES = tuple(Utterance(position, "patient", "…") for position in range(12))


def found(*labels: Label) -> list[Contradiction]:
    reading = Reading("D", UTTERANCES).with_labels(labels)
    return contradictions(CMAS, track(mentions(CMAS, reading)))


def places(*labels: Label) -> list[tuple[int, int]]:
    return [(item.earlier, item.position) for item in found(*labels)]


def symptom(position: int, status: str, **answers: object) -> Label:
    return inform(position, "symptom", "fever", status=status, **answers)


def test_denied_and_then_affirmed_is_said_in_words():
    (item,) = found(symptom(3, "no"), symptom(9, "yes"))
    assert (item.earlier, item.position, item.slot, item.value) == (3, 9, "symptom", "fever")
    assert item.message == "fever: denied at u3, affirmed at u9"


def test_affirmed_and_then_denied_is_one_too():
    assert places(symptom(3, "yes"), symptom(9, "no")) == [(3, 9)]


def test_every_turn_of_mind_is_said():
    assert places(symptom(1, "yes"), symptom(3, "no"), symptom(5, "no"), symptom(7, "yes")) == [(1, 3), (5, 7)]


@pytest.mark.parametrize(
    "statuses", [("yes", "yes"), ("no", "no"), ("not sure", "yes"), ("no", "not sure"), ("yes", "")]
)
def test_repetition_and_doubt_are_no_contradiction(statuses: tuple[str, str]):
    assert found(symptom(1, statuses[0]), symptom(3, statuses[1])) == []


@pytest.mark.parametrize("between", ["not sure", ""])
def test_doubt_or_silence_in_between_does_not_hide_one(between: str):
    assert places(symptom(1, "yes"), symptom(3, between, onset="a week"), symptom(5, "no")) == [(1, 5)]


def test_different_things_and_slots_do_not_contradict_each_other():
    assert found(inform(1, "symptom", "cough", status="yes"), inform(3, "symptom", "fever", status="no")) == []
    assert found(inform(1, "symptom", "asthma", status="no"), inform(3, "disease", "asthma", status="yes")) == []


def test_what_is_said_in_one_utterance_is_for_its_labels_not_a_contradiction():
    assert found(symptom(3, "no", onset="a week"), symptom(3, "yes", onset="8 days")) == []


@pytest.mark.parametrize(
    ("first", "then", "contradicts"),
    [
        ("still suffers", "did not suffer", True),
        ("suffered in the past", "no", True),
        ("still suffers", "suffered in the past", False),
        ("not sure", "yes", False),
    ],
)
def test_statuses_count_by_their_meaning(first: str, then: str, contradicts: bool):
    labels = [inform(1, "medical history", "asthma", status=first), inform(5, "medical history", "asthma", status=then)]
    assert bool(found(*labels)) is contradicts


def test_two_different_onsets_are_said_with_both():
    (item,) = found(symptom(1, "yes", onset="two weeks"), symptom(5, "yes", onset="15 days ago"))
    assert item.message == "fever: onset “two weeks” at u1, “15 days ago” at u5"


@pytest.mark.parametrize("again", ["Two  Weeks", "two weeks"])
def test_the_same_answer_in_another_spelling_is_none(again: str):
    assert found(symptom(1, "yes", onset="two weeks"), symptom(5, "yes", onset=again)) == []


def test_one_answer_questions_of_every_kind_are_compared():
    assert places(symptom(1, "yes", severity="3"), symptom(5, "yes", severity="8")) == [(1, 5)]
    choices = ("unchanged with time", "fluctuating")
    assert places(*(symptom(1 + 2 * n, "yes", progression=name) for n, name in enumerate(choices))) == [(1, 3)]


def test_lists_remarks_and_criteria_may_grow():
    first = {"location": ["chest"], "other": "at night", "severity.criterion": "worst ever"}
    first["characteristics"] = [{"value": "dry", "rating": "yes"}]
    then = {"location": ["back"], "other": "on stairs", "severity.criterion": "pain scale"}
    then["characteristics"] = [{"value": "wet", "rating": "yes"}]
    assert found(symptom(1, "yes", **first), symptom(5, "yes", **then)) == []


def test_slots_without_a_head_are_named_by_their_title():
    trips = [Label(1, "inform", "travel", {"status": "no"}), Label(5, "inform", "travel", {"status": "yes"})]
    assert [item.message for item in found(*trips)] == ["travel: denied at u1, affirmed at u5"]
    ages = [
        Label(1, "inform", "basic information", {"age": "50"}),
        Label(5, "inform", "basic information", {"age": "52"}),
    ]
    assert [item.message for item in found(*ages)] == ["basic information: age “50” at u1, “52” at u5"]


def test_they_come_in_the_order_in_which_they_arose():
    labels = [symptom(1, "no"), inform(2, "symptom", "cough", status="no", onset="a week")]
    labels += [inform(4, "symptom", "cough", status="yes"), symptom(6, "yes")]
    labels += [inform(8, "symptom", "cough", status="yes", onset="a year")]
    assert places(*labels) == [(2, 4), (1, 6), (2, 8)]


def test_what_the_doctor_says_contradicts_nobody():
    reading = Reading("D", (Utterance(0, "doctor", "…"), Utterance(1, "patient", "…")))
    reading = reading.with_labels([symptom(0, "yes"), symptom(1, "no")])
    assert contradictions(CMAS, track(mentions(CMAS, reading))) == []


def test_a_skin_finding_is_named_by_its_slot_as_nobody_typed_its_value():
    skin = [
        Label(place, "inform", "symptom (dermatology)", {"status": said}) for place, said in ((1, "no"), (3, "yes"))
    ]
    (item,) = found(*skin)
    assert item.message == "skin finding: denied at u1, affirmed at u3"
