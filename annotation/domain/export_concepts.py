"""Which concept each medical value of an export was decided to mean, and the concepts with their counts.

`medical_values.csv` lists every value as it is written in its label, with the decision about it; `concepts.csv` follows
from it, and so do the canonical names in `dialogs.json`.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from annotation.domain.concepts import Canon, CanonicalConcept, DecidedConcept, Outcome, Place
from annotation.domain.export_utterances import csv_cells, csv_text
from annotation.domain.exported import ONE_PIECE, Container, Exported, Piece, ValueRow

VALUES_PATH = "medical_values.csv"
CONCEPTS_PATH = "concepts.csv"
CANONICAL, WRITTEN = "canonical", "written"  # which wording the data files have
_DECISION = ("outcome", "cui", "name", "semantic_types", "vocabulary", "vocabulary_version")
VALUES_HEADER = ("dialogue_id", "uttr_id", "slot", "field", "value", *_DECISION)
_TURN = re.compile("[0-9]{1,9}")
CONCEPTS_HEADER = (*_DECISION, "values", "occurrences")


class BadValues(ValueError):
    """A table of medical values that cannot be read, in one sentence."""


def values_pieces(item: Exported) -> Iterator[Piece]:
    rows = [(item.id, *row) for row in item.values]
    if rows:
        yield Piece(VALUES_PATH, csv_text(rows), Container(opening=csv_text([VALUES_HEADER])))


def read_values(text: str) -> dict[str, list[ValueRow]]:
    """The rows of `medical_values.csv` by dialogue. Raises BadValues."""
    found: dict[str, list[ValueRow]] = {}
    try:
        header, *rows = csv_cells(text) or [[]]
    except csv.Error as error:
        raise BadValues(f"It is no table: {error}.") from None
    if tuple(header) != VALUES_HEADER:
        raise BadValues("Its first line does not name its columns.")
    outcomes = {one.value for one in Outcome}
    for row in rows:
        if len(row) != len(VALUES_HEADER) or not _TURN.fullmatch(row[1]) or row[5] not in outcomes:
            raise BadValues(f"It has a row that is none of its form: “{','.join(row)[:80]}”.")
        if (row[5] in (Outcome.NIL, Outcome.OPEN)) == bool(row[6]):
            raise BadValues(f"Its row “{','.join(row)[:80]}” says “{row[5]}” with the concept “{row[6]}”.")
        found.setdefault(row[0], []).append(ValueRow(int(row[1]), *row[2:]))
    return found


def values_text(values: Mapping[str, Iterable[ValueRow]]) -> str:
    """The whole table of what `read_values` gives, as it is written."""
    return csv_text([VALUES_HEADER, *((name, *row) for name, rows in values.items() for row in rows)])


def stated_canon(rows: Iterable[ValueRow]) -> Canon:
    """What the rows of one dialogue say, for labels whose ids are the positions of their utterances as text."""
    return Canon(
        labels={(str(row.uttr_id), row.place): CanonicalConcept(row.cui, row.name) if row.cui else None for row in rows}
    )


def stated_decision(row: ValueRow) -> DecidedConcept:
    """What a row says was decided of its value."""
    types = tuple(row.semantic_types.split("|")) if row.semantic_types else ()
    return DecidedConcept(Outcome(row.outcome), row.cui, row.name, types, row.vocabulary, row.version)


class ConceptCounts:
    """The concepts of a part of an export, added to dialogue by dialogue."""

    def __init__(self) -> None:
        self._values: defaultdict[tuple[str, ...], set[Place]] = defaultdict(set)
        self._occurrences: defaultdict[tuple[str, ...], int] = defaultdict(int)

    def add(self, rows: Iterable[ValueRow]) -> None:
        for row in rows:
            self._values[row.decision].add(row.place)
            self._occurrences[row.decision] += 1

    def piece(self) -> Piece:
        """The commonest concepts first; what means none and what is not decided come last, a row each."""
        order = list(Outcome)
        rows = [
            (*decision, len(self._values[decision]), occurrences)
            for decision, occurrences in sorted(
                self._occurrences.items(), key=lambda one: (order.index(Outcome(one[0][0])), -one[1], one[0])
            )
        ]
        return Piece(CONCEPTS_PATH, csv_text([CONCEPTS_HEADER, *rows]), ONE_PIECE)

    def as_json(self) -> dict[str, Any]:
        """Distinct concepts, and by outcome distinct values and their occurrences."""
        cuis: dict[str, set[str]] = {one.value: set() for one in Outcome}
        values: dict[str, set[Place]] = {one.value: set() for one in Outcome}
        occurrences = dict.fromkeys(values, 0)
        for decision, number in self._occurrences.items():
            outcome, cui = decision[:2]
            cuis[outcome].add(cui)
            values[outcome] |= self._values[decision]
            occurrences[outcome] += number
        return {
            "concepts": len(cuis[Outcome.CONCEPT]),
            "proposed": len(cuis[Outcome.PROPOSED]),
            "values": {outcome: len(places) for outcome, places in values.items()},
            "occurrences": occurrences,
        }

    def vocabularies(self) -> set[tuple[str, str]]:
        """Name and version of those under which was decided what stands here."""
        return {decision[4:6] for decision in self._occurrences if decision[4]}  # type: ignore[misc]


def stated_vocabularies(
    counts: Iterable[ConceptCounts], attributions: Mapping[tuple[str, str], str]
) -> Sequence[Mapping[str, str]] | None:
    """The vocabularies of an export as its manifest states them; None where no value is linked to a concept."""
    found = sorted({one for part in counts for one in part.vocabularies()})
    return [
        {"name": name, "version": version, "attribution": attributions.get((name, version), "")}
        for name, version in found
    ] or None
