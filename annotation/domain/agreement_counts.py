"""Counts by item under a path of names: what every figure is made of, and where every count can be looked up.

A *column* holds one count for every item (utterance × pair). Sums of columns give the counts of the report, and the
items where a column is not zero are the utterances behind it. A *tally* holds how often each category was chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from annotation.domain.agreement_coding import Coded, Floats, Ints

Path = tuple[str, ...]
ITEMS: Path = ("n",)


@dataclass(frozen=True, slots=True)
class Tally:
    """Categories chosen: `categories[k]` at item `items[k]`, counted `weights[k]` times; codes are below `size`."""

    items: Ints
    categories: Ints
    size: int
    weights: Floats | None = None


@dataclass(slots=True)
class Counts:
    """Columns and tallies by path. `shown` are the columns that the report states; others only serve a figure."""

    size: int
    columns: dict[Path, NDArray[np.generic]] = field(default_factory=dict)
    tallies: dict[Path, Tally] = field(default_factory=dict)
    shown: list[Path] = field(default_factory=list)

    def add(self, path: Path, column: NDArray[np.generic], *, shown: bool = True) -> Path:
        self.columns[path] = column
        if shown:
            self.shown.append(path)
        return path

    def add_table(self, path: Path, a: NDArray[np.bool_], b: NDArray[np.bool_]) -> None:
        """The four cells of a yes/no decision by item: both `a`, only A `b`, only B `c`, neither `d`."""
        for name, cell in (("a", a & b), ("b", a & ~b), ("c", b & ~a), ("d", ~(a | b))):
            self.add((*path, name), cell)

    def add_shared(self, path: Path, shared: Shared) -> None:
        for name, column in (("both", shared.both), ("only_a", shared.only_a), ("only_b", shared.only_b)):
            self.add((*path, name), column)


@dataclass(frozen=True, slots=True)
class Shared:
    """By item: how many things both have, only A has, only B has."""

    both: Ints
    only_a: Ints
    only_b: Ints


def shared(size: int, a: tuple[Ints, Ints], b: tuple[Ints, Ints], *, once: bool = False) -> Shared:
    """What two annotators' (items, keys) have in common by item, as multisets, or with `once` as sets."""
    span = 1 + max((int(keys.max()) for _, keys in (a, b) if len(keys)), default=0)
    ids_a, times_a = np.unique(a[0] * span + a[1], return_counts=True)
    ids_b, times_b = np.unique(b[0] * span + b[1], return_counts=True)
    if once:
        times_a, times_b = np.ones_like(times_a), np.ones_like(times_b)
    common, at_a, at_b = np.intersect1d(ids_a, ids_b, assume_unique=True, return_indices=True)
    both = _sums(common // span, np.minimum(times_a[at_a], times_b[at_b]), size)
    return Shared(both, _sums(ids_a // span, times_a, size) - both, _sums(ids_b // span, times_b, size) - both)


def _sums(items: Ints, times: Ints, size: int) -> Ints:
    return np.bincount(items, weights=times, minlength=size).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a column (an index) or a tally (a range) lies in a row of sums."""

    columns: dict[Path, int]
    tallies: dict[Path, slice]
    width: int


@dataclass(slots=True)
class Sums:
    """Counts summed by unit and speaker: `table[unit, speaker]` is a row laid out as `layout` says."""

    table: Floats  # units × speakers × width
    layout: Layout
    dialogue_of_unit: Ints
    pair_of_unit: Ints
    dialogues: int

    def by_dialogue(self, *, speaker: int | None = None, pair: int | None = None) -> Floats:
        """One row of sums a dialogue; with `pair`, only for the dialogues that this pair read."""
        rows: Floats = self.table.sum(axis=1) if speaker is None else self.table[:, speaker]
        if pair is not None:
            rows = rows[self.pair_of_unit == pair]
        if pair is not None or self.dialogues == len(rows):  # then a dialogue comes only once
            return rows
        result = np.zeros((self.dialogues, rows.shape[1]))
        np.add.at(result, self.dialogue_of_unit, rows)
        return result

    def dialogues_of(self, pair: int) -> Ints:
        chosen: Ints = self.dialogue_of_unit[self.pair_of_unit == pair]
        return chosen


def summed(coded: Coded, counts: Counts) -> Sums:
    """All columns and tallies summed by unit and speaker."""
    speakers = max(1, len(coded.speakers))
    rows = len(coded.units) * speakers
    row = coded.unit * speakers + coded.speaker
    layout = _layout(counts)
    table = np.zeros((rows, layout.width))
    for path, place in layout.columns.items():
        table[:, place] = np.bincount(row, weights=counts.columns[path], minlength=rows)
    for path, span in layout.tallies.items():
        tally = counts.tallies[path]
        ids = row[tally.items] * tally.size + tally.categories
        found = np.bincount(ids, weights=tally.weights, minlength=rows * tally.size)
        table[:, span] = found.reshape(rows, tally.size)
    return Sums(
        table.reshape(len(coded.units), speakers, layout.width),
        layout,
        coded.dialogue_of_unit,
        coded.pair_of_unit,
        len(coded.dialogues),
    )


def _layout(counts: Counts) -> Layout:
    columns = {path: place for place, path in enumerate(counts.columns)}
    width = len(columns)
    tallies = {}
    for path, tally in counts.tallies.items():
        tallies[path] = slice(width, width + tally.size)
        width += tally.size
    return Layout(columns, tallies, width)


def items_behind(counts: Counts, paths: Iterable[Path]) -> Iterator[int]:
    """The items at which any of these columns is not zero, in order."""
    hit = np.zeros(counts.size, dtype=bool)
    for path in paths:
        hit |= counts.columns[path] != 0
    yield from (int(item) for item in np.flatnonzero(hit))
