"""Precision, recall and F1 over unrolled tuples, against figures worked out by hand."""

from __future__ import annotations

import itertools
import random
import tracemalloc
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

from annotation.domain.comparators import Comparator, Exact, Normalised
from annotation.domain.evaluation_gold import patient_turns
from annotation.domain.metrics_nlu import NluResult, score_nlu
from annotation.domain.predictions import Predictions
from annotation.domain.unrolling import unroll_nlu
from tests.evaluating import Json, dataset, edited_nlu, line, own_predictions, patient, predicted


def scored(
    lines: list[Json], gold: Mapping[str, Any] | None = None, comparator: Comparator | None = None
) -> dict[str, Any]:
    return result(lines, gold, comparator).as_json()


def result(lines: list[Json], gold: Mapping[str, Any] | None = None, comparator: Comparator | None = None) -> NluResult:
    turns = patient_turns(gold or dataset())
    return score_nlu(turns, predicted(lines, unroll_nlu, "nlu"), comparator or Normalised())


def figures(precision: float | None, recall: float | None, f1: float | None) -> Any:
    return {"precision": precision, "recall": recall, "f1": f1}


def onset(*texts: str, number: int = 0) -> Json:
    nlu = {"intent": "inform", "slots": {"positive_symptom": [{"value": "x", "onset": list(texts)}]}}
    return line(number, nlu=[nlu])


class Pairs:
    """Says that exactly these texts are the same, whichever comes first, and counts how often it was asked."""

    name = "pairs"

    def __init__(self, *pairs: str) -> None:
        self.pairs = {frozenset(pair) for pair in pairs}
        self.asked = 0

    def same(self, one: str, other: str) -> bool:
        self.asked += 1
        return frozenset(one + other) in self.pairs

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name}


def test_gold_against_itself_scores_1() -> None:
    found = scored(own_predictions(dataset(), "patient", "nlu"), comparator=Exact())
    assert found["overall"] == found["medical"] == found["non_medical"] == figures(1, 1, 1)
    assert found["counts"]["overall"] == {"matched": 7, "missed": 0, "wrong": 0}
    assert found["utterances"] == {"scored": 3, "left_out": 1}


def test_known_edits_score_what_was_worked_out_by_hand() -> None:
    """Medical: pharyngitis, fever and the age match; coughing (absent) and chit-chat are missed; dyspnea and coughing
    (present) are wrong. Others: one onset is reworded, one left out."""
    found = scored(edited_nlu())
    assert found["medical"] == figures(3 / 5, 3 / 5, 3 / 5)
    assert found["non_medical"] == figures(1, 1 / 2, pytest.approx(2 / 3))
    assert found["overall"] == figures(pytest.approx(4 / 6), pytest.approx(4 / 7), pytest.approx(8 / 13))
    assert found["counts"]["overall"] == {"matched": 4, "missed": 3, "wrong": 2}


def test_without_normalising_the_rewording_is_wrong() -> None:
    found = scored(edited_nlu(), comparator=Exact())
    assert found["medical"] == figures(3 / 5, 3 / 5, 3 / 5)
    assert found["non_medical"] == figures(0, 0, 0)
    assert found["overall"] == figures(1 / 2, pytest.approx(3 / 7), pytest.approx(6 / 13))


def test_every_slot_and_attribute_has_its_figures_whatever_the_status() -> None:
    found = scored(edited_nlu())
    assert found["by_slot"]["symptom"] == figures(pytest.approx(3 / 5), pytest.approx(3 / 5), pytest.approx(3 / 5))
    assert found["by_slot"]["basic_information"] == figures(1, 1, 1)
    assert found["by_slot"]["intent"] == figures(None, 0, 0)
    assert found["counts"]["by_attribute"]["symptom"] == {
        "onset": {"matched": 1, "missed": 1, "wrong": 0},
        "value": {"matched": 2, "missed": 1, "wrong": 2},
    }


def test_without_any_prediction_precision_is_undefined_and_recall_0() -> None:
    found = scored([])
    assert found["overall"] == figures(None, 0, 0)


def test_what_neither_side_has_is_undefined() -> None:
    nlu = [{"intent": "chit-chat"}]
    gold = {"8": {"utterances": [patient(0, "Hello.", *nlu)]}}
    assert scored([line(0, "8", nlu=nlu)], gold)["non_medical"] == figures(None, None, None)


def test_a_malformed_prediction_misses_everything_and_is_one_wrong_tuple_of_each_kind() -> None:
    """Turn 1 has 4 tuples (2 medical) that are predicted, turn 3 2 medical ones that are lost, turn 5 one that is not
    predicted; turn 7 is not scored."""
    turns = patient_turns(dataset())
    whole = predicted(own_predictions(dataset(), "patient", "nlu")[:1], unroll_nlu, "nlu").by_turn
    lost: Predictions[Any] = Predictions({**whole, ("7", 3): None, ("7", 7): None})
    found = score_nlu(turns, lost, Exact()).as_json()
    counts = found["counts"]
    assert counts["overall"] == {"matched": 4, "missed": 3, "wrong": 1}
    assert counts["medical"] == {"matched": 2, "missed": 3, "wrong": 1}
    assert counts["non_medical"] == {"matched": 2, "missed": 0, "wrong": 1}
    assert counts["by_slot"]["(malformed)"] == {"matched": 0, "missed": 0, "wrong": 1}
    assert all(one["wrong"] == 0 for slot, one in counts["by_slot"].items() if slot != "(malformed)")
    assert "(malformed)" not in found["by_attribute"]
    assert found["overall"] == figures(4 / 5, 4 / 7, pytest.approx(2 / 3))
    assert found["medical"]["precision"] == pytest.approx(2 / 3)


def test_what_is_predicted_for_a_turn_nobody_labelled_does_not_count() -> None:
    extra = line(7, nlu=[{"intent": "inform", "slots": {"positive_symptom": [{"value": "itching"}]}}])
    assert scored([*edited_nlu(), extra]) == scored(edited_nlu())


def test_saying_the_same_twice_in_an_utterance_counts_once() -> None:
    doubled = [{**one, "nlu": one["nlu"] * 2} for one in edited_nlu()]
    assert scored(doubled) == scored(edited_nlu())


def test_no_order_counts() -> None:
    lines = own_predictions(dataset(), "patient", "nlu")[::-1]
    for one in lines:
        for item in one["nlu"]:
            slots = item.get("slots", {})
            item["slots"] = {name: slots[name][::-1] for name in reversed(slots)}
    assert scored(lines)["overall"] == figures(1, 1, 1)


def test_each_text_matches_one_other_and_as_many_as_possible_do() -> None:
    """a is like b' alone, b like both: whoever takes b' for b first loses a match."""
    gold = {"7": {"utterances": [patient(0, "x", *onset("a", "b")["nlu"])]}}
    found = scored([onset("c", "d")], gold, Pairs("ac", "bc", "bd"))
    assert found["counts"]["non_medical"] == {"matched": 2, "missed": 0, "wrong": 0}
    found = scored([onset("c", "d")], gold, Pairs("ac", "bc"))
    assert found["counts"]["non_medical"] == {"matched": 1, "missed": 1, "wrong": 1}


def test_the_number_of_matches_is_the_largest_there_is() -> None:
    rng = random.Random(3)
    for _ in range(60):
        pairs = {one + other for one in "abcd" for other in "wxyz" if rng.random() < 0.35}
        most = max(
            sum(one + other in pairs for one, other in zip("abcd", order, strict=True))
            for order in itertools.permutations("wxyz")
        )
        gold = {"7": {"utterances": [patient(0, "x", *onset(*"abcd")["nlu"])]}}
        found = scored([onset(*"wxyz")], gold, Pairs(*pairs))
        assert found["counts"]["non_medical"]["matched"] == most


def test_equal_texts_are_never_asked_about_and_medical_ones_neither() -> None:
    comparator = Pairs()
    scored(own_predictions(dataset(), "patient", "nlu"), comparator=comparator)
    scored(
        [line(3, nlu=[{"intent": "inform", "slots": {"basic_information": [{"age": "41"}]}}])], comparator=comparator
    )
    assert comparator.asked == 0
    scored(edited_nlu(), comparator=comparator)
    assert comparator.asked == 1


def test_an_attribute_hangs_on_its_value() -> None:
    wrong_head = [{"intent": "inform", "slots": {"positive_symptom": [{"value": "cold", "onset": "past four days"}]}}]
    found = scored([line(1, nlu=wrong_head)])
    assert found["counts"]["non_medical"] == {"matched": 0, "missed": 2, "wrong": 1}


def test_the_example_of_the_document() -> None:
    said = [{"value": "pharyngitis", "onset": "the last 4 days"}, {"value": "fever"}, {"value": "dyspnea"}]
    gold = {"7": {"utterances": dataset()["7"]["utterances"][1:2]}}
    found = scored([line(1, nlu=[{"intent": "inform", "slots": {"positive_symptom": said}}])], gold)
    assert found["overall"] == figures(3 / 4, 3 / 4, 3 / 4)
    assert found["medical"] == figures(pytest.approx(2 / 3), 1, pytest.approx(4 / 5))
    assert found["non_medical"] == figures(1, 1 / 2, pytest.approx(2 / 3))


def test_names_that_a_model_invents_are_wrong_and_cost_no_memory() -> None:
    many = [{"value": "x", f"attribute {n}": "y"} for n in range(3000)]
    gold, lines = dataset(), [line(1, nlu=[{"intent": "inform", "slots": {"positive_symptom": many}}])]
    gold |= {str(n): {"utterances": gold["7"]["utterances"]} for n in range(20, 30)}
    turns, given = patient_turns(gold), predicted(lines, unroll_nlu, "nlu")
    tracemalloc.start()
    found = score_nlu(turns, given, Exact()).as_json()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found["counts"]["non_medical"]["wrong"] == 3000
    assert peak < 30_000_000  # all of them at once would be 3,000 × 3 × 2,000 × 8 bytes


# --- intervals ---


def many(errors: list[int]) -> tuple[dict[str, Any], list[Json]]:
    """Dialogues of four symptoms each, of which so many are predicted wrongly."""
    gold, lines = {}, []
    for number, wrong in enumerate(errors):
        said = [{"value": f"s{n}"} for n in range(4)]
        guessed = [{"value": f"s{n}" if n >= wrong else f"w{n}"} for n in range(4)]
        name = str(number)
        gold[name] = {"utterances": [patient(0, "x", {"intent": "inform", "slots": {"positive_symptom": said}})]}
        lines.append(line(0, name, nlu=[{"intent": "inform", "slots": {"positive_symptom": guessed}}]))
    return gold, lines


def test_intervals_are_drawn_over_dialogues_from_a_stated_seed() -> None:
    gold, lines = many([0, 4] * 10)
    turns, given = patient_turns(gold), predicted(lines, unroll_nlu, "nlu")
    one, same, other = (score_nlu(turns, given, Exact(), seed=seed).as_json() for seed in (5, 5, 6))
    assert one == same
    assert one["intervals"] != other["intervals"]
    assert one["resampling"]["seed"] == 5
    ends = one["intervals"]["overall"]["precision"]["interval"]
    # Whole dialogues are right or wrong: ±1.96·√(¼/20) around a half; drawing tuples would give half of that.
    assert ends["method"] == "bootstrap"
    assert ends["low"] == pytest.approx(0.28, abs=0.05)
    assert ends["high"] == pytest.approx(0.72, abs=0.05)


def test_few_dialogues_have_an_interval_by_the_jackknife_that_stays_a_share() -> None:
    gold, lines = many([4, 4, 0])
    found = scored(lines, gold)
    assert found["overall"]["f1"] == pytest.approx(1 / 3)
    ends = found["intervals"]["overall"]["f1"]
    assert ends["interval"] == {"method": "jackknife-t", "low": 0.0, "high": 1.0}
    assert (ends["low"], ends["high"]) == (0.0, 0.5)


def test_one_dialogue_has_no_interval() -> None:
    ends = scored(edited_nlu())["intervals"]["overall"]["f1"]
    assert ends["interval"] == {"method": "none", "low": None, "high": None}


def test_counts_are_pooled_and_figures_no_means_of_figures() -> None:
    gold, lines = many([1, 3])
    gold["2"] = {"utterances": [patient(0, "x", {"intent": "chit-chat"})]}
    found = scored(lines, gold)
    assert found["overall"] == figures(
        float(Fraction(4, 8)), pytest.approx(float(Fraction(4, 9))), pytest.approx(8 / 17)
    )
