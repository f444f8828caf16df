"""Uncertainty: reproducible, over dialogues, honest about few of them, and true to what is known."""

from __future__ import annotations

import random

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from annotation.domain.agreement import PairedReading, agreement, csv_rows, methods_paragraph
from annotation.domain.agreement_bootstrap import jackknife_ends, resampling, spans
from tests.agreeing import CMAS, by_intents, pair

INTENTS = ["inform", "inquire", "chit-chat", "nod_prompt"]
SHARES = [0.5, 0.3, 0.15, 0.05]


def simulated(seed: int, *, dialogues: int, size: int, error: float) -> list[PairedReading]:
    """Two annotators who each miss the true intent with a known probability and then take any other."""
    rng = random.Random(seed)

    def read(truth: str) -> set[str]:
        return {truth if rng.random() >= error else rng.choice([one for one in INTENTS if one != truth])}

    pairs = []
    for number in range(dialogues):
        truth = rng.choices(INTENTS, SHARES, k=size)
        a, b = ([read(one) for one in truth] for _ in range(2))
        pairs.append(pair(by_intents(a, f"D{number}"), by_intents(b, f"D{number}")))
    return pairs


def true_kappa(error: float) -> float:
    """κ of two such annotators, from their joint probabilities."""
    confusion = np.full((4, 4), error / 3) + np.eye(4) * (1 - error - error / 3)
    joint = confusion.T @ np.diag(SHARES) @ confusion
    chance = joint.sum(axis=0) @ joint.sum(axis=1)
    return float((np.trace(joint) - chance) / (1 - chance))


def test_the_interval_holds_the_known_truth_in_at_least_90_of_100_draws() -> None:
    """A percentile bootstrap over few dialogues holds less than it says (92 % at 30, 94 % at 60), so there are 60."""
    truth = true_kappa(0.1)
    held = 0
    for seed in range(100):
        found = agreement(CMAS, simulated(seed, dialogues=60, size=20, error=0.1))
        interval = found.intervals["intents.kappa_whole_set"]
        assert interval.low is not None
        assert interval.high is not None
        held += interval.low <= truth <= interval.high
    assert held >= 90


def test_the_interval_is_that_of_a_plain_bootstrap_over_dialogues() -> None:
    pairs = simulated(5, dialogues=15, size=10, error=0.2)
    found = agreement(CMAS, pairs).intervals["intents.kappa_whole_set"]
    sides = [
        [[label.intent for label in reading.labels] for reading in readings]
        for readings in zip(*((one.a, one.b) for one in pairs), strict=True)
    ]
    chosen = resampling(15).weights
    values = []
    for times in chosen:
        a, b = (
            [intent for one, count in zip(side, times, strict=True) for intent in one * int(count)] for side in sides
        )
        values.append(cohen_kappa_score(a, b))
    assert [found.low, found.high] == pytest.approx(list(np.percentile(values, [2.5, 97.5])), abs=1e-9)


def test_more_dialogues_make_it_narrower() -> None:
    def width(dialogues: int) -> float:
        found = agreement(CMAS, simulated(1, dialogues=dialogues, size=20, error=0.1))
        interval = found.intervals["intents.kappa_whole_set"]
        return (interval.high or 0) - (interval.low or 0)

    assert width(100) < width(12) / 2


def test_under_ten_dialogues_the_range_of_leaving_one_out_is_given() -> None:
    pairs = simulated(2, dialogues=4, size=12, error=0.3)
    found = agreement(CMAS, pairs)
    assert found.resampling.method == "leave_one_out"
    assert "only 4 dialogues" in methods_paragraph(found)
    without = [
        agreement(CMAS, pairs[:at] + pairs[at + 1 :]).value("intents", "kappa_whole_set") or 0.0 for at in range(4)
    ]
    interval = found.intervals["intents.kappa_whole_set"]
    assert [interval.low, interval.high] == pytest.approx([min(without), max(without)], abs=1e-12)


@pytest.mark.parametrize("dialogues", [3, 6, 9])
def test_under_ten_dialogues_the_jackknife_holds_the_known_truth_in_at_least_90_of_100_draws(dialogues: int) -> None:
    truth = true_kappa(0.1)
    held = in_range = 0
    for seed in range(100):
        found = agreement(CMAS, simulated(seed, dialogues=dialogues, size=60, error=0.1))
        range_and_interval = found.intervals["intents.kappa_whole_set"]
        ends = range_and_interval.interval
        assert ends.method == "jackknife-t"
        assert None not in (ends.low, ends.high, range_and_interval.low, range_and_interval.high)
        held += (ends.low or 0) <= truth <= (ends.high or 0)
        in_range += (range_and_interval.low or 0) <= truth <= (range_and_interval.high or 0)
    assert held >= 90
    assert in_range < 70  # which is why the range is no interval


def test_the_jackknife_is_that_of_its_textbook() -> None:
    """Of a mean the pseudo-values are the values themselves, so that the interval is Student's own."""
    values = np.array([0.61, 0.7, 0.55, 0.8, 0.66])
    without = (values.sum() - values) / 4
    low, high = jackknife_ends(np.array([values.mean()]), without[None, :], 0.95)
    half = 2.7764451052 * values.std(ddof=1) / np.sqrt(5)  # the 97.5 % point of t with 4 degrees of freedom
    assert [low[0], high[0]] == pytest.approx([values.mean() - half, values.mean() + half], abs=1e-9)


def test_the_jackknife_of_a_report_is_that_of_reports_without_each_dialogue() -> None:
    pairs = simulated(2, dialogues=4, size=12, error=0.3)
    path = ("intents", "kappa_whole_set")
    whole = agreement(CMAS, pairs).value(*path) or 0.0
    without = [agreement(CMAS, pairs[:at] + pairs[at + 1 :]).value(*path) or 0.0 for at in range(4)]
    low, high = jackknife_ends(np.array([whole]), np.array([without]), 0.95)
    ends = agreement(CMAS, pairs).intervals["intents.kappa_whole_set"].interval
    assert [ends.low, ends.high] == pytest.approx([low[0], high[0]], abs=1e-12)


def test_the_jackknife_goes_no_further_than_agreement_can() -> None:
    low, high = jackknife_ends(np.array([0.9, -0.9]), np.array([[0.85, 1.0], [-0.85, -1.0]]), 0.95)
    half = 12.7062047362 * 0.075  # the 97.5 % point of t with one degree of freedom, times the standard error
    assert list(low) == pytest.approx([0.875 - half, -1.0], abs=1e-9)
    assert list(high) == pytest.approx([1.0, -0.875 + half], abs=1e-9)


def test_a_share_has_no_interval_below_zero_and_what_is_corrected_for_chance_may_have_one() -> None:
    mixed = [{"inform"}, {"chit-chat"}, {"inquire"}]
    other = [{"inquire"}, {"inform"}, {"inform"}]
    pairs = [pair(by_intents(mixed, name), by_intents(other, name)) for name in ("D0", "D1")]
    same = [{"inform"}, {"inform"}, {"inform"}]
    pairs.append(pair(by_intents(same, "D2"), by_intents([{"inform"}, {"nod_prompt"}, {"nod_prompt"}], "D2")))
    found = agreement(CMAS, pairs).intervals
    assert found["intents.micro_f"].interval.low == 0.0
    assert found["headline.intents.micro_f"].interval.low == 0.0
    kappa = found["intents.kappa_whole_set"].interval.low
    assert kappa is not None
    assert kappa < 0


def test_the_jackknife_is_undefined_where_one_dialogue_carries_the_figure_or_is_all_there_is() -> None:
    alone = pair(by_intents([{"inform"}, {"inquire"}], "A"), by_intents([{"inform"}, {"inquire"}], "A"))
    same = [pair(by_intents([{"inform"}], name), by_intents([{"inform"}], name)) for name in "BC"]
    found = agreement(CMAS, [alone, *same]).intervals["intents.kappa_whole_set"]
    assert (found.low, found.undefined) == (1.0, 1)
    assert found.interval.as_json() == {"method": "jackknife-t", "low": None, "high": None}
    single = agreement(CMAS, [alone]).intervals["intents.kappa_whole_set"]
    assert single.interval.as_json() == {"method": "none", "low": None, "high": None}


def test_words_and_rows_tell_the_interval_from_the_range() -> None:
    few, many = (agreement(CMAS, simulated(2, dialogues=count, size=12, error=0.3)) for count in (4, 12))
    text = methods_paragraph(few)
    one = few.intervals["intents.kappa_whole_set"]
    span = f"(95 % interval {one.interval.low:.2f} to {one.interval.high:.2f}, range {one.low:.2f} to {one.high:.2f})"
    assert span in text
    assert "95 % jackknife intervals" in text
    assert "3 degrees of freedom" in text
    assert few.as_json()["uncertainty"]["draws"] == 4
    row = next(row for row in csv_rows(few) if row[:2] == ("all", "intents.kappa_whole_set"))
    assert row[3:] == (one.low, one.high, one.interval.low, one.interval.high)
    assert "jackknife" not in methods_paragraph(many)
    boot = many.intervals["intents.kappa_whole_set"]
    assert boot.interval.as_json() == {"method": "bootstrap", "low": boot.low, "high": boot.high}


def test_nine_and_ten_dialogues_are_told_apart() -> None:
    assert (resampling(9).method, resampling(9).interval_method) == ("leave_one_out", "jackknife-t")
    assert (resampling(10).method, resampling(10).interval_method) == ("bootstrap", "bootstrap")
    assert resampling(1).method == "none"
    assert resampling(0).weights.shape == (0, 0)


def test_every_draw_has_as_many_dialogues_as_there_are() -> None:
    draws = resampling(12, draws=500, seed=3)
    assert draws.weights.shape == (500, 12)
    assert set(draws.weights.sum(axis=1)) == {12.0}
    assert (draws.weights == resampling(12, draws=500, seed=3).weights).all()
    assert not (draws.weights == resampling(12, draws=500, seed=4).weights).all()


def test_draws_in_which_a_figure_is_undefined_are_counted() -> None:
    draws = resampling(10, draws=4)
    found = spans({"x": np.array([0.5, np.nan, 0.1, np.nan]), "y": np.full(4, np.nan)}, draws)
    assert (found["x"].undefined, found["y"].undefined) == (2, 4)
    assert found["x"].low == pytest.approx(0.11)
    assert found["x"].high == pytest.approx(0.49)
    assert found["y"].low is None


def test_the_mean_over_pairs_has_an_interval_of_its_own() -> None:
    one = simulated(3, dialogues=12, size=12, error=0.1)
    other = [
        PairedReading(found.a, found.b, "1", "3", found.submitted_a, found.submitted_b)
        for found in simulated(4, dialogues=12, size=12, error=0.3)
    ]
    found = agreement(CMAS, one + other)
    interval = found.intervals["headline.intents.kappa_whole_set"]
    mean = found.headline[("intents", "kappa_whole_set")].value
    assert mean is not None
    assert interval.low is not None
    assert interval.high is not None
    assert interval.low < mean < interval.high
    assert found.intervals["by_speaker.doctor.intents.kappa_whole_set"].low is not None
