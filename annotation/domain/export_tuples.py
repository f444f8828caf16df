"""Labels unrolled into flat tuples, one a row: what the metrics count (see `unrolling`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotation.domain.export_utterances import csv_text
from annotation.domain.exported import Container, Exported, Piece
from annotation.domain.unrolling import FLAT_HEADER

PATH = "tuples.csv"


def tuples_pieces(item: Exported) -> Iterator[Piece]:
    """Raises Malformed for labels that are not of the dataset's form."""
    rows = tuples_rows(item)
    if rows:
        yield Piece(PATH, csv_text(rows), Container(opening=csv_text([FLAT_HEADER])))


def tuples_rows(item: Exported) -> list[tuple[Any, ...]]:
    """The cells under FLAT_HEADER. Raises Malformed."""
    return [
        (item.id, turn["uttr_id"], turn["speaker"], *one)
        for turn, tuples in zip(item.turns, item.unrolled, strict=True)
        for one in tuples
    ]
