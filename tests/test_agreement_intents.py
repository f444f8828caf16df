"""α and κ against other implementations of them."""

from __future__ import annotations

import random
import warnings
from itertools import permutations

import numpy as np
import pytest
from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import masi_distance as nltk_masi
from sklearn.metrics import cohen_kappa_score

from annotation.domain.agreement import SubmittedReading, agreement, masi_distance, paired
from tests.agreeing import CMAS, by_intents, read_by, report

INTENTS = ["inform", "inquire", "diagnosis", "salutations"]
Sets = list[frozenset[str]]


def random_sets(rng: random.Random, size: int) -> Sets:
    """Sets of nought to three intents; nought is common."""
    return [frozenset(rng.sample(INTENTS, rng.choice([0, 0, 1, 1, 1, 2, 3]))) for _ in range(size)]


def noisy(rng: random.Random, sets: Sets, share: float) -> Sets:
    return [
        one if rng.random() > share else other for one, other in zip(sets, random_sets(rng, len(sets)), strict=True)
    ]


def guarded_masi(a: frozenset[str], b: frozenset[str]) -> float:
    """NLTK divides by zero for two empty sets."""
    return 0.0 if not a and not b else float(nltk_masi(a, b))


def nltk_alpha(raters: list[Sets]) -> float:
    rows = [(str(name), str(place), one) for name, sets in enumerate(raters) for place, one in enumerate(sets)]
    return float(AnnotationTask(data=rows, distance=guarded_masi).alpha())


def codes(sets: Sets) -> list[str]:
    return ["+".join(sorted(one)) for one in sets]


def test_one_thousand_random_label_sets_agree_with_nltk_and_scikit_learn() -> None:
    """Fifty comparisons of twenty utterances: 1,000 pairs of label sets, empty ones among them."""
    rng = random.Random(4)
    compared = 0
    for _ in range(50):
        a = random_sets(rng, 20)
        b = noisy(rng, a, rng.choice([0.1, 0.4, 1.0]))
        found = report(by_intents(a), by_intents(b), draws=1).as_json()["intents"]
        assert found["alpha_masi"] == pytest.approx(nltk_alpha([a, b]), abs=1e-9)
        assert found["kappa_whole_set"] == pytest.approx(cohen_kappa_score(codes(a), codes(b)), abs=1e-9)
        for intent in INTENTS:
            has_a, has_b = [intent in one for one in a], [intent in one for one in b]
            if len({*has_a, *has_b}) == 2:
                expected = cohen_kappa_score(has_a, has_b)
                assert found["by_intent"][intent]["kappa"] == pytest.approx(expected, abs=1e-9)
        compared += sum(not one for one in a)
    assert compared > 100


def test_all_thousand_at_once_agree_too() -> None:
    rng = random.Random(8)
    a = random_sets(rng, 1000)
    b = noisy(rng, a, 0.3)
    found = report(by_intents(a), by_intents(b), draws=1).as_json()["intents"]
    assert found["alpha_masi"] == pytest.approx(nltk_alpha([a, b]), abs=1e-9)
    assert found["kappa_whole_set"] == pytest.approx(cohen_kappa_score(codes(a), codes(b)), abs=1e-9)


def test_the_distance_is_nltks_and_whole_on_empty_sets() -> None:
    with pytest.raises(ZeroDivisionError):
        nltk_masi(frozenset(), frozenset())
    assert masi_distance(frozenset(), frozenset()) == 0
    assert masi_distance(frozenset(), frozenset("a")) == 1
    everything = [frozenset(one) for one in ("a", "ab", "abc", "bc", "cd", "d", "abcd")]
    for one, other in permutations(everything, 2):
        assert masi_distance(one, other) == pytest.approx(float(nltk_masi(one, other)), abs=1e-12)


def test_scikit_learn_is_not_asked_about_one_category() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = report(by_intents([{"inform"}] * 3), by_intents([{"inform"}] * 3))
    assert found.value("intents", "kappa_whole_set") is None
    assert found.baseline.kappa_whole_set is None


def brute_alpha(raters: list[dict[int, frozenset[str]]]) -> float:
    """α straight from its definition, over the values that have a partner."""
    places = sorted({place for one in raters for place in one})
    units = [[one[place] for one in raters if place in one] for place in places]
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    n = len(values)
    observed = sum(
        sum(masi_distance(one, other) for one, other in permutations(unit, 2)) / (len(unit) - 1) for unit in units
    )
    expected = sum(masi_distance(one, other) for one, other in permutations(values, 2)) / (n - 1)
    return 1 - observed / expected


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_alpha_with_three_annotators_is_over_pairable_values(missing: float) -> None:
    rng = random.Random(9)
    for _ in range(10):
        truth = random_sets(rng, 15)
        raters = [noisy(rng, truth, 0.4) for _ in range(3)]
        kept = [frozenset(place for place in range(15) if rng.random() >= missing) for _ in raters]
        readings = [
            SubmittedReading(str(name), by_intents(sets), submitted)
            for name, (sets, submitted) in enumerate(zip(raters, kept, strict=True))
        ]
        found = agreement(CMAS, paired(readings), draws=1).value("intents", "alpha_masi")
        given = [{place: sets[place] for place in places} for sets, places in zip(raters, kept, strict=True)]
        assert found == pytest.approx(brute_alpha(given), abs=1e-9)


def test_alpha_with_three_annotators_is_nltks() -> None:
    rng = random.Random(10)
    truth = random_sets(rng, 40)
    raters = [noisy(rng, truth, 0.3) for _ in range(3)]
    found = agreement(CMAS, read_by({str(name): by_intents(sets) for name, sets in enumerate(raters)}), draws=1)
    assert found.value("intents", "alpha_masi") == pytest.approx(nltk_alpha(raters), abs=1e-9)
    for cell, (one, other) in zip(found.pairs, [(0, 1), (0, 2), (1, 2)], strict=True):
        alone = nltk_alpha([raters[one], raters[other]])
        assert cell.group.figures[("intents", "alpha_masi")] == pytest.approx(alone, abs=1e-9)


def test_a_figure_drawn_in_a_bootstrap_is_the_same_formula() -> None:
    """The vectorised κ over counts is scikit-learn's: with every dialogue drawn once it is the figure itself."""
    rng = random.Random(12)
    a = random_sets(rng, 60)
    found = report(by_intents(a), by_intents(noisy(rng, a, 0.3)), draws=1)
    figure = next(one for one in found.figures if one.path == ("intents", "kappa_whole_set"))
    from annotation.domain.agreement_counts import summed

    sums = summed(found.coded, found.counts)
    value = figure.formula(np.atleast_2d(sums.by_dialogue().sum(axis=0)), sums.layout)[0]
    assert value == pytest.approx(found.value("intents", "kappa_whole_set"), abs=1e-12)
