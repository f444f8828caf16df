"""A Metathesaurus folder as the National Library of Medicine gives it out: `MRCONSO.RRF` (strings), `MRSTY.RRF`
(types) and, where it is there, `MRCUI.RRF` (retired concepts).

All are read as streams of bytes, so that their size does not matter. A line that cannot be used is a fault, counted
and left out. Columns are those of the UMLS Reference Manual: MRCONSO has 18, of which the last (CVF) may be empty;
MRSTY has 6, MRCUI 7.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from umls_linker.domain.vocabulary import CUI, RELATIONS, SEMANTIC_TYPE, Atom, Fault, Faults, Kind, Retired, TypeOf

STRINGS, TYPES, RETIRED = "MRCONSO.RRF", "MRSTY.RRF", "MRCUI.RRF"
LONGEST_LINE = 64 * 1024  # bytes; the longest string of the Metathesaurus is far below
BLOCK = 256 * 1024  # bytes read at once
_SUPPRESSIBLE = frozenset({"O", "E", "Y"})
_ABBREVIATIONS = frozenset({"AA", "AB", "ACR", "NA", "OAM", "QAB"})  # term types (TTY) that are short forms
_EVERYDAY = frozenset({"CHV", "MEDLINEPLUS"})  # sources written for patients
_CONSUMER_TYPES = frozenset({"CCN", "CSY"})  # consumer-friendly names, such as those of RxNorm and LOINC


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a Metathesaurus goes into the vocabulary; an empty set takes all. Types are judged by concept."""

    languages: frozenset[str] = frozenset({"ENG"})
    sources: frozenset[str] = frozenset()
    semantic_types: frozenset[str] = frozenset()


def read_strings(stream: BinaryIO, selection: Selection, faults: Faults, *, file: str = STRINGS) -> Iterator[Atom]:
    """The selected strings of MRCONSO. Suppressible ones (SUPPRESS is O, E or Y) are left out silently: they are not
    faults.
    """
    languages, sources = selection.languages, selection.sources
    good = ""  # the last CUI that was one: a concept's lines follow each other
    for number, line in _lines(stream, faults, file):
        try:
            cells = line.decode("utf-8").split("|")
        except UnicodeDecodeError:
            faults.add("bad UTF-8", Fault(file, number, "It is not valid UTF-8."))
            continue
        if len(cells) < 17:
            faults.add("too few columns", Fault(file, number, f"It has {len(cells)} of 18 columns."))
            continue
        source = cells[11]
        if (
            cells[16] in _SUPPRESSIBLE
            or (languages and cells[1] not in languages)
            or (sources and source not in sources)
        ):
            continue
        cui, text = cells[0], cells[14].strip()
        if cui != good and not CUI.fullmatch(cui):
            faults.add("a bad CUI", Fault(file, number, f"“{cui[:40]}” is not a CUI."))
        elif not text:
            faults.add("an empty string", Fault(file, number, f"The string of {cui} is empty."))
        elif not text.isprintable() and any(unicodedata.category(one) == "Cc" for one in text):
            faults.add("a control character", Fault(file, number, f"The string of {cui} has a control character."))
        else:
            good, preferred = cui, cells[6] == "Y"
            name = preferred and cells[2] == "P" and cells[4] == "PF"
            yield Atom(text, cui, preferred, source, Kind.NAME if name else _kind(source, cells[12]))


def _kind(source: str, sort: str) -> Kind:
    if sort in _ABBREVIATIONS:
        return Kind.ABBREVIATION
    return Kind.LAYPERSON if source in _EVERYDAY or sort in _CONSUMER_TYPES else Kind.SYNONYM


def read_types(stream: BinaryIO, faults: Faults, *, file: str = TYPES) -> Iterator[TypeOf]:
    """Every semantic type of every concept in MRSTY."""
    for number, line in _lines(stream, faults, file):
        cells = line.split(b"|", 2)
        if len(cells) < 3:
            faults.add("too few columns", Fault(file, number, f"It has {len(cells)} of 6 columns."))
            continue
        cui, code = cells[0].decode("ascii", "replace"), cells[1].decode("ascii", "replace")
        if not CUI.fullmatch(cui):
            faults.add("a bad CUI", Fault(file, number, f"“{cui[:40]}” is not a CUI."))
        elif not SEMANTIC_TYPE.fullmatch(code) or int(code[1:]) > 255:
            faults.add("a bad type", Fault(file, number, f"“{code[:40]}” is not a semantic type."))
        else:
            yield TypeOf(cui, code)


def read_retired(stream: BinaryIO, faults: Faults, *, file: str = RETIRED) -> Iterator[Retired]:
    """Every retired concept of MRCUI that another one stands for. Those that were deleted (DEL) or are only not in this
    subset (SUBX) have none and are left out silently.
    """
    for number, line in _lines(stream, faults, file):
        cells = line.decode("ascii", "replace").split("|")
        if len(cells) < 6:
            faults.add("too few columns", Fault(file, number, f"It has {len(cells)} of 7 columns."))
            continue
        cui, relation, heir = cells[0], cells[2], cells[5]
        if relation not in RELATIONS:
            continue
        bad = next((each for each in (cui, heir) if not CUI.fullmatch(each)), None)
        if bad is not None:
            faults.add("a bad CUI", Fault(file, number, f"“{bad[:40]}” is not a CUI."))
        elif cui != heir:
            yield Retired(cui, relation, heir)


def _lines(stream: BinaryIO, faults: Faults, file: str) -> Iterator[tuple[int, bytes]]:
    """Line numbers and lines without their ends; a line of `LONGEST_LINE` bytes or more is a fault and never held
    whole.
    """
    number, dropped, rest = 0, 0, b""  # `dropped`: bytes of too long a line whose end is still to come
    while block := stream.read(BLOCK):
        lines = block.split(b"\n")
        lines[0] = rest + lines[0]
        rest = lines.pop()
        for line in lines:
            number += 1
            if dropped or len(line) >= LONGEST_LINE:
                _too_long(dropped + len(line) + 1, number, faults, file)
                dropped = 0
            elif line := line.removesuffix(b"\r"):
                yield number, line
        if len(rest) >= LONGEST_LINE or dropped:
            dropped, rest = dropped + len(rest), b""
    if dropped:
        _too_long(dropped, number + 1, faults, file)
    elif rest:
        yield number + 1, rest.removesuffix(b"\r")


def _too_long(length: int, number: int, faults: Faults, file: str) -> None:
    faults.add("a line too long", Fault(file, number, f"It has {length:,} bytes; the limit is {LONGEST_LINE:,}."))
