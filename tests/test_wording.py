"""Labels in words."""

from __future__ import annotations

import pytest

from annotation.domain.labels import Label
from annotation.domain.wording import answer_text, field_name, label_parts, label_text
from annotation.questionnaires import get_questionnaire
from tests.factory import inform, inquire

CMAS = get_questionnaire("cmas")


def field(slot: str, name: str):
    return CMAS.slot(slot).field(name)


@pytest.mark.parametrize(
    ("label", "text"),
    [
        (
            inform(1, "symptom", "cough", status="yes", onset="8 days ago"),
            "inform symptom: cough (yes), onset: 8 days ago",
        ),
        (inform(1, "symptom", "cough", "fever"), "inform symptom: cough, fever"),
        (
            inquire(0, "symptom", "pain", checks=["onset", "location"], location=["chest"]),
            "inquire symptom: pain, location?: chest, onset?",
        ),
        (Label(0, "inquire", "medication"), "inquire medication"),
        (Label(9, "salutations"), "greeting"),
        (Label(1, "inform", "symptom", {"status": "no"}), "inform symptom: (no)"),
        (Label(1, "other", "symptom", {"value": ["cough"]}, intent_name="Jokes"), "jokes symptom: cough"),
        (
            Label(1, "inform", "travel", {"status": "yes", "destination": "Peru"}),
            "inform travel: (yes), destination: Peru",
        ),
        (Label(1, "inform", "occupation", {"value": "welder"}), "inform occupation: welder"),
    ],
)
def test_a_label_is_one_line(label: Label, text: str):
    assert label_text(CMAS, label) == text


def test_what_the_questionnaire_does_not_know_is_shown_by_its_name():
    assert label_text(CMAS, Label(1, "sing", "mood", {"value": ["x"]})) == "sing mood"
    parts = label_parts(CMAS, inform(1, "symptom", "cough", status="perhaps"))
    assert (parts["status"], parts["meaning"], parts["sign"]) == ("perhaps", "", "")


@pytest.mark.parametrize(
    ("status", "meaning", "sign"), [("yes", "yes", "+"), ("no", "no", "−"), ("not sure", "unsure", "?")]
)
def test_a_status_has_a_meaning_and_a_sign_besides_its_colour(status: str, meaning: str, sign: str):
    parts = label_parts(CMAS, inform(1, "symptom", "cough", status=status))
    assert (parts["meaning"], parts["sign"]) == (meaning, sign)
    assert parts["status"]


def test_details_stand_in_the_order_of_the_form_and_say_what_was_asked():
    label = inquire(0, "symptom", "pain", checks=["other", "onset"], volume="little", onset="today")
    assert label_parts(CMAS, label)["details"] == [
        ("onset", "today", True),
        ("volume", "little", False),
        ("other", "", True),
    ]


def test_a_criterion_stands_with_its_answer():
    label = inform(1, "symptom", "pain", severity="8", **{"severity.criterion": "worst ever"})
    assert label_parts(CMAS, label)["details"] == [("severity", "8 (worst ever)", False)]
    habit = Label(7, "inform", "habit", {"value": ["alcohol"], "status": "yes", "status.criterion": "CAGE"})
    assert label_parts(CMAS, habit)["details"] == [("status", "(CAGE)", False)]


def test_answers_in_words():
    factors = [{"value": "cold", "rating": "yes aggravating"}, {"value": "rest", "rating": ""}]
    worse = field("symptom", "ana_factors").choice("yes aggravating").title
    assert answer_text(field("symptom", "ana_factors"), factors) == f"cold ({worse}), rest"
    assert answer_text(field("symptom", "location"), ["chest", "arm"]) == "chest, arm"
    assert (
        answer_text(field("symptom", "progression"), "fluctuating")
        == field("symptom", "progression").choice("fluctuating").title
    )
    assert answer_text(field("symptom", "severity"), "0") == "0"
    assert answer_text(field("symptom", "onset"), None) == ""


def test_a_rating_that_is_not_listed_is_shown_as_it_is():
    assert answer_text(field("symptom", "ana_factors"), [{"value": "cold", "rating": "worse"}]) == "cold (worse)"


def test_a_questions_name_has_no_underscores():
    assert field_name(field("symptom", "ana_factors")) == "ana factors"


def test_markup_in_a_value_is_only_text():
    assert "<b>x</b>" in label_text(CMAS, inform(1, "symptom", "<b>x</b>"))
