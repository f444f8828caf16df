"""Look-up by shared letters: SimString databases, with unqlite to tell the number of a string.

SimString holds a database in memory until it is closed, and a search looks at strings of similar length only. Strings
are therefore written in the order of their length into one database after another (a shard), and a search opens only
those whose lengths are in range. SimString compares every string by itself, so that divided databases find exactly
what one large database would.

A string's number is in one of several unqlite databases, chosen by the string's checksum.

Strings are given in `matching_form`. A shard is never changed once written; unqlite opens it for reading only, which
takes no lock.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

from umls_linker.index.manifest import UnusableVocabulary
from umls_linker.index.native import simstring, unqlite_error, unqlite_open
from umls_linker.index.storage import write_durably

SHARD = (
    80_000  # strings of one shard: a build's memory grows with their number, a search's time with the shards' number
)
NUMBERS = 2  # unqlite databases of one shard: each becomes slower with every string, but every one is an open file


@dataclass(frozen=True, slots=True)
class Runs:
    """What SimString compares: runs of so many characters, with the string's ends marked or not."""

    length: int
    marked: bool

    def of(self, text: str) -> int:
        """How many runs a string has."""
        return max(1, len(text) + (self.length - 1) * (1 if self.marked else -1))


TRIGRAMS = Runs(3, marked=False)  # as in QuickUMLS
MARKED_PAIRS = Runs(2, marked=True)  # for single words, where a wrong letter spoils too many trigrams


class ShardsWriter:
    """Takes (string, number) in the order of how many runs the strings have, each string once."""

    def __init__(self, folder: Path, runs: Runs) -> None:
        folder.mkdir()
        self._folder, self._runs = folder, runs
        self._shards: list[dict[str, int]] = []
        self._fewest = self._most = self._count = 0
        self._strings: Any = None
        self._numbers: list[Any] = []

    def add(self, text: str, number: int) -> None:
        runs = self._runs.of(text)
        if self._strings is None or self._count >= SHARD:
            self._close_shard()
            self._open_shard(runs)
        self._strings.insert(text)
        data = text.encode("utf-8")
        self._numbers[crc32(data) % NUMBERS].store(data, number.to_bytes(4, "little"))
        self._most = runs
        self._count += 1

    def _open_shard(self, runs: int) -> None:
        folder = self._folder / f"{len(self._shards):04}"
        folder.mkdir()
        # The last argument: of characters, not of bytes, as in QuickUMLS.
        self._strings = simstring().writer(str(_strings_file(folder)), self._runs.length, self._runs.marked, True)
        self._numbers = [unqlite_open(path, writable=True) for path in _number_files(folder)]
        self._fewest, self._count = runs, 0

    def _close_shard(self) -> None:
        if self._strings is not None:
            self._strings.close()
            for numbers in self._numbers:
                numbers.commit()
                numbers.close()
            self._strings, self._numbers = None, []
            self._shards.append({"fewest": self._fewest, "most": self._most, "strings": self._count})

    def close(self) -> None:
        self._close_shard()
        write_durably(self._folder / "shards.json", json.dumps(self._shards))


@dataclass(slots=True)
class Shard:
    """One database, opened when first asked. `fewest` and `most`: runs of its shortest and longest string."""

    folder: Path
    fewest: int
    most: int
    strings: int
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _reader: Any = None
    _set_to: tuple[str, float] = ("", 0.0)
    _numbers: list[Any] = field(default_factory=list, repr=False)

    def alike(self, text: str, measure: str, threshold: float) -> tuple[str, ...]:
        with self._lock:  # measure and threshold are properties of the reader, not arguments
            if self._reader is None:
                self._reader = self._opened_reader()
            if self._set_to != (measure, threshold):
                self._reader.measure = getattr(simstring(), measure)
                self._reader.threshold = threshold
                self._set_to = measure, threshold
            return tuple(self._reader.retrieve(text))

    def number(self, text: str) -> int | None:
        with self._lock:
            if not self._numbers:
                if not _strings_file(self.folder).is_file():
                    raise self._gone()
                # unqlite writes no file for a database without an entry.
                paths = _number_files(self.folder)
                self._numbers = [unqlite_open(path) if path.exists() else None for path in paths]
            data = text.encode("utf-8")
            place = crc32(data) % NUMBERS
            numbers = self._numbers[place]
            try:
                return None if numbers is None else int.from_bytes(numbers.fetch(data), "little")
            except KeyError:
                return None
            except unqlite_error() as error:
                if _strings_file(self.folder).is_file() and not _number_files(self.folder)[place].exists():
                    return None  # unqlite makes no file where no string is kept
                raise self._gone() from error  # deleted since the index was opened

    def _opened_reader(self) -> Any:
        path = _strings_file(self.folder)
        if not path.is_file():  # SimString would find nothing instead
            raise self._gone()
        return simstring().reader(str(path))

    def _gone(self) -> UnusableVocabulary:
        return UnusableVocabulary(f"A part of the vocabulary is missing in {self.folder.parent}; build it anew.")


def _strings_file(folder: Path) -> Path:
    return folder / "strings"


def _number_files(folder: Path) -> list[Path]:
    return [folder / f"numbers-{place}.unqlite" for place in range(NUMBERS)]


class Shards:
    """All shards of a folder. Raises OSError when one is missing."""

    def __init__(self, folder: Path, runs: Runs) -> None:
        self._runs = runs
        rows = json.loads((folder / "shards.json").read_text(encoding="utf-8"))
        self._shards = [Shard(folder / f"{place:04}", **row) for place, row in enumerate(rows)]
        for shard in self._shards:
            _strings_file(shard.folder).stat()

    def alike(self, text: str, threshold: float, measure: str = "jaccard") -> Iterator[tuple[Shard, tuple[str, ...]]]:
        """All strings at least this similar, as SimString counts it, by where they are. `text` in `matching_form`."""
        if not text:
            return
        lowest, highest = _features_in_range(self._runs.of(text), threshold, measure)
        for shard in self._shards:
            if shard.most >= lowest and shard.fewest <= highest:
                yield shard, shard.alike(text, measure, threshold)

    def number(self, text: str) -> int | None:
        """The number of exactly this string."""
        features = self._runs.of(text)
        found = (shard.number(text) for shard in self._shards if text and shard.fewest <= features <= shard.most)
        return next((number for number in found if number is not None), None)


def _features_in_range(features: int, threshold: float, measure: str) -> tuple[int, int]:
    """How many runs a string must have for `threshold` to be within its reach."""
    share = {"jaccard": threshold, "dice": threshold / (2 - threshold), "cosine": threshold**2}.get(measure, 0.0)
    if share <= 0:
        return 0, 1 << 31
    # A little wider than exact, so that rounding never leaves out what SimString takes.
    return math.ceil(features * share - 1e-6), math.floor(features / share + 1e-6)
