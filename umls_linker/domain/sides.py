"""Marks of a side of the body, as people note them behind or before a place: "(L)", "rt."."""

from __future__ import annotations

import re

_SIDE_IN_BRACKETS = re.compile(r"[(\[]\s*(left|right|lt|rt|l|r)\.?\s*[)\]]", re.IGNORECASE)
_SIDE_LETTER = re.compile(r"(?<![\w'’-])(?:([LR])|(?i:(lt|rt)))\.?(?![\w'’-])")


def sides_written_out(phrase: str, place: bool = False) -> str:
    """The phrase with the marks of a side as words: "toe (L)" is "toe left". A letter without brackets is one only
    where the phrase is a `place` of the body: "R shoulder"."""

    def side(mark: re.Match[str]) -> str:
        return " left " if next(filter(None, mark.groups())).lower().startswith("l") else " right "

    phrase = _SIDE_IN_BRACKETS.sub(side, phrase)
    return (_SIDE_LETTER.sub(side, phrase) if place else phrase).strip()
