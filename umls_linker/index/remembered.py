"""What is remembered of one vocabulary: searches ask for the same words, terms and concepts again and again."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umls_linker.domain.matching import ReadTerm, Weights
from umls_linker.domain.vocabulary import Concept
from umls_linker.index.reader import VocabularyIndex

Ids = NDArray[np.uint32]
# How many are remembered; then all are forgotten, which keeps memory bounded and costs little.
WORDS = 20_000
TERMS = 15_000
CONCEPTS = 10_000
GATHERED = 20_000  # terms of the rarest word of a group among which those with its other words are sought
INDEXES = 4

_NOBODY: Ids = np.zeros(0, dtype=np.uint32)


class Remembered:
    """Look-ups in one index. Threads may share it: what is remembered never changes."""

    def __init__(self, index: VocabularyIndex) -> None:
        self.index = index
        self._rarities: dict[str, float | None] = {}
        self._holders: dict[str, Ids] = {}
        self._like: dict[tuple[str, float], list[tuple[str, float]]] = {}
        self._terms: dict[int, ReadTerm] = {}
        self._concepts: dict[str, Concept] = {}
        self.weights = Weights(self.rarity)

    def rarity(self, word: str) -> float | None:
        """`VocabularyIndex.word_rarity`."""
        if word not in self._rarities:
            _make_room(self._rarities, WORDS)
            self._rarities[word] = self.index.word_rarity(word)
        return self._rarities.get(word)

    def rarity_of(self, holders: int) -> float:
        """The rarity of what so many terms have, as `rarity` counts it."""
        return math.log(len(self.index) / min(holders, len(self.index))) + 1

    def holders(self, word: str) -> Ids:
        """The terms with this word key, ascending and so short ones first; none for a word that no term has."""
        found = self._holders.get(word)
        if found is None:
            _make_room(self._holders, WORDS)
            found = self._holders[word] = self.index.holders(word)
        return found

    def holders_of_all(self, words: Sequence[str]) -> Ids:
        """The terms with all these words; where even the rarest is common, those among its shortest terms."""
        if len(words) == 1:
            return self.holders(words[0])
        lists = sorted((self.holders(word) for word in dict.fromkeys(words)), key=len)
        if not lists or not len(lists[0]):
            return _NOBODY
        found = lists[0][:GATHERED]
        for other in lists[1:]:
            found = found[other[np.minimum(np.searchsorted(other, found), len(other) - 1)] == found]
        return found

    def like(self, word: str, threshold: float) -> list[tuple[str, float]]:
        """`VocabularyIndex.words_like`."""
        key = (word, threshold)
        found = self._like.get(key)
        if found is None:
            _make_room(self._like, WORDS)
            found = self._like[key] = self.index.words_like(word, threshold)
        return found

    def term(self, number: int) -> ReadTerm:
        """The term of this number, laid out to be compared."""
        found = self._terms.get(number)
        if found is None:
            _make_room(self._terms, TERMS)
            found = self._terms[number] = self.weights.read(self.index.term(number))
        return found

    def concept(self, cui: str) -> Concept | None:
        """`VocabularyIndex.concept`."""
        found = self._concepts.get(cui)
        if found is None:
            found = self.index.concept(cui)
            if found is not None:
                _make_room(self._concepts, CONCEPTS)
                self._concepts[cui] = found
        return found


def _make_room(table: dict[Any, Any], most: int) -> None:
    if len(table) >= most:
        table.clear()


_known: dict[int, Remembered] = {}
_lock = threading.Lock()


def remembered(index: VocabularyIndex) -> Remembered:
    """What is remembered of this index; of the last few indexes at most."""
    known = _known.get(id(index))
    if known is None or known.index is not index:
        with _lock:
            while len(_known) >= INDEXES:
                del _known[next(iter(_known))]
            known = _known[id(index)] = Remembered(index)
    return known
