"""How much alike two words are spelt."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz import process
from rapidfuzz.distance import OSA


def likeness(one: str, other: str, least: float = 0.0) -> float:
    """1 − edits ÷ letters of the longer word, from 0 to 1; 0 where it would be below `least`, which saves most of the
    work.

    An edit is a letter added, left out or replaced, or two neighbours swapped, no letter being edited twice (optimal
    string alignment distance).
    """
    return float(OSA.normalized_similarity(one, other, score_cutoff=least))


def alike(word: str, others: Sequence[str], least: float) -> list[tuple[int, float]]:
    """Those of `others` whose likeness to `word` is at least `least`: their places, each with the likeness."""
    found = process.extract(word, others, scorer=OSA.normalized_similarity, score_cutoff=least, limit=None)
    return [(place, score) for _, score, place in found]
