"""One utterance a line: as JSON with everything said of it, and as a row of a table.

Both name the dialogue in a column `id`, so that they can be imported as dialogues too.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.domain.exported import Container, Exported, Piece
from annotation.domain.json_writing import compact

JSONL_PATH = "utterances.jsonl"
CSV_PATH = "utterances.csv"
CSV_HEADER = ("id", "uttr_id", "split", "speaker", "text", "keywords", "intents", "labels")
_LINE_END = "\r\n"
_LARGEST_CELL = 2**31 - 1


def jsonl_pieces(item: Exported) -> Iterator[Piece]:
    head = compact({"id": item.id, "split": item.split})[:-1]
    lines = [f"{head}, {turn.whole[1:]}" for turn in item.written]
    if lines:
        yield Piece(JSONL_PATH, "\n".join(lines) + "\n")


def csv_pieces(item: Exported) -> Iterator[Piece]:
    rows = csv_rows(item)
    if rows:
        yield Piece(CSV_PATH, csv_text(rows), Container(opening=csv_text([CSV_HEADER])))


def csv_rows(item: Exported) -> list[tuple[Any, ...]]:
    """The cells under CSV_HEADER, an utterance a row."""
    return [
        (
            item.id,
            turn["uttr_id"],
            item.split,
            turn["speaker"],
            turn["text"],
            "|".join(turn["keywords"]),
            "|".join(intents_of(turn)),
            written.labels,
        )
        for turn, written in zip(item.turns, item.written, strict=True)
    ]


def intents_of(turn: Mapping[str, Any]) -> list[str]:
    """The intents of a turn, each once, in their order."""
    named = [item["action"] for item in turn.get("actions", ())] + [item["intent"] for item in turn.get("nlu", ())]
    return list(dict.fromkeys(map(str, named)))


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows by RFC 4180, but with plain line ends. A cell with either sign of a line end in it is quoted, which the
    writer sees to for the signs that it ends its own lines with."""
    lines: list[str] = []
    writer = csv.writer(_Lines(lines.append), lineterminator=_LINE_END)
    writer.writerows(rows)
    return "".join(line.removesuffix(_LINE_END) + "\n" for line in lines)


def csv_cells(text: str) -> list[list[str]]:
    """The cells of such rows, as any program reads them. Raises csv.Error."""
    usual = csv.field_size_limit(_LARGEST_CELL)
    try:
        return list(csv.reader(io.StringIO(text, newline="")))
    finally:
        csv.field_size_limit(usual)


@dataclass(frozen=True, slots=True)
class _Lines:
    """What a csv.writer writes to: it gives each row in one piece."""

    write: Callable[[str], Any]
