"""Undo and redo over an append-only history.

Nothing is ever taken out of the history: undoing is an event that names the change it takes back, redoing one that
names the change it brings back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Step:
    """What undo and redo need to know of an event: its sequence number, its kind, and which sequence it reverts."""

    sequence: int
    kind: str  # "change", "import", "undo", "redo"; anything else is passed over
    reverts: int | None = None


@dataclass(frozen=True, slots=True)
class Stacks:
    """The sequence numbers that can be undone and redone, the next one last."""

    undo: tuple[int, ...]
    redo: tuple[int, ...]


def stacks(steps: Iterable[Step]) -> Stacks:
    """Replay the history in order of sequence. A new change empties the redo stack, as in any editor."""
    undo: list[int] = []
    redo: list[int] = []
    for step in steps:
        if step.kind in ("change", "import"):
            undo.append(step.sequence)
            redo.clear()
        elif step.kind == "undo" and step.reverts in undo:
            undo.remove(step.reverts)
            redo.append(step.reverts)
        elif step.kind == "redo" and step.reverts in redo:
            redo.remove(step.reverts)
            undo.append(step.reverts)
    return Stacks(tuple(undo), tuple(redo))


def reversed_changes(changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The changes that take these back: last first, before and after exchanged."""
    return [{**change, "before": change["after"], "after": change["before"]} for change in reversed(changes)]
