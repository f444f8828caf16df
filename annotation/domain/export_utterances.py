"""One utterance a line: as JSON with everything said of it, and as a row of a table.

Both name the dialogue in a column `id`, so that they can be imported as dialogues too.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from annotation.domain.exported import Container, Exported, Piece
from annotation.domain.json_writing import compact

JSONL_PATH = "utterances.jsonl"
CSV_PATH = "utterances.csv"
CSV_HEADER = ("id", "uttr_id", "split", "speaker", "text", "keywords", "intents", "labels")
_INTENT_KEYS = (("actions", "action"), ("nlu", "intent"))


def jsonl_pieces(item: Exported) -> Iterator[Piece]:
    head = compact({"id": item.id, "split": item.split})[:-1]
    lines = [f"{head}, {turn.whole[1:]}" for turn in item.written]
    if lines:
        yield Piece(JSONL_PATH, "\n".join(lines) + "\n")


def csv_pieces(item: Exported) -> Iterator[Piece]:
    rows = [
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
    if rows:
        yield Piece(CSV_PATH, csv_text(rows), Container(opening=csv_text([CSV_HEADER])))


def intents_of(turn: Mapping[str, Any]) -> list[str]:
    """The intents of a turn, each once, in their order."""
    named = ((item, name) for key, name in _INTENT_KEYS for item in turn.get(key, ()))
    return list(dict.fromkeys(str(item[name]) for item, name in named))


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows by RFC 4180, but with plain line ends."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
