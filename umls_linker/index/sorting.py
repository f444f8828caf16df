"""Sorting more than fits into memory: runs of bounded size are sorted, written to files, and merged as they are read
back; and lists of numbers turned round.

Records are single strings, made so that their order is the one wanted: strings are compared, kept, written and read
many times faster than tuples.
"""

from __future__ import annotations

import marshal
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

RUN = 80_000  # records held while they are gathered
BLOCK = 400  # records of one run held while it is merged
LISTS = 50_000  # lists read at once
PAIRS = 1_000_000  # pairs held while they are ordered
END = "\0"  # ends a text within a record; no text that is sorted by has it

Numbers = NDArray[np.uint32]


class RecordSorter:
    """Takes strings in any order and gives them back sorted, once. Its files lie in `folder`, which must exist."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._run: list[str] = []
        self._paths: list[Path] = []
        self._last = ""
        self._in_order = True  # whether no run reaches back into the one before, so that they need no merging

    def add(self, record: str) -> None:
        self._run.append(record)
        if len(self._run) >= RUN:
            self._write()

    def _write(self) -> None:
        self._run.sort()
        self._in_order = self._in_order and self._last <= self._run[0]
        self._last = self._run[-1]
        path = self._folder / f"{self._name}-{len(self._paths)}.run"
        with path.open("wb", buffering=1 << 16) as file:
            for start in range(0, len(self._run), BLOCK):
                marshal.dump(self._run[start : start + BLOCK], file)
        self._paths.append(path)
        self._run = []

    def __iter__(self) -> Iterator[str]:
        if self._paths and self._run:
            self._write()
        if not self._paths:
            self._run.sort()
            yield from self._run
        elif self._in_order:
            for path in self._paths:
                yield from chain.from_iterable(_blocks(path))
        else:
            yield from chain.from_iterable(_merged([_blocks(path) for path in self._paths]))
        for path in self._paths:
            path.unlink()
        self._run, self._paths = [], []


def _blocks(path: Path) -> Iterator[list[str]]:
    with path.open("rb", buffering=1 << 14) as file:
        while True:
            try:
                yield marshal.load(file)  # noqa: S302 - written a moment ago by this process
            except EOFError:
                return


def _merged(runs: list[Iterator[list[str]]]) -> Iterator[list[str]]:
    """All records of sorted runs in order, some at a time.

    In each round, whatever is not above the end of the block that ends first is taken from all runs and sorted
    together: Python's sort finds the sorted pieces and merges them, which is several times quicker than going from
    record to record.
    """
    heads = [(block, 0, run) for run in runs if (block := next(run, None))]
    while heads:
        bound = min(block[-1] for block, _, _ in heads)
        taken: list[str] = []
        left = []
        for block, start, run in heads:
            end = bisect_right(block, bound, start)
            taken += block[start:end]
            if end < len(block):
                left.append((block, end, run))
            elif following := next(run, None):
                left.append((following, 0, run))
        heads = left
        taken.sort()
        yield taken


def grouped(records: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Sorted records by what stands before `END`, each with all that stand behind it."""
    head = ""
    tails: list[str] = []
    for record in records:
        key, _, tail = record.partition(END)
        if key == head and tails:
            tails.append(tail)
        else:
            if tails:
                yield head, tails
            head, tails = key, [tail]
    if tails:
        yield head, tails


def write_inverted(
    lists: Path, out: Path, *, groups: int, group_of: Callable[[Numbers], Numbers], scratch: Path
) -> None:
    """`Lists` turned round: for each of the `groups`, ascending, the numbers of the lists that have a value of it.

    `group_of` gives the groups of values, of which none comes twice in one list. `scratch`: a folder for files in
    between.
    """
    sizes = np.zeros(groups, dtype=np.uint32)
    for pairs in _pairs(lists, group_of):
        np.add.at(sizes, pairs[:, 0], 1)
    starts = np.zeros(groups + 1, dtype=np.uint64)
    np.cumsum(sizes, out=starts[1:])
    del sizes
    starts.tofile(out.with_suffix(".starts"))
    with out.with_suffix(".values").open("wb") as file:
        for part in _parts(_pairs(lists, group_of), starts, scratch):
            # A stable sort keeps the numbers of a group ascending, as they came.
            file.write(part[np.argsort(part[:, 0], kind="stable"), 1].tobytes())


def _pairs(lists: Path, group_of: Callable[[Numbers], Numbers]) -> Iterator[Numbers]:
    """(group, number of the list), some lists at a time. Read and not mapped: pages that were seen would stay."""
    starts, values = lists.with_suffix(".starts"), lists.with_suffix(".values")
    count = starts.stat().st_size // 8 - 1
    for first in range(0, count, LISTS):
        bounds = np.fromfile(starts, dtype=np.uint64, count=min(LISTS, count - first) + 1, offset=8 * first)
        begin, end = int(bounds[0]), int(bounds[-1])
        held = np.fromfile(values, dtype=np.uint32, count=end - begin, offset=4 * begin)
        numbers = np.arange(first, first + len(bounds) - 1, dtype=np.uint32)
        members = np.repeat(numbers, np.diff(bounds).astype(np.int64))
        yield np.column_stack((group_of(held), members)).astype(np.uint32, copy=False)


def _parts(blocks: Iterable[Numbers], starts: NDArray[np.uint64], scratch: Path) -> Iterator[Numbers]:
    """The pairs in parts of about `PAIRS`, each with all pairs of its groups, those of one below the next's."""
    parts = max(1, -(-int(starts[-1]) // PAIRS))
    bounds = np.searchsorted(starts, np.arange(1, parts, dtype=np.uint64) * np.uint64(PAIRS), side="left")
    paths = [scratch / f"{part}.pairs" for part in range(parts)]
    files = [path.open("wb", buffering=0) for path in paths]
    for pairs in blocks:
        part_of = np.searchsorted(bounds, pairs[:, 0], side="right")
        for part in np.unique(part_of):
            files[part].write(pairs[part_of == part].tobytes())
    for file in files:
        file.close()
    for path in paths:
        yield np.fromfile(path, dtype=np.uint32).reshape(-1, 2)
        path.unlink()
