"""Labels as flat tuples, and which of them are medical."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.domain.unrolling import (
    FLAT_HEADER,
    Malformed,
    Unrolled,
    flattened,
    unroll_actions,
    unroll_nlu,
    unroll_turn,
)
from tests.evaluating import PAPER_NLU, dataset


def inform(**slots: Any) -> list[dict[str, Any]]:
    return [{"intent": "inform", "slots": slots}]


def test_the_example_of_the_paper_unrolls_to_exactly_its_four_tuples() -> None:
    assert set(unroll_nlu(PAPER_NLU)) == {
        ("inform", "positive_symptom", "pharyngitis", "", ""),
        ("inform", "positive_symptom", "pharyngitis", "onset", "past four days"),
        ("inform", "positive_symptom", "fever", "", ""),
        ("inform", "positive_symptom", "fever", "onset", "last two days"),
    }
    assert len(unroll_nlu(PAPER_NLU)) == 4
    assert [one.medical for one in unroll_nlu(PAPER_NLU)] == [True, False, True, False]


def test_a_list_gives_a_tuple_for_each_of_its_members_once() -> None:
    found = unroll_nlu(inform(negative_symptom=[{"value": "pain", "location": ["joints", "back", "joints"]}]))
    assert found == (
        ("inform", "negative_symptom", "pain", "", ""),
        ("inform", "negative_symptom", "pain", "location", "joints"),
        ("inform", "negative_symptom", "pain", "location", "back"),
    )


def test_the_answers_of_a_slot_without_a_medical_value_do_not_depend_on_it() -> None:
    found = unroll_nlu(inform(occupation=[{"value": "sales", "status": "true"}], travel=[{"status": "not_traveled"}]))
    assert found == (
        ("inform", "occupation", "", "value", "sales"),
        ("inform", "occupation", "", "status", "true"),
        ("inform", "travel", "", "status", "not_traveled"),
    )
    assert [one.medical for one in found] == [False, True, True]


def test_an_action_asks_about_attributes_and_checks_values() -> None:
    checks = [{"type": "onset"}, {"type": "location", "values": ["chest", "arm"]}, {"type": "color", "values": ["red"]}]
    found = unroll_actions([{"action": "inquire", "symptom": [{"value": "pain", "checks": checks}]}])
    place = ("inquire", "symptom", "pain")
    assert found == (
        (*place, "", ""),
        (*place, "onset", ""),
        (*place, "location", ""),
        (*place, "location", "chest"),
        (*place, "location", "arm"),
        (*place, "color", ""),
        (*place, "color", "red"),
    )
    assert [one.medical for one in found] == [True, True, True, True, True, True, False]


def test_an_intent_alone_is_a_medical_tuple_and_its_own_name_another_that_is_none() -> None:
    found = unroll_nlu([{"intent": "chit-chat"}, {"intent": "other", "name": "joke", "slots": {}}])
    assert found == (("chit-chat", "", "", "", ""), ("other", "", "", "", ""), ("other", "", "", "name", "joke"))
    assert [one.medical for one in found] == [True, True, False]


def test_a_slot_about_which_nothing_is_said_is_still_named() -> None:
    assert unroll_nlu(inform(positive_medication=[{}])) == (("inform", "positive_medication", "", "", ""),)
    assert unroll_nlu(inform(positive_medication=[])) == ()


def test_an_attribute_without_its_head_keeps_its_place() -> None:
    found = unroll_nlu(inform(positive_symptom=[{"onset": "today"}]))
    assert found == (("inform", "positive_symptom", "", "onset", "today"),)


@pytest.mark.parametrize(
    ("slot", "attribute", "medical"),
    [
        *(("positive_symptom", name, True) for name in ("location", "progression", "severity")),
        *(("symptom", name, True) for name in ("lesion_size", "rash_swollen", "itching", "lesions_peel_off")),
        *(("positive_symptom", name, False) for name in ("onset", "duration", "color", "positive_characteristics")),
        ("positive_medication", "respone_to", True),
        ("positive_medication", "impact", True),
        ("negative_medication", "frequency", False),
        ("positive_habit", "severity", False),
        ("occupation", "status", True),
        ("occupation", "exposure", False),
        ("residence", "status", True),
        ("residence", "household_size", False),
        ("travel", "status", True),
        ("travel", "destination", False),
        ("basic_information", "age", True),
        ("basic_information", "name", True),
        ("hobbies", "value", False),
    ],
)
def test_which_answers_are_medical(slot: str, attribute: str, medical: bool) -> None:
    assert Unrolled("inform", slot, "x", attribute, "y").medical is medical


@pytest.mark.parametrize("slot", ["positive_symptom", "unavail_medical_test", "disease", "positive_family_history"])
def test_the_value_of_a_medical_slot_is_medical(slot: str) -> None:
    assert Unrolled("inform", slot, "x").medical


def test_composed_and_decomposed_letters_and_white_space_are_the_same() -> None:
    one = unroll_nlu(inform(positive_disease=[{"value": "Ménière’s  disease "}]))
    other = unroll_nlu(inform(positive_disease=[{"value": "Me\u0301nie\u0300re’s\ndisease"}]))
    assert one == other
    assert one[0].value == "Ménière’s disease"


def test_a_number_is_taken_as_its_text() -> None:
    assert unroll_nlu(inform(positive_symptom=[{"value": "pain", "severity": 8}]))[1].attribute_value == "8"


@pytest.mark.parametrize(
    ("nlu", "words"),
    [
        ("inform: cough", '"nlu" is no list'),
        (None, '"nlu" is no list'),
        (["inform"], r"nlu\[0\] is no object"),
        ([{"slots": {}}], r"nlu\[0\] has no text “intent”"),
        ([{"intent": ""}], "no text “intent”"),
        ([{"intent": "inform", "slots": []}], r"nlu\[0\].slots is no object"),
        ([{"intent": "inform", "positive_symptom": []}], "positive_symptom"),
        (inform(positive_symptom={"value": "x"}), '"positive_symptom" is no list'),
        (inform(positive_symptom=["cough"]), 'Entry 0 of "positive_symptom" is no object'),
        (inform(positive_symptom=[{"value": ["cough"]}]), '"value" holds something that is no text'),
        (inform(positive_symptom=[{"value": "x", "onset": {"a": "b"}}]), '"onset" holds something'),
        (inform(positive_symptom=[{"value": "x", "onset": True}]), '"onset" holds something'),
        (inform(positive_symptom=[{"value": "x", "checks": [{}]}]), "no text “type”"),
    ],
)
def test_another_form_is_refused_with_its_place(nlu: Any, words: str) -> None:
    with pytest.raises(Malformed, match=words):
        unroll_nlu(nlu)


def test_a_dialogue_as_rows_for_an_export() -> None:
    rows = list(flattened("7", dataset()["7"]["utterances"]))
    assert all(len(row) == len(FLAT_HEADER) for row in rows)
    assert rows[0] == ("7", 0, "doctor", "nod_prompt_salutations", "", "", "", "")
    assert rows[2] == ("7", 1, "patient", "inform", "positive_symptom", "pharyngitis", "onset", "past four days")
    assert len(rows) == 1 + 7 + 9


def test_the_released_dialogues_unroll_to_as_many_tuples_as_they_hold_answers(real_data: Path) -> None:
    """Counted without the module: every value, every member of a list, every check and checked value, bare intents."""

    def leaves(entry: dict[str, Any]) -> int:
        checks = entry.get("checks", [])
        asked = sum(1 + len(check.get("values", [])) for check in checks)
        given = [value for key, value in entry.items() if key != "checks"]
        return asked + sum(len(value) if isinstance(value, list) else 1 for value in given)

    dialogs = json.loads((real_data / "meditod" / "dialogs.json").read_text(encoding="utf-8"))
    for dialogue in dialogs.values():
        for turn in dialogue["utterances"]:
            items = [one.get("slots", {}) for one in turn.get("nlu", [])]
            items += [{k: v for k, v in one.items() if k != "action"} for one in turn.get("actions", [])]
            expected = sum(sum(leaves(e) for entries in one.values() for e in entries) if one else 1 for one in items)
            assert len(unroll_turn(turn)) == expected, turn
