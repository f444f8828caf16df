"""The formulas, each over many rows of counts at once: one row is the data, 2,000 rows are a bootstrap.

Every formula gives NaN where it is undefined (a denominator of zero, or an expected agreement of 1); never 1 or 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from annotation.domain.agreement_coding import Floats
from annotation.domain.agreement_counts import Layout, Path


class Formula(Protocol):
    def __call__(self, rows: Floats, layout: Layout) -> Floats:
        """One value for each row of counts; NaN where undefined."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the report: its place, its formula, and the columns whose items are its disagreements.

    `over` are the columns whose items it is computed from, none for all items.
    """

    path: Path
    formula: Formula
    behind: tuple[Path, ...] = ()
    over: tuple[Path, ...] = ()
    interval: bool = True  # whether its uncertainty is reported
    headline: bool = False  # whether it is reported for each pair of annotators, and as their mean

    @property
    def lowest(self) -> float:
        """The least value that it can have: 0 for a share or F, −1 for what is corrected for chance."""
        parts = (*self.formula.above, *self.formula.below) if isinstance(self.formula, Ratio) else ()
        return 0.0 if parts and all(factor > 0 for factor, _ in parts) else -1.0


def ratio(above: Floats, below: Floats) -> Floats:
    """above / below, NaN where below is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Floats = np.where(below == 0, np.nan, above / below)
    return result


@dataclass(frozen=True, slots=True)
class Ratio:
    """Σ aᵢ·countᵢ / Σ bᵢ·countᵢ, written as two lists of (factor, column)."""

    above: tuple[tuple[float, Path], ...]
    below: tuple[tuple[float, Path], ...]

    def __call__(self, rows: Floats, layout: Layout) -> Floats:
        return ratio(_sum(rows, layout, self.above), _sum(rows, layout, self.below))


@dataclass(frozen=True, slots=True)
class TableKappa:
    """Cohen's κ of a 2×2 table: (Po − Pe) / (1 − Pe), multiplied out by n² so that whole counts stay exact."""

    a: Path
    b: Path
    c: Path
    d: Path

    def __call__(self, rows: Floats, layout: Layout) -> Floats:
        a, b, c, d = (rows[:, layout.columns[path]] for path in (self.a, self.b, self.c, self.d))
        n = a + b + c + d
        chance = (a + b) * (a + c) + (c + d) * (b + d)
        return ratio(n * (a + d) - chance, n * n - chance)


@dataclass(frozen=True, slots=True)
class TableChance:
    """Pe of a 2×2 table."""

    table: TableKappa

    def __call__(self, rows: Floats, layout: Layout) -> Floats:
        table = self.table
        a, b, c, d = (rows[:, layout.columns[path]] for path in (table.a, table.b, table.c, table.d))
        n = a + b + c + d
        return ratio((a + b) * (a + c) + (c + d) * (b + d), n * n)


@dataclass(frozen=True, slots=True)
class CategoryKappa:
    """Cohen's κ over any number of categories, from the agreements, the items and both annotators' tallies."""

    same: tuple[Path, ...]
    items: tuple[Path, ...]
    tally_a: Path
    tally_b: Path

    def __call__(self, rows: Floats, layout: Layout) -> Floats:
        same = _sum(rows, layout, tuple((1.0, path) for path in self.same))
        n = _sum(rows, layout, tuple((1.0, path) for path in self.items))
        chance = np.einsum("ij,ij->i", rows[:, layout.tallies[self.tally_a]], rows[:, layout.tallies[self.tally_b]])
        return ratio(n * same - chance, n * n - chance)


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's α = 1 − Do/De over pairable values (Krippendorff 2004, ch. 11; MASI: Passonneau 2006).

    `observed` sums each value's mean distance to its partners at the item; `tallies` count the values by category;
    `distance` is categories × categories. De = Σᵢ≠ⱼ δ / (N(N−1)) over all N values.
    """

    observed: Path
    tallies: tuple[Path, ...]
    distance: Floats

    def __call__(self, rows: Floats, layout: Layout) -> Floats:
        values = sum(
            (rows[:, layout.tallies[path]] for path in self.tallies), np.zeros((len(rows), len(self.distance)))
        )
        n = values.sum(axis=1)
        expected = np.einsum("ij,ij->i", values @ self.distance, values)
        return 1 - ratio(rows[:, layout.columns[self.observed]] * (n - 1), expected)


def f_score(both: Path, only_a: Path, only_b: Path) -> Ratio:
    """F = 2TP / (2TP + FP + FN), the same from either side (Hripcsak & Rothschild 2005)."""
    return Ratio(((2, both),), ((2, both), (1, only_a), (1, only_b)))


def f_figure(path: Path, counts: Path, *, headline: bool = False) -> Figure:
    """F over the columns `both`, `only_a`, `only_b` below `counts`."""
    both, only_a, only_b = (*counts, "both"), (*counts, "only_a"), (*counts, "only_b")
    over = (both, only_a, only_b)
    return Figure(path, f_score(*over), (only_a, only_b), over, headline=headline)


def table_kappa(path: Path) -> TableKappa:
    return TableKappa((*path, "a"), (*path, "b"), (*path, "c"), (*path, "d"))


def table_figures(path: Path) -> list[Figure]:
    """Everything about one 2×2 table: Po, Pe, κ, specific agreement, prevalence and bias.

    Source of the last four: Cicchetti & Feinstein 1990; Byrt, Bishop & Carlin 1993.
    """
    a, b, c, d = ((*path, name) for name in "abcd")
    everything = ((1.0, a), (1.0, b), (1.0, c), (1.0, d))
    kappa = table_kappa(path)
    plain: Sequence[tuple[str, Formula]] = (
        ("po", Ratio(((1, a), (1, d)), everything)),
        ("pe", TableChance(kappa)),
        ("positive", Ratio(((2, a),), ((2, a), (1, b), (1, c)))),
        ("negative", Ratio(((2, d),), ((2, d), (1, b), (1, c)))),
        ("prevalence", Ratio(((1, a), (-1, d)), everything)),
        ("bias", Ratio(((1, b), (-1, c)), everything)),
    )
    return [
        Figure((*path, "kappa"), kappa, (b, c)),
        *(Figure((*path, name), formula, (b, c), interval=False) for name, formula in plain),
    ]


def _sum(rows: Floats, layout: Layout, terms: tuple[tuple[float, Path], ...]) -> Floats:
    total: Floats = np.zeros(len(rows))
    for factor, path in terms:
        total = total + factor * rows[:, layout.columns[path]]
    return total


def points(figures: Sequence[Figure], row: Floats, layout: Layout) -> dict[Path, float | None]:
    """Each figure over one row of counts; None where it is undefined."""
    return {one.path: defined(float(one.formula(row[None, :], layout)[0])) for one in figures}


def defined(value: float) -> float | None:
    return None if np.isnan(value) else value
