"""How sure a figure is: dialogues are drawn with replacement, since utterances of one dialogue are not independent.

Percentile bootstrap (Efron & Tibshirani 1993, ch. 13) over counts by dialogue. With few dialogues its intervals are too
narrow to be honest. Then two things are given instead: the range that the figure takes when each dialogue in turn is
left out, which shows how much one dialogue weighs but holds the true figure in only about half of all cases, and an
interval by the jackknife (Tukey 1958; Efron & Tibshirani 1993, ch. 11) with Student's t quantile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotation.domain.agreement_coding import Floats, Ints
from annotation.domain.numbers import counted, per_cent

DRAWS, SEED, LEVEL = 2_000, 20_241, 0.95
FEWEST_DIALOGUES = 10


@dataclass(frozen=True, slots=True)
class Ends:
    """An interval that is meant to hold the true figure as often as its level says; None where it is undefined."""

    method: str  # "bootstrap", "jackknife-t" under ten dialogues, or "none" for a single one
    low: float | None
    high: float | None

    def as_json(self) -> dict[str, str | float | None]:
        return {"method": self.method, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True)
class Interval:
    """Both ends, None where no draw defines the figure; `undefined` draws (or omissions) out of all are left out.

    Under ten dialogues `low` and `high` are the range of leaving one out. `interval` is always an interval.
    """

    low: float | None
    high: float | None
    undefined: int
    interval: Ends

    def as_json(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high, "undefined": self.undefined, "interval": self.interval.as_json()}


@dataclass(frozen=True, slots=True)
class Resampling:
    """How often each dialogue is counted in each draw: draws × dialogues. `method` says how the draws came about.

    Where each dialogue is left out in turn, a first row that counts all of them once comes before those, since the
    jackknife needs the figure over all. `dialogues` is the number of those that are drawn; one without anything to
    compare is in no draw.
    """

    method: str  # "bootstrap", "leave_one_out", or "none" for a single dialogue
    weights: Floats
    level: float
    seed: int
    dialogues: int

    @property
    def draws(self) -> int:
        """How many draws, or omissions, there are."""
        return len(self.weights) - (self.method == "leave_one_out")

    @property
    def interval_method(self) -> str:
        """How the ends in `Interval.interval` come about."""
        return "jackknife-t" if self.method == "leave_one_out" else self.method

    def sentence(self) -> str:
        """The method in words."""
        if self.method == "bootstrap":
            return (
                f"Intervals are {per_cent(self.level)} percentile intervals of {self.draws:,} bootstrap draws over "
                f"{self.dialogues} dialogues (random seed {self.seed})."
            )
        if self.method == "leave_one_out":
            return (
                f"There are only {self.dialogues} dialogues, fewer than {FEWEST_DIALOGUES}, which is too few for "
                "a bootstrap; the ranges are those of the figures when each dialogue in turn is left out, and the "
                f"intervals are {per_cent(self.level)} jackknife intervals over dialogues with the quantile of "
                f"Student's t at {counted(self.dialogues - 1, 'degree')} of freedom."
            )
        return "There are fewer than two dialogues, so that the uncertainty cannot be told."

    def as_json(self) -> dict[str, str | int | float]:
        return {
            "method": self.method,
            "interval_method": self.interval_method,
            "dialogues": self.dialogues,
            "draws": self.draws,
            "level": self.level,
            "seed": self.seed,
            "note": self.sentence(),
        }


def resampling(dialogues: int, *, draws: int = DRAWS, seed: int = SEED, level: float = LEVEL) -> Resampling:
    """The draws for this many dialogues; the same seed gives the same ones."""
    if dialogues < 2:
        return Resampling("none", np.zeros((0, dialogues)), level, seed, dialogues)
    if dialogues < FEWEST_DIALOGUES:
        weights = np.vstack([np.ones(dialogues), 1.0 - np.eye(dialogues)])
        return Resampling("leave_one_out", weights, level, seed, dialogues)
    chosen = np.random.default_rng(seed).integers(dialogues, size=(draws, dialogues))
    ids = (chosen + np.arange(draws)[:, None] * dialogues).ravel()
    weights = np.bincount(ids, minlength=draws * dialogues).reshape(draws, dialogues)
    return Resampling("bootstrap", weights.astype(np.float64), level, seed, dialogues)


def spread(draws: Resampling, places: Ints, size: int) -> Resampling:
    """The same draws where the dialogues drawn stand at `places` among `size` ones; the others are in no draw."""
    weights = np.zeros((len(draws.weights), size))
    weights[:, places] = draws.weights
    return replace(draws, weights=weights)


def resampled(rows: Floats, draws: Resampling, chosen: Ints | None = None) -> Floats:
    """The counts of each draw, from counts by dialogue; `chosen` says which dialogues these are if not all."""
    weights = draws.weights if chosen is None else draws.weights[:, chosen]
    result: Floats = weights @ rows
    return result


def spans(
    values: Mapping[str, Floats], draws: Resampling, lowest: Mapping[str, float] | None = None
) -> dict[str, Interval]:
    """From what each figure is in each draw, by its name, to its interval.

    `lowest` is the least value that a figure can have, −1 where it says nothing.
    """
    if not values or not draws.draws:
        return {path: Interval(None, None, 0, Ends(draws.interval_method, None, None)) for path in values}
    left_out = draws.method == "leave_one_out"
    table = np.stack(list(values.values()))
    by_draw = np.sort(table[:, 1:] if left_out else table, axis=1)  # NaN comes last
    known = (~np.isnan(by_draw)).sum(axis=1)
    tail = 0.0 if left_out else (1 - draws.level) / 2
    low, high = _quantile(by_draw, known, tail), _quantile(by_draw, known, 1 - tail)
    least = np.array([(lowest or {}).get(name, -1.0) for name in values])
    ends = jackknife_ends(table[:, 0], table[:, 1:], draws.level, least) if left_out else (low, high)
    undefined = by_draw.shape[1] - known
    return {
        path: Interval(
            _defined(low[place]),
            _defined(high[place]),
            int(undefined[place]),
            Ends(draws.interval_method, _defined(ends[0][place]), _defined(ends[1][place])),
        )
        for place, path in enumerate(values)
    }


def jackknife_ends(
    whole: Floats, without: Floats, level: float, lowest: Floats | float = -1.0
) -> tuple[Floats, Floats]:
    """Both ends for each figure, from its value over all dialogues and, figures × dialogues, without each of them.

    The pseudo-values n·θ − (n − 1)·θ₍ᵢ₎ are taken for n independent values: their mean ± t·s/√n, with n − 1 degrees of
    freedom. NaN where the figure is undefined over all or without one of the dialogues. No figure of agreement
    lies below its `lowest` value or above 1, so that ends beyond are cut there, which loses no true value.
    """
    from scipy.special import stdtrit  # type: ignore[import-untyped]  # as slow to import as scikit-learn

    size = without.shape[1]
    pseudo = size * whole[:, None] - (size - 1) * without
    centre = pseudo.mean(axis=1)
    half = stdtrit(size - 1, (1 + level) / 2) * pseudo.std(axis=1, ddof=1) / np.sqrt(size)
    return np.clip(centre - half, lowest, 1.0), np.clip(centre + half, lowest, 1.0)


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _quantile(table: Floats, known: Ints, share: float) -> Floats:
    """By row, the quantile of its first `known` values, which are sorted; linear between two values."""
    place = np.maximum(known - 1, 0) * share
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(known - 1, 0))
    row = np.arange(len(table))
    start: Floats = table[row, below]
    return start + (table[row, above] - start) * (place - below)
