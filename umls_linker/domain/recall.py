"""Phrases with the concept they mean, and how many of these a search brings up among its first answers."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass

from umls_linker.domain.vocabulary import CUI

DEPTHS = (1, 5, 10)
LONGEST = 1_000  # characters of a phrase


class BadPhrases(Exception):
    """What is wrong with a table of phrases, in one sentence."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase and the concept it means, "" if nobody said. `line` counts from 1."""

    text: str
    cui: str
    line: int


def read_phrases(text: str) -> list[Phrase]:
    """The phrases of a table in CSV with a column `phrase` and, if wanted, a column `cui`; empty lines are passed over.

    Raises BadPhrases for a table without that column or without phrases, an empty or overlong phrase and a bad CUI.
    """
    rows = csv.reader(text.removeprefix("\ufeff").splitlines())
    try:
        header = [column.strip().lower() for column in next(rows, [])]
        if "phrase" not in header:
            raise BadPhrases("line 1: there is no column “phrase”.")
        found = [_phrase(header, row, rows.line_num) for row in rows if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise BadPhrases(f"line {rows.line_num}: it is no CSV ({error}).") from error
    if not found:
        raise BadPhrases("there are no phrases in it.")
    return found


def _phrase(header: Sequence[str], row: Sequence[str], line: int) -> Phrase:
    cells = dict(zip(header, (cell.strip() for cell in row), strict=False))
    phrase, cui = cells.get("phrase", ""), cells.get("cui", "").upper()
    if not phrase:
        raise BadPhrases(f"line {line}: the phrase is empty.")
    if len(phrase) > LONGEST:
        raise BadPhrases(f"line {line}: the phrase has more than {LONGEST:,} characters.")
    if cui and not CUI.fullmatch(cui):
        raise BadPhrases(f"line {line}: “{cui[:20]}” is no CUI (C and seven digits).")
    return Phrase(phrase, cui, line)


def recall(answers: Sequence[tuple[str, Sequence[str]]], depths: Sequence[int] = DEPTHS) -> dict[str, float]:
    """Share of the answers (CUI wanted, CUIs found, best first) that have the wanted one among the first 1, 5, 10 …

    Answers with no CUI wanted don't count; with none at all there is nothing to share and the result is empty.
    """
    wanted = [(cui, found) for cui, found in answers if cui]
    if not wanted:
        return {}
    return {str(depth): round(sum(cui in found[:depth] for cui, found in wanted) / len(wanted), 3) for depth in depths}
