"""Concepts that are in use no more, and which have their places."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from pathlib import Path

from umls_linker.domain.vocabulary import CUI, RELATIONS
from umls_linker.index.storage import BYTE, SMALL, NumbersWriter, numbers


def number_of(cui: str) -> int | None:
    """The number that a CUI is stored as; None for what is no CUI."""
    return int(cui[1:]) if CUI.fullmatch(cui) else None


def retired_record(cui: str, relation: str, heir: str) -> str:
    """As one string: sorted, those of a concept follow each other, the closest relation first."""
    return f"{cui}{RELATIONS.index(relation)}{heir}"


def write_retired(records: Iterable[str], folder: Path) -> None:
    """Write sorted `retired_record`s, each once; no folder where there are none."""
    cuis: NumbersWriter | None = None
    last = ""
    for record in records:
        if cuis is None:
            folder.mkdir()
            cuis, heirs = NumbersWriter(folder / "cuis", SMALL), NumbersWriter(folder / "heirs", SMALL)
            relations = NumbersWriter(folder / "relations", BYTE)
        if record != last:
            cuis.add(int(record[1:8]))
            relations.add(int(record[8]))
            heirs.add(int(record[10:]))
            last = record
    if cuis is not None:
        for writer in (cuis, relations, heirs):
            writer.close()


class Retirements:
    """What `write_retired` wrote."""

    def __init__(self, folder: Path) -> None:
        self._cuis, self._heirs = numbers(folder / "cuis", SMALL), numbers(folder / "heirs", SMALL)
        self._relations = numbers(folder / "relations", BYTE)

    def of(self, cui: str) -> Iterator[tuple[str, str]]:
        """The heirs of a retired concept with their relations, the closest first."""
        number = number_of(cui)
        if number is not None:
            for place in range(bisect_left(self._cuis, number), bisect_right(self._cuis, number)):
                yield f"C{self._heirs[place]:07}", RELATIONS[self._relations[place]]
