"""Slot-value pairs: the ladder, the decisions, slots, closed lists."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score

from annotation.domain.agreement import agreement
from annotation.domain.labels import Label, Reading
from tests.agreeing import CMAS, by_labels, inform, inquire, pair, report
from tests.test_agreement import random_readings


def values_of(a: Reading, b: Reading, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = report(a, b, **options).as_json()["slot_values"]
    return found


def ladder(a: Reading, b: Reading, **options: Any) -> list[float | None]:
    rungs = values_of(a, b, **options)["ladder"]
    return [rungs[name]["f"] for name in ("slot", "slot_value", "slot_cui", "slot_value_attributes")]


def test_case_composition_and_white_space_make_no_other_value() -> None:
    a = by_labels(inform(1, "symptom", "Cafe\u0301  cough", status="yes"))
    b = by_labels(inform(1, "symptom", "CAFÉ\ncough", status="yes"))
    assert ladder(a, b) == [1, 1, 1, 1]


def test_another_wording_costs_the_value_but_not_the_concept() -> None:
    a, b = by_labels(inform(1, "symptom", "dyspnea")), by_labels(inform(1, "symptom", "Short of breath"))
    assert ladder(a, b) == [1, 0, 0, 0]
    concepts = {("symptom", "dyspnea"): "C0013404", ("symptom", "short of breath"): "C0013404"}
    assert ladder(a, b, concepts=concepts) == [1, 0, 1, 0]


def test_a_value_without_a_decision_is_compared_by_its_wording() -> None:
    a = by_labels(inform(1, "symptom", "dyspnea"), inform(3, "symptom", "cough"))
    b = by_labels(inform(1, "symptom", "C0013404"), inform(3, "symptom", "cough"))
    assert ladder(a, b, concepts={("symptom", "dyspnea"): "C0013404"})[2] == 0.5


def test_a_concept_belongs_to_its_slot() -> None:
    a, b = by_labels(inform(1, "symptom", "asthma")), by_labels(inform(1, "symptom", "asthma attack"))
    concepts = {("disease", "asthma"): "C1", ("disease", "asthma attack"): "C1"}
    assert ladder(a, b, concepts=concepts)[2] == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (inform(1, "symptom", "cough", status="yes"), inform(1, "symptom", "cough", status="no")),
        (inform(1, "symptom", "cough", onset="today"), inform(1, "symptom", "cough", onset="long ago")),
        (inform(1, "symptom", "cough", severity="8"), inform(1, "symptom", "cough")),
        (inquire(0, "symptom", "cough", checks=("onset",)), inquire(0, "symptom", "cough", checks=("duration",))),
    ],
)
def test_status_other_answers_and_ticks_are_the_last_rung(one: Label, other: Label) -> None:
    assert ladder(by_labels(one), by_labels(other)) == [1, 1, 1, 0]


def test_the_order_inside_a_list_says_nothing() -> None:
    a = by_labels(inform(1, "symptom", "pain", location=["arm", "leg"]))
    assert ladder(a, by_labels(inform(1, "symptom", "pain", location=["Leg", "arm"])))[3] == 1


def test_values_count_as_often_as_they_are_given() -> None:
    a = by_labels(inform(1, "symptom", "cough"), inform(1, "symptom", "cough", onset="today"))
    b = by_labels(inform(1, "symptom", "cough"))
    rung = values_of(a, b)["ladder"]["slot_value"]
    assert (rung["both"], rung["only_a"], rung["only_b"], rung["f"]) == (1, 1, 0, 2 / 3)


def test_a_label_with_two_values_is_two_pairs() -> None:
    a = by_labels(inform(1, "symptom", "cough", "fever", status="yes"))
    b = by_labels(inform(1, "symptom", "cough", status="yes"), inform(1, "symptom", "fever", status="yes"))
    assert ladder(a, b) == [1, 1, 1, 1]


def test_a_slot_without_a_value_is_a_pair_of_its_own() -> None:
    assert ladder(by_labels(inquire(0, "medication")), by_labels(inquire(0, "medication")))[:2] == [1, 1]
    assert ladder(by_labels(inquire(0, "medication")), by_labels(inquire(0, "medication", "aspirin")))[:2] == [1, 0]


def test_the_intent_of_a_label_plays_no_part() -> None:
    assert ladder(by_labels(inquire(0, "symptom", "cough")), by_labels(inform(0, "symptom", "cough"))) == [1, 1, 1, 1]


def test_the_decisions_are_utterances_times_the_pairs_of_the_dialogue() -> None:
    """Dialogue X has two pairs over six utterances, dialogue Y one over two; other dialogues' pairs do not count."""
    x = pair(
        by_labels(inform(1, "symptom", "cough")), by_labels(inform(1, "symptom", "Cough"), inform(3, "habit", "tea"))
    )
    y_a = by_labels(inform(1, "disease", "gout"), marks="DP", dialogue="Y")
    found = agreement(CMAS, [x, pair(y_a, y_a)]).as_json()["slot_values"]
    assert found["decisions"] == {"a": 2, "b": 0, "c": 1, "d": 14 - 3}
    decisions_a = [1, 1, 0] + [0] * 11
    decisions_b = [1, 1, 1] + [0] * 11
    assert found["kappa"] == pytest.approx(cohen_kappa_score(decisions_a, decisions_b), abs=1e-12)


def test_random_readings_agree_with_a_count_by_hand() -> None:
    a, b = random_readings(random.Random(21))
    found = values_of(a, b)

    def pairs(reading: Reading) -> dict[int, Counter[tuple[str, str]]]:
        return {
            position: Counter((label.slot, value.lower()) for label in labels for value in label.values("value"))
            for position, labels in reading.by_position().items()
        }

    one, other = pairs(a), pairs(b)
    both = sum(sum((one[place] & other[place]).values()) for place in one)
    sizes = [sum(sum(counts.values()) for counts in side.values()) for side in (one, other)]
    assert found["f"] == pytest.approx(2 * both / sum(sizes), abs=1e-12)
    used = sorted({key for side in (one, other) for counts in side.values() for key in counts})
    decisions = [[key in side[place] for place in one for key in used] for side in (one, other)]
    assert found["kappa"] == pytest.approx(cohen_kappa_score(*decisions), abs=1e-12)
    for slot in ("symptom", "habit", "disease"):
        present = [[any(key[0] == slot for key in side[place]) for place in one] for side in (one, other)]
        expected = cohen_kappa_score(*present)
        assert found["by_slot"][slot]["presence"]["kappa"] == pytest.approx(expected, abs=1e-12)


def test_closed_lists_are_compared_on_the_same_values_only() -> None:
    a = by_labels(
        inform(1, "symptom", "cough", status="yes"),
        inform(3, "symptom", "fever", status="no"),
        inform(5, "symptom", "pain", status="no"),
    )
    b = by_labels(
        inform(1, "symptom", "cough", status="yes"),
        inform(3, "symptom", "fever", status="yes"),
        inform(5, "symptom", "ache", status="yes"),
    )
    found = report(a, b)
    lists = found.as_json()["slot_values"]["closed_lists"]
    assert lists["symptom.status"] == {
        "same": 1,
        "blank": 0,
        "different": 1,
        "kappa": pytest.approx(cohen_kappa_score(["yes", "no"], ["yes", "yes"])),
    }
    assert found.places("slot_values", "closed_lists", "symptom.status", "kappa") == [("X", 3)]


def test_an_open_question_is_a_category_and_an_inquiry_does_not_count() -> None:
    a = by_labels(
        inform(1, "symptom", "cough", status="yes"),
        inform(3, "symptom", "fever"),
        inquire(0, "symptom", "cough", status="yes"),
    )
    b = by_labels(
        inform(1, "symptom", "cough", status="yes"),
        inform(3, "symptom", "fever", status="yes"),
        inquire(0, "symptom", "cough", status="yes"),
    )
    lists = values_of(a, b)["closed_lists"]["symptom.status"]
    assert (lists["same"], lists["different"]) == (1, 1)


def test_what_both_left_blank_is_no_shared_answer() -> None:
    """Thirty-nine labels without a progression are not thirty-nine agreements on it; κ counts the blank as before."""
    a = by_labels(*(inform(place, "symptom", "cough", status="yes") for place in (1, 3)))
    lists = values_of(a, a)["closed_lists"]["symptom.progression"]
    assert lists == {"same": 0, "blank": 2, "different": 0, "kappa": None}
    b = by_labels(
        inform(1, "symptom", "cough", status="yes", progression="worsening"),
        inform(3, "symptom", "cough", status="yes"),
    )
    lists = values_of(b, b)["closed_lists"]["symptom.progression"]
    assert (lists["same"], lists["blank"], lists["different"], lists["kappa"]) == (1, 1, 0, 1)


def test_a_question_that_is_not_asked_of_the_speaker_does_not_count() -> None:
    """The status of a symptom is asked on the patient's turns only."""
    a = by_labels(inform(0, "symptom", "cough"), inform(1, "symptom", "fever", status="yes"))
    lists = values_of(a, a)["closed_lists"]["symptom.status"]
    assert (lists["same"], lists["different"]) == (1, 0)


def test_ratings_are_compared_value_by_value() -> None:
    def rated(*pairs: tuple[str, str]) -> list[dict[str, str]]:
        return [{"value": value, "rating": rating} for value, rating in pairs]

    a = by_labels(inform(1, "symptom", "pain", characteristics=rated(("sharp", "yes"), ("dull", "no"), ("hot", "yes"))))
    b = by_labels(inform(1, "symptom", "pain", characteristics=rated(("Sharp", "yes"), ("dull", "yes"))))
    lists = values_of(a, b)["closed_lists"]["symptom.characteristics"]
    assert (lists["same"], lists["different"]) == (1, 1)
    assert lists["kappa"] == pytest.approx(cohen_kappa_score(["yes", "no"], ["yes", "yes"]))


def test_an_unknown_slot_is_compared_by_its_name() -> None:
    a = by_labels(Label(1, "inform", "shoe size", {"value": "42"}))
    b = by_labels(Label(1, "inform", "shoe size", {"value": "43"}))
    assert ladder(a, b) == [1, 1, 1, 0]
