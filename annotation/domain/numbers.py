"""Numbers as they stand in a sentence."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 dialogue`, `2 dialogues`, `1,200 utterances`; `plural` where it is not the noun with an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def per_cent(share: float, digits: int = 0) -> str:
    """0.0366 as `3.66 %` with two `digits`; the space between them does not break."""
    return f"{100 * share:.{digits}f}\N{NO-BREAK SPACE}%"
