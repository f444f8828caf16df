"""One dialogue on its way into an export, and the pieces of text that the files of an export are put together from.

A writer (`export_*.py`) is a function from one dialogue to pieces. It keeps nothing between two dialogues: what stands
before, between and after the pieces of a file is said by their `Container`. So an export never holds more than one
dialogue, and whoever verifies one runs the same writers again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

from annotation.domain.concepts import (
    Canon,
    DecidedConcept,
    DecidedConcepts,
    Place,
    canonical_reading,
    medical_values,
    surface_key,
)
from annotation.domain.dataset_writing import dialogue_to_dataset
from annotation.domain.json_writing import compact
from annotation.domain.labels import Reading
from annotation.domain.portal_file import write_labels
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.unrolling import Unrolled, unroll_turn

STATE = "dialog_state"
_ALONE = frozenset({STATE, "nlu", "actions"})


class ValueRow(NamedTuple):
    """A medical value of a label, and what was decided of it; semantic types are parted by a vertical bar."""

    uttr_id: int
    slot: str
    field: str
    value: str
    outcome: str
    cui: str
    name: str
    semantic_types: str
    vocabulary: str
    version: str

    @property
    def place(self) -> Place:
        return self.slot, self.field, surface_key(self.value)

    @property
    def decision(self) -> tuple[str, ...]:
        return self[4:]


class TurnText(NamedTuple):
    """A turn as compact JSON: the whole, its labels (`nlu` or `actions`), and its `dialog_state`, "" without one."""

    whole: str
    labels: str
    state: str


@dataclass(frozen=True)
class Exported:
    """One dialogue as plain data, ready for JSON.

    `turns` are its utterances in MediTOD's form; `spoken` are all utterances as the portal's own dialogue file lists
    them, the closing turn too, and `labels` those of its label file. The last two are empty where a dialogue was read
    back from `dialogs.json` alone. `values` are the medical values in the wording of the labels, with what was
    decided of them. `stem` is what its own files are called, "" where its id alone says so (`file_names`).
    """

    id: str
    split: str
    turns: Sequence[Mapping[str, Any]]
    specialty: str = ""
    spoken: Sequence[Mapping[str, Any]] = ()
    labels: Sequence[Mapping[str, Any]] = ()
    values: Sequence[ValueRow] = ()
    stem: str = ""

    @cached_property
    def written(self) -> list[TurnText]:
        """The turns as JSON; several formats are made of the same text."""
        states = _StateTexts()
        return [_written(turn, states) for turn in self.turns]

    @cached_property
    def unrolled(self) -> list[tuple[Unrolled, ...]]:
        """The flat tuples of each turn. Raises Malformed for labels that are not of the dataset's form."""
        return [unroll_turn(turn) for turn in self.turns]


@dataclass(frozen=True, slots=True)
class Container:
    """What a file has around its pieces. `single`: the file has one piece."""

    opening: str = ""
    separator: str = ""
    closing: str = ""
    single: bool = False


LINES = Container()
ONE_PIECE = Container(single=True)


class Piece(NamedTuple):
    """Text for one file; `path` has slashes and is relative to the export."""

    path: str
    text: str
    container: Container = LINES


Writer = Callable[[Exported], Iterator[Piece]]


class Assembly:
    """Says piece by piece what comes next in each file. It holds the names of the files with several pieces only."""

    def __init__(self) -> None:
        self._open: dict[str, Container] = {}

    def text(self, piece: Piece) -> str:
        """What the piece adds to its file."""
        container = piece.container
        if container.single:
            return container.opening + piece.text + container.closing
        begun = piece.path in self._open
        self._open[piece.path] = container
        return (container.separator if begun else container.opening) + piece.text

    def endings(self) -> Iterator[tuple[str, str]]:
        """(path, what ends it) of every file that was begun."""
        for path, container in self._open.items():
            yield path, container.closing


def exported(
    questionnaire: Questionnaire,
    reading: Reading,
    *,
    split: str,
    specialty: str = "",
    decided: DecidedConcepts,
    canon: Canon,
    stem: str = "",
) -> Exported:
    """A reading as what is exported of it. The turns have canonical names where `canon` has some; the labels keep the
    words that they were given."""
    spoken = [
        {"speaker": turn.speaker, "uttr_id": turn.position, "text": turn.text, "keywords": list(turn.keywords)}
        for turn in reading.utterances
    ]
    return Exported(
        reading.dialogue,
        split,
        dialogue_to_dataset(questionnaire, canonical_reading(questionnaire, reading, canon))["utterances"],
        specialty,
        spoken,
        write_labels(questionnaire, reading.labels),
        value_rows(questionnaire, reading, decided),
        stem,
    )


def value_rows(questionnaire: Questionnaire, reading: Reading, decided: DecidedConcepts) -> list[ValueRow]:
    """The medical values of a reading in the wording of its labels, in their order."""
    written: dict[DecidedConcept, tuple[str, ...]] = {}
    rows = []
    for label in reading.labels:
        for one in medical_values(questionnaire, label):
            about = decided.about(one.slot, one.field, one.value, label.id)
            decision = written.get(about)
            if decision is None:
                types = "|".join(about.semantic_types)
                decision = (about.outcome.value, about.cui, about.name, types, about.vocabulary, about.version)
                written[about] = decision
            rows.append(ValueRow(label.position, one.slot, one.field, one.value, *decision))
    return rows


class _StateTexts:
    """The states of a dialogue as compact JSON. Most of a state stands in the next one too, as the same objects; those
    are written once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Any, str]] = {}  # under each name what stood there last, and both as JSON

    def text(self, state: Any) -> str:
        if not isinstance(state, dict):
            return compact(state)
        return "{" + ", ".join([self._pair(name, entries) for name, entries in state.items()]) + "}"

    def _pair(self, name: str, entries: Any) -> str:
        known = self._known.get(name)
        if known is None or known[0] is not entries:
            known = self._known[name] = entries, f"{compact(name)}: {compact(entries)}"
        return known[1]


def _written(turn: Mapping[str, Any], states: _StateTexts) -> TurnText:
    """Neighbouring keys whose text nobody else needs are written in one go."""
    own: dict[str, str] = {}
    parts: list[str] = []
    for alone, run in groupby(turn.items(), key=_stands_alone):
        if not alone:
            parts.append(compact(dict(run))[1:-1])
            continue
        for key, value in run:
            own[key] = states.text(value) if key == STATE else compact(value)
            parts.append(f'"{key}": {own[key]}')
    labels = own.get("nlu", own.get("actions", "[]"))
    return TurnText("{" + ", ".join(parts) + "}", labels, own.get(STATE, ""))


def _stands_alone(item: tuple[str, Any]) -> bool:
    return item[0] in _ALONE
