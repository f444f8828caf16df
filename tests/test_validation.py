"""What a label may hold, and the one form in which it is stored."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.domain.labels import Label
from annotation.domain.questionnaire import Kind
from annotation.domain.unusual import checked_import
from annotation.domain.validation import (
    KEPT_LEVELS,
    MAX_KEPT,
    MAX_NAME,
    MAX_TEXT,
    MAX_VALUES,
    InvalidLabel,
    UnusableAnswer,
    checked_label,
    clean_answer,
    clean_text,
)
from annotation.questionnaires import get_questionnaire
from tests.factory import inform, inquire

CMAS = get_questionnaire("cmas")


def problems_of(label: Label, speaker: str = "patient") -> dict[str, str]:
    """What is wrong with the label: place → sentence."""
    with pytest.raises(InvalidLabel) as caught:
        checked_label(CMAS, label, speaker)
    assert str(caught.value) == " ".join(problem.message for problem in caught.value.problems)
    return {problem.field: problem.message for problem in caught.value.problems}


def stored(label: Label, speaker: str = "patient") -> Label:
    return checked_label(CMAS, label, speaker)


def field(slot: str, name: str) -> Any:
    found = CMAS.slot(slot)
    assert found
    return found.field(name)


def test_the_stored_form_is_trimmed_in_field_order_and_without_empty_answers():
    label = inform(3, "symptom", " cough ", "cough", "", "dry  cough", other="", onset="\t8  days\nago ", status="yes")
    result = stored(label)
    assert result.answers == {"value": ["cough", "dry cough"], "status": "yes", "onset": "8 days ago"}
    assert list(result.answers) == ["value", "status", "onset"]
    assert result.position == 3


def test_the_stored_form_is_stable():
    label = inform(1, "symptom", "chest pain", characteristics=[{"value": "sharp", "rating": "yes"}], severity=7)
    once = stored(label)
    assert stored(once) == once


def test_the_version_of_the_questionnaire_is_written_on_the_label():
    label = Label(1, "inform", "symptom", {"value": ["cough"]}, questionnaire_version="0.1")
    assert stored(label).questionnaire_version == CMAS.version


def test_what_a_file_left_behind_rank_id_and_origin_stay():
    label = Label(1, "inform", "symptom", {"value": ["cough"]}, kept={"colour": "?"}, id="x", rank=7, origin="copied")
    result = stored(label)
    assert (result.kept, result.id, result.rank, result.origin) == ({"colour": "?"}, "x", 7, "copied")


@pytest.mark.parametrize(
    ("label", "speaker", "place", "words"),
    [
        (Label(0, "sing"), "patient", "intent", "no intent “sing”"),
        (Label(0, ""), "patient", "intent", "no intent “”"),
        (Label(0, "diagnosis", "disease"), "patient", "intent", "patient's turns"),
        (Label(0, "differential"), "doctor", "intent", "doctor's turns"),
        (Label(0, "inform", "mood"), "patient", "slot", "no slot “mood”"),
        (Label(0, "diagnosis", "symptom"), "doctor", "slot", "cannot be used with"),
        (Label(0, "salutations", "symptom"), "doctor", "slot", "cannot be used with"),
        (Label(0, "inform", intent_name="hint"), "patient", "intent", "name of its own"),
        (Label(0, "inform", "", {"value": ["cough"]}), "patient", "slot", "Answers need a slot"),
        (Label(0, "inquire", "", {}, ("onset",)), "doctor", "slot", "Answers need a slot"),
        (Label(0, "other", intent_name="n" * (MAX_NAME + 1)), "patient", "intent", "at most 200 characters"),
        (Label(0, "other", intent_name="a\x00b"), "patient", "intent", "NUL"),
        (inform(0, "symptom", "cough", mood="bad"), "patient", "mood", "no question “mood”"),
        (inquire(0, "symptom", "cough", checks=["mood"]), "doctor", "checks", "no question “mood”"),
        (inform(0, "symptom", "cough", status="perhaps"), "patient", "status", "Status has no answer “perhaps”"),
        (inform(0, "symptom", "cough", status="Yes"), "patient", "status", "no answer “Yes”"),
        (inform(0, "symptom", "cough", status=["yes"]), "patient", "status", "one text, not a list"),
        (inform(0, "symptom", "cough", onset={"a": 1}), "patient", "onset", "one text, not a list"),
        (inform(0, "symptom", "cough", onset=True), "patient", "onset", "one text"),
        (inform(0, "symptom", "cough", onset=1.5), "patient", "onset", "one text"),
        (inform(0, "symptom", "cough", severity="11"), "patient", "severity", "from 0 to 10, not “11”"),
        (inform(0, "symptom", "cough", severity="-1"), "patient", "severity", "from 0 to 10"),
        (inform(0, "symptom", "cough", severity="7.5"), "patient", "severity", "whole number"),
        (inform(0, "symptom", "cough", severity="٧"), "patient", "severity", "whole number"),
        (inform(0, "symptom", "cough", location={"a": 1}), "patient", "location", "list of values"),
        (inform(0, "symptom", "cough", location=[["a"]]), "patient", "location", "takes a text"),
        (inform(0, "symptom", "cough", location=[None]), "patient", "location", "takes a text"),
        (inform(0, "symptom", "cough", ana_factors="cold"), "patient", "ana_factors", "Ana factors takes a list"),
        (inform(0, "symptom", "cough", ana_factors=["cold"]), "patient", "ana_factors", "{value, rating}"),
        (inform(0, "symptom", "cough", ana_factors=[{"value": "a", "x": 1}]), "patient", "ana_factors", "{value"),
        (
            inform(0, "symptom", "cough", ana_factors=[{"value": "cold", "rating": "worse"}]),
            "patient",
            "ana_factors",
            "no rating “worse” for “cold”",
        ),
        (Label(0, "inform", "habit", {"status.criterion": ["CAGE"]}), "patient", "status", "criterion of status"),
        (Label(0, "inform", "habit", {"frequency.criterion": "x"}), "patient", "frequency.criterion", "no question"),
        (inform(0, "symptom", "cough", onset="x" * (MAX_TEXT + 1)), "patient", "onset", "2,000 characters, not 2,001"),
        (inform(0, "symptom", "a\x00b"), "patient", "value", "NUL"),
        (inform(0, "symptom", "half \ud83d"), "patient", "value", "lone surrogates"),
        (inform(0, "symptom", *map(str, range(MAX_VALUES + 1))), "patient", "value", "at most 50 values"),
    ],
)
def test_what_the_questionnaire_does_not_allow_is_refused_in_words(label: Label, speaker: str, place: str, words: str):
    assert words in problems_of(label, speaker)[place]


def test_everything_that_is_wrong_with_the_answers_is_said_at_once():
    found = problems_of(inform(0, "symptom", "cough", status="perhaps", severity="99", mood="bad"))
    assert set(found) == {"status", "severity", "mood"}


def test_a_wrong_answer_does_not_make_its_criterion_unknown():
    found = problems_of(Label(0, "inform", "symptom", {"severity": "99", "severity.criterion": "worst ever"}))
    assert set(found) == {"severity"}


@pytest.mark.parametrize("intent", ["inform", "inquire", "salutations", "nod_prompt", "chit-chat", "other"])
def test_an_intent_may_stand_without_a_slot(intent: str):
    assert stored(Label(0, intent)).slot == ""


def test_a_slot_may_stand_without_any_answer():
    assert stored(Label(0, "inquire", "medication"), "doctor").answers == {}


def test_an_intent_that_takes_a_name_keeps_it_trimmed():
    assert stored(Label(0, "other", intent_name="  asks to\twait ")).intent_name == "asks to wait"


def test_an_annotator_may_type_a_value_that_no_list_has():
    assert stored(inform(0, "symptom", "my knee makes a noise")).answers["value"] == ["my knee makes a noise"]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a, b; c: d ~ e",
        "déjà vu 頭痛 🤒 ʼ",
        "a\u200db \u202ec",
        'O\'Neill "x" & y',
        "{{ 1 }}",
    ],
)
def test_markup_and_unusual_signs_are_kept_as_they_are(text: str):
    assert stored(inform(0, "symptom", text, other=text)).answers == {"value": [text], "other": text}


def test_checks_are_kept_once_and_in_the_order_of_the_form():
    label = inquire(0, "symptom", "cough", checks=["other", "onset", "location", "onset"])
    assert stored(label, "doctor").checks == ("location", "onset", "other")


def test_a_criterion_stands_beside_its_answer_and_an_empty_one_is_left_out():
    label = Label(0, "inform", "symptom", {"value": ["pain"], "severity": "8", "severity.criterion": " worst  ever "})
    assert stored(label).answers == {"value": ["pain"], "severity": "8", "severity.criterion": "worst ever"}
    for empty in ("", None, "  "):
        assert stored(inform(0, "symptom", "pain", **{"severity.criterion": empty})).answers == {"value": ["pain"]}


@pytest.mark.parametrize(("given", "kept"), [("8", "8"), (8, "8"), (0, "0"), ("007", "7"), (" 10 ", "10")])
def test_a_scale_is_stored_as_a_plain_number_in_text(given: object, kept: str):
    assert clean_answer(field("symptom", "severity"), given) == kept


def test_a_single_text_for_a_list_of_values_is_a_list_of_one():
    assert clean_answer(field("symptom", "value"), "cough") == ["cough"]


def test_a_rated_value_named_twice_takes_the_later_rating_and_needs_none():
    given = [
        {"value": "cold", "rating": "yes alleviating"},
        {"value": "heat"},
        {"value": " cold ", "rating": "neither"},
    ]
    assert clean_answer(field("symptom", "ana_factors"), given) == [
        {"value": "cold", "rating": "neither"},
        {"value": "heat", "rating": ""},
    ]


def test_older_ratings_of_files_can_be_stored():
    given = [{"value": "cold", "rating": "yes"}]
    assert field("symptom", "ana_factors").choice("yes").older
    assert clean_answer(field("symptom", "ana_factors"), given) == given


@pytest.mark.parametrize("kind", list(Kind))
def test_nothing_is_an_answer_of_no_kind(kind: Kind):
    question = next(item for slot in CMAS.slots for item in slot.fields if item.kind is kind)
    for nothing in (None, "", []):
        assert not clean_answer(question, nothing)


@pytest.mark.parametrize(
    "label",
    [
        Label(1, "x" * 10**6),
        Label(1, "inform", "x" * 10**6),
        inform(1, "symptom", "cough", **{"x" * 10**6: "y"}),
        inform(1, "symptom", "cough", **{str(number): "y" for number in range(10**5)}),
        inquire(1, "symptom", checks=["x" * 10**6]),
        inquire(1, "symptom", checks=[str(number) for number in range(10**5)]),
        inform(1, "symptom", "cough", status="x" * MAX_TEXT),
        Label(1, "inform", "symptom", {"value": ["cough"]}, kept={"x" * 10**6: 1}),
    ],
)
def test_what_is_said_of_a_wrong_label_stays_short_whatever_was_sent(label: Label):
    said = problems_of(label)
    assert len(str(said)) < 5_000


def test_input_without_a_place_is_kept_up_to_a_limit():
    fits = {"note": "x" * (MAX_KEPT - len('{"note": ""}'))}
    assert stored(Label(1, "inform", "symptom", {"value": ["cough"]}, kept=fits)).kept == fits
    too_much = {"note": fits["note"] + "x"}
    label = Label(1, "inform", "symptom", {"value": ["cough"]}, kept=too_much)
    assert "20,001 characters" in problems_of(label)["kept"]
    for one in (label, Label(1, "other", kept=too_much), Label(1, "diagnosis", kept=too_much)):
        with pytest.raises(InvalidLabel, match="at most 20,000"):
            checked_import(CMAS, one, "patient")


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"x": value}
    return value


def test_input_without_a_place_may_be_nested_a_little():
    fits = {"list": [nested(KEPT_LEVELS - 2)]}
    assert stored(Label(1, "inform", "symptom", {"value": ["cough"]}, kept=fits)).kept == fits


@pytest.mark.parametrize("levels", [KEPT_LEVELS + 1, 900])
def test_input_that_is_nested_deeper_is_refused_in_words(levels: int):
    """A database takes a thousand levels at most, and the history of a label adds some."""
    label = Label(1, "inform", "symptom", {"value": ["cough"]}, kept=nested(levels))
    assert "20 levels" in problems_of(label)["kept"]
    with pytest.raises(InvalidLabel, match="20 levels"):
        checked_import(CMAS, label, "patient")


def test_text_of_the_largest_size_is_kept_whole():
    assert clean_text("x" * MAX_TEXT) == "x" * MAX_TEXT
    with pytest.raises(UnusableAnswer):
        clean_text("x" * (MAX_TEXT + 1))
