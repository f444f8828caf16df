"""Two readings of one dialogue as two patient states side by side, turn by turn.

A difference in an early turn stays in the state until something overrides it, so a state shows one disagreement many
times. The turn where an entry starts to differ is marked as the cause; later turns at which it still differs follow
from it. An entry that has become equal again and then differs has a new cause.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from annotation.domain.agreement_coding import folded, folded_attribute
from annotation.domain.labels import Reading
from annotation.domain.mentions import SUBJECT, mentions
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.state import Mention
from annotation.domain.state_changes import Changes, Key, Standing, changes


class Mark(StrEnum):
    EQUAL = "equal"
    CAUSE = "cause"  # here the entry starts to differ
    FOLLOWS = "follows"  # it still differs, from the cause on


@dataclass(frozen=True, slots=True)
class Row:
    """One entry after one turn: how it stands in A's state and in B's, None where the state does not have it.

    `cause` is the position where the difference began (None if equal). `set_here` says whether this turn named it.
    """

    slot: str
    value: str
    a: Standing | None
    b: Standing | None
    mark: Mark
    cause: int | None
    set_here: bool

    def as_json(self) -> dict[str, Any]:
        return {
            "slot": self.slot,
            "value": self.value,
            "a": _plain(self.a),
            "b": _plain(self.b),
            "mark": self.mark.value,
            "cause": self.cause,
            "set_here": self.set_here,
        }


@dataclass(frozen=True, slots=True)
class Turn:
    """Both states after the patient turn at `position`; entries in the order in which either was first named."""

    position: int
    rows: tuple[Row, ...]

    @property
    def equal(self) -> bool:
        return all(row.mark is Mark.EQUAL for row in self.rows)

    @property
    def causes(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.mark is Mark.CAUSE)

    def as_json(self) -> dict[str, Any]:
        return {"position": self.position, "equal": self.equal, "rows": [row.as_json() for row in self.rows]}


def state_timeline(
    questionnaire: Questionnaire, a: Reading, b: Reading, *, positions: Collection[int] | None = None
) -> tuple[Turn, ...]:
    """Both states after every patient turn; with `positions`, only of the turns at these (those both submitted).

    Spellings are compared as agreement compares them, so the states are those that its figures are about.
    Raises ValueError when the readings are not of the same utterances.
    """
    if [turn.position for turn in a.utterances] != [turn.position for turn in b.utterances]:
        raise ValueError(f"The readings of {a.dialogue} and {b.dialogue} are not of the same utterances.")
    turns = [
        turn.position
        for turn in a.utterances
        if turn.speaker == SUBJECT and (positions is None or turn.position in positions)
    ]
    known = set(turns)
    replay = _Replay(_changes(questionnaire, a, known), _changes(questionnaire, b, known))
    return tuple(replay.turn(position) for position in turns)


class _Replay:
    """Both states while the dialogue goes on, with the place where each difference began."""

    def __init__(self, a: Changes, b: Changes) -> None:
        self._changes_a, self._changes_b = a, b
        self._a: dict[Key, Standing] = {}
        self._b: dict[Key, Standing] = {}
        self._order: dict[Key, None] = {}
        self._began: dict[Key, int] = {}

    def turn(self, position: int) -> Turn:
        set_a, set_b = dict(self._changes_a.get(position, ())), dict(self._changes_b.get(position, ()))
        self._a.update(set_a)
        self._b.update(set_b)
        self._order.update(dict.fromkeys([*set_a, *set_b]))
        touched = set_a.keys() | set_b.keys()
        return Turn(position, tuple(self._row(key, position, key in touched) for key in self._order))

    def _row(self, key: Key, position: int, set_here: bool) -> Row:
        a, b = self._a.get(key), self._b.get(key)
        if a == b:
            self._began.pop(key, None)
            return Row(*key, a, b, Mark.EQUAL, None, set_here)
        began = self._began.setdefault(key, position)
        return Row(*key, a, b, Mark.CAUSE if began == position else Mark.FOLLOWS, began, set_here)


def _changes(questionnaire: Questionnaire, reading: Reading, positions: Collection[int]) -> Changes:
    return changes(_folded(questionnaire, reading, positions))


def _folded(questionnaire: Questionnaire, reading: Reading, positions: Collection[int]) -> Iterator[Mention]:
    """The mentions at these positions in the spelling that is compared."""
    for one in mentions(questionnaire, reading):
        if one.position in positions:
            attributes = {name: folded_attribute(value) for name, value in one.attributes.items()}
            value = folded(one.value) if one.value else None
            yield Mention(one.position, one.slot, value, folded(one.status), attributes)


def _plain(standing: Standing | None) -> dict[str, Any] | None:
    if standing is None:
        return None
    return {
        "status": standing.status,
        "attributes": {name: list(value) if isinstance(value, tuple) else value for name, value in standing.attributes},
    }
