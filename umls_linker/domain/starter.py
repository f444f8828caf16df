"""The project's own table of concepts that the Human Phenotype Ontology lacks: drugs, tests, anatomy, habits,
exposures and more.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from umls_linker.domain.vocabulary import CUI, SEMANTIC_TYPE, Atom, Fault, Faults, Kind, TypeOf

SOURCE = "starter"
COLUMNS = ("cui", "tui", "preferred_name", "synonyms", "group", "sources")


def read_starter(lines: Iterable[str], *, file: str, faults: Faults) -> Iterator[Atom | TypeOf]:
    """The table's strings and types. `synonyms` are divided by `|`; a row with a bad code or no name is a fault."""
    for number, row in enumerate(csv.DictReader(lines), start=2):
        cui, code, name = ((row.get(column) or "").strip() for column in COLUMNS[:3])
        if not CUI.fullmatch(cui) or not SEMANTIC_TYPE.fullmatch(code) or not name:
            faults.add("a bad row", Fault(file, number, "A row needs a CUI, a semantic type and a name."))
            continue
        yield TypeOf(cui, code)
        yield Atom(name, cui, True, SOURCE, Kind.NAME)
        for synonym in (row.get("synonyms") or "").split("|"):
            if text := synonym.strip():
                short = text.isupper() and len(text) <= 5
                yield Atom(text, cui, False, SOURCE, Kind.ABBREVIATION if short else Kind.SYNONYM)
