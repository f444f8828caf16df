"""MediTOD's form of a dataset: `dialogs.json`, and the ids of each split (arXiv 2410.14204)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.domain.exported import ONE_PIECE, Container, Exported, Piece
from annotation.domain.json_writing import compact, indented, one_a_line
from annotation.domain.splits import Split, ids_by_split

PATH = "dialogs.json"
CONTAINER = Container("{", ",", "\n}\n")


def ids_path(split: Split) -> str:
    return f"{split}_ids.json"


def dialogs_pieces(item: Exported) -> Iterator[Piece]:
    """The dialogue under its id, an utterance a line."""
    turns = one_a_line((turn.whole for turn in item.written), "[", "]", indent=1)
    yield Piece(PATH, f'\n {compact(item.id)}: {{"utterances": {turns}}}', CONTAINER)


def ids_pieces(splits: Mapping[str, Split]) -> Iterator[Piece]:
    """A list of ids for each split, in their order; the list of a split without dialogues is empty."""
    for split, ids in ids_by_split(splits).items():
        yield Piece(ids_path(split), ids_text(ids), ONE_PIECE)


def ids_text(ids: Any) -> str:
    return indented(ids) + "\n"
