"""What a label set still lacks: each rule with what it says and what it lets pass."""

from __future__ import annotations

import pytest

from annotation.domain.completeness import Rule, gaps, gaps_of_label
from annotation.domain.labels import Label, Reading, Utterance
from annotation.questionnaires import get_questionnaire
from tests.factory import TURNS, inform, inquire

CMAS = get_questionnaire("cmas")
UTTERANCES = tuple(Utterance(position, speaker, text) for position, (speaker, text) in enumerate(TURNS))
SLOTS_WITH_STATUS = [slot.name for slot in CMAS.slots if slot.status]


def rules(label: Label, speaker: str = "patient") -> list[Rule]:
    return [gap.rule for gap in gaps_of_label(CMAS, label, speaker)]


def messages(label: Label, speaker: str = "patient") -> list[str]:
    return [gap.message for gap in gaps_of_label(CMAS, label, speaker)]


def named(slot: str, **answers: object) -> Label:
    """A patient's inform on a slot, with a head where the slot has one."""
    found = CMAS.slot(slot)
    assert found
    head: dict[str, object] = {}
    if found.head_field:
        head = {found.head: ["a thing"] if found.head_field.kind.value == "values" else "a thing"}
    return Label(1, "inform", slot, {**head, **answers})


@pytest.mark.parametrize("slot", SLOTS_WITH_STATUS)
def test_a_patients_inform_on_a_slot_with_a_status_needs_it(slot: str):
    found = CMAS.slot(slot)
    assert found
    assert found.status_field
    assert rules(named(slot)) == [Rule.STATUS]
    for choice in found.status_field.choices:
        if not choice.older:
            assert rules(named(slot, status=choice.name)) == []


@pytest.mark.parametrize("slot", ["basic information", "other"])
def test_a_slot_without_a_status_needs_none(slot: str):
    assert rules(Label(1, "inform", slot, {"age": "50"} if slot == "basic information" else {})) == []


@pytest.mark.parametrize("slot", ["symptom", "habit"])
def test_the_doctor_who_is_not_asked_for_a_status_lacks_none(slot: str):
    assert rules(named(slot), "doctor") == []
    assert rules(named(slot), "patient") == [Rule.STATUS]


def test_the_doctor_lacks_a_status_where_one_is_asked_for():
    assert rules(named("medical test"), "doctor") == [Rule.STATUS]


def test_only_an_inform_needs_a_status():
    assert rules(inquire(0, "symptom", "cough", checks=["onset"]), "doctor") == []
    assert rules(Label(0, "diagnosis", "disease", {"value": ["asthma"]}), "doctor") == []
    assert rules(Label(1, "other", "disease", {"value": ["asthma"]}, intent_name="asks for a note")) == []


@pytest.mark.parametrize("answers", [{"onset": "a week"}, {"location": ["chest"]}, {"other": "at night: worse"}])
def test_an_attribute_needs_its_head(answers: dict[str, object]):
    assert rules(Label(1, "inform", "symptom", {"status": "yes", **answers})) == [Rule.HEAD]
    assert rules(inform(1, "symptom", "cough", status="yes", **answers)) == []


def test_a_mention_without_a_head_may_have_its_status_and_that_ones_criterion():
    assert rules(Label(1, "inform", "symptom", {"status": "no"})) == []
    assert rules(Label(7, "inform", "habit", {"status": "yes", "status.criterion": "CAGE"})) == []


def test_an_inquiry_may_have_no_head():
    assert rules(Label(0, "inquire", "medication", {}, ("frequency",)), "doctor") == []
    assert rules(Label(0, "inquire", "symptom", {"location": ["chest"]}, ("location",)), "doctor") == []


def test_a_slot_that_has_no_head_field_lacks_none():
    assert rules(Label(1, "inform", "travel", {"status": "yes", "destination": "Peru"})) == []
    assert rules(Label(1, "inform", "symptom (dermatology)", {"status": "yes", "color": "red"})) == []


@pytest.mark.parametrize(("rating", "complete"), [("yes alleviating", True), ("neither", True), ("may be", True)])
def test_a_factor_with_a_rating_is_complete(rating: str, complete: bool):
    label = inform(1, "symptom", "cough", status="yes", ana_factors=[{"value": "cold", "rating": rating}])
    assert (rules(label) == []) is complete


@pytest.mark.parametrize("rating", ["", "yes", "no"])
def test_a_factor_needs_a_rating_that_says_which_way(rating: str):
    factors = [{"value": "rest", "rating": "yes alleviating"}, {"value": "cold", "rating": rating}]
    label = inform(1, "symptom", "cough", status="yes", ana_factors=factors)
    (gap,) = gaps_of_label(CMAS, label, "patient")
    assert gap.rule is Rule.RATING
    assert "cold" in gap.message
    assert "rest" not in gap.message


def test_a_characteristic_needs_a_rating_but_a_bare_yes_is_one():
    sharp = [{"value": "sharp", "rating": ""}]
    assert rules(inform(1, "symptom", "pain", status="yes", characteristics=sharp)) == [Rule.RATING]
    sharp = [{"value": "sharp", "rating": "yes"}]
    assert rules(inform(1, "symptom", "pain", status="yes", characteristics=sharp)) == []


def test_values_that_are_only_asked_about_need_no_rating():
    values = [{"value": "sharp", "rating": ""}, {"value": "dull", "rating": ""}]
    label = inquire(0, "symptom", "pain", checks=["characteristics"], characteristics=values)
    assert rules(label, "doctor") == []


def test_a_label_without_a_slot_or_with_an_unknown_one_lacks_nothing():
    assert rules(Label(1, "salutations")) == []
    assert rules(Label(1, "inform")) == []
    assert rules(Label(1, "inform", "mood", {"value": ["x"]})) == []
    assert rules(Label(1, "sing", "symptom", {"value": ["x"]})) == []


def test_a_gap_says_what_lacks_what_in_words():
    assert messages(inform(1, "symptom", "cough", "fever")) == ["symptom “cough, fever” has no status"]
    assert messages(Label(1, "inform", "symptom", {"status": "yes", "onset": "a week"})) == [
        "symptom has answers but does not say what they are about"
    ]


def test_an_utterance_without_a_label_is_a_gap_unless_it_is_excused():
    reading = Reading("D", UTTERANCES).with_labels(
        [inform(1, "symptom", "cough", status="yes"), Label(8, "nod_prompt")]
    )
    found = gaps(CMAS, reading, excused=[0, 2])
    assert [(gap.rule, gap.position, gap.label) for gap in found] == [
        (Rule.UNLABELLED, position, "") for position in (3, 4, 5, 6, 7, 9)
    ]


def test_gaps_come_in_the_order_of_the_dialogue_and_name_their_label():
    labels = [
        Label(position, "salutations", id=f"l{position}") for position in range(len(TURNS)) if position not in (1, 2, 7)
    ]
    labels += [Label(7, "inform", "habit", {"value": ["smoking"]}, id="b")]
    labels += [Label(1, "inform", "symptom", {"onset": "a week"}, id="a")]
    found = gaps(CMAS, Reading("D", UTTERANCES).with_labels(labels))
    assert [(gap.position, gap.label, gap.rule) for gap in found] == [
        (1, "a", Rule.STATUS),
        (1, "a", Rule.HEAD),
        (2, "", Rule.UNLABELLED),
        (7, "b", Rule.STATUS),
    ]


def test_gaps_look_at_who_is_speaking():
    reading = Reading("D", UTTERANCES[:2]).with_labels([inform(0, "symptom", "cough"), inform(1, "symptom", "cough")])
    assert [(gap.position, gap.rule) for gap in gaps(CMAS, reading)] == [(1, Rule.STATUS)]
