"""The formats of an export by their names. `dialogs` is part of every one: the others follow from it, or verify it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import StrEnum

from annotation.domain.export_concepts import values_pieces
from annotation.domain.export_dialogs import dialogs_pieces
from annotation.domain.export_huggingface import huggingface_pieces
from annotation.domain.export_portal import portal_pieces
from annotation.domain.export_tuples import tuples_pieces
from annotation.domain.export_utterances import csv_pieces, jsonl_pieces
from annotation.domain.exported import Exported, Piece, Writer


class Format(StrEnum):
    DIALOGS = "dialogs"
    JSONL = "jsonl"
    CSV = "csv"
    TUPLES = "tuples"
    HUGGINGFACE = "huggingface"
    PORTAL = "portal"


WRITERS: dict[Format, Writer] = {
    Format.DIALOGS: dialogs_pieces,
    Format.JSONL: jsonl_pieces,
    Format.CSV: csv_pieces,
    Format.TUPLES: tuples_pieces,
    Format.HUGGINGFACE: huggingface_pieces,
    Format.PORTAL: portal_pieces,
}


class UnknownFormat(ValueError):
    """A format that there is not, in one sentence."""


def parse_formats(names: Collection[str]) -> tuple[Format, ...]:
    """The formats named, in their usual order and with `dialogs`; all of them for no name. Raises UnknownFormat."""
    known = {one.value for one in Format}
    for name in names:
        if name not in known:
            raise UnknownFormat(f"There is no format “{name}”; the formats are {', '.join(known_in_order())}.")
    return tuple(one for one in Format if not names or one is Format.DIALOGS or one.value in names)


def known_in_order() -> list[str]:
    return [one.value for one in Format]


def pieces_of(item: Exported, formats: Collection[Format]) -> Iterator[Piece]:
    """Everything that is written of one dialogue; its medical values always are."""
    yield from values_pieces(item)
    for one in Format:
        if one in formats:
            yield from WRITERS[one](item)
