"""How much alike two words are spelt."""

from __future__ import annotations


def likeness(one: str, other: str, least: float = 0.0) -> float:
    """1 − edits ÷ letters of the longer word, from 0 to 1; 0 where it would be below `least`, which saves most of the
    work.

    An edit is a letter added, left out or replaced, or two neighbours swapped, no letter being edited twice (optimal
    string alignment distance).
    """
    longer = max(len(one), len(other))
    if longer == 0:
        return 1.0
    most = int((1 - least) * longer + 1e-9)
    if abs(len(one) - len(other)) > most:
        return 0.0
    edits = _edits(one, other, most)
    return 0.0 if edits > most else 1 - edits / longer


def _edits(one: str, other: str, most: int) -> int:
    """The number of edits, or any number above `most` when there are more."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        earlier, before, row = before, row, [i]
        for j, counterpart in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != counterpart))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == counterpart:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]
