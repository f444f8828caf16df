"""Word keys while an index is built: which terms have which, in memory that does not grow with their number.

Each key gets a number when it is first met. Only so many are remembered: then all are forgotten, and a key that comes
again gets another number. At the end numbers are sorted by their keys, and all those of one key get its place.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from umls_linker.domain.normalise import STOP_WORDS, american, plain_words, stem
from umls_linker.index.shards import MARKED_PAIRS, ShardsWriter
from umls_linker.index.sorting import END, Numbers, RecordSorter, grouped, write_inverted
from umls_linker.index.storage import SMALL, ListsWriter, NumbersWriter, Texts, TextsWriter

REMEMBERED = 50_000  # words, each with its American spelling and the number of its key
NOBODY = -1  # the number of a stop word


class LexiconWriter:
    """Takes the texts of terms in the order of their numbers, then writes `words/`."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._keys = RecordSorter(scratch, "words")
        self._lists = ListsWriter(scratch / "words")
        self._seen: dict[str, tuple[str, int]] = {}
        self._numbers: dict[str, int] = {}
        self._given = 0

    def add(self, text: str) -> str:
        """Note the word keys of a term; its folded key is returned."""
        if len(self._seen) >= REMEMBERED:
            self._seen.clear()
            self._numbers.clear()
        seen = self._seen
        words = [seen.get(word) or self._first(word) for word in plain_words(text)]
        numbers = {number for _, number in words}
        numbers.discard(NOBODY)
        if not numbers:  # of a term of stop words alone they all count
            numbers = {self._number(stem(word)) for word, _ in words}
        self._lists.add(list(numbers))
        return " ".join([word for word, _ in words])

    def _first(self, word: str) -> tuple[str, int]:
        spelt = american(word)
        found = self._seen[word] = spelt, NOBODY if spelt in STOP_WORDS else self._number(stem(spelt))
        return found

    def _number(self, key: str) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self._given
            self._given += 1
            self._keys.add(f"{key}{END}{number:08x}")
        return number

    def write(self, folder: Path) -> int:
        """Write the keys in order, the terms of each, and SimString's shards of them. How many keys there are."""
        self._seen, self._numbers = {}, {}
        self._lists.close()
        folder.mkdir()
        places = np.zeros(self._given, dtype=np.uint32)
        texts, lengths = TextsWriter(folder / "texts"), NumbersWriter(self._scratch / "lengths", SMALL)
        count = 0
        for key, numbers in grouped(self._keys):
            for number in numbers:
                places[int(number, 16)] = count
            texts.add(key)
            lengths.add(len(key))
            count += 1
        texts.close()
        lengths.close()
        self._write_terms(folder, places, count)
        self._write_shards(folder)
        return count

    def _write_terms(self, folder: Path, places: Numbers, count: int) -> None:
        write_inverted(
            self._scratch / "words",
            folder / "terms",
            groups=count,
            group_of=lambda numbers: places[numbers],
            scratch=self._scratch,
        )

    def _write_shards(self, folder: Path) -> None:
        texts = Texts(folder / "texts")
        shards = ShardsWriter(folder / "shards", MARKED_PAIRS)
        for place in np.argsort(np.fromfile(self._scratch / "lengths", dtype=np.uint32), kind="stable"):
            shards.add(texts[place], int(place))
        shards.close()
