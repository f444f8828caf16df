"""Undo and redo over an append-only history."""

from __future__ import annotations

import random

import pytest

from annotation.domain.history import Step, reversed_changes, stacks


def steps(text: str) -> list[Step]:
    """`c` a change, `i` an import, `s` a status, `u3`/`r3` undo and redo of event 3; numbered from 1."""
    found = []
    for sequence, word in enumerate(text.split(), 1):
        kind = {"c": "change", "i": "import", "s": "status", "u": "undo", "r": "redo"}[word[0]]
        found.append(Step(sequence, kind, int(word[1:]) if word[1:] else None))
    return found


@pytest.mark.parametrize(
    ("history", "undo", "redo"),
    [
        ("", (), ()),
        ("c", (1,), ()),
        ("c c c", (1, 2, 3), ()),
        ("c i c", (1, 2, 3), ()),
        ("c c u2", (1,), (2,)),
        ("c c u2 u1", (), (2, 1)),
        ("c c u2 u1 r1", (1,), (2,)),
        ("c c u2 u1 r1 r2", (1, 2), ()),
        ("c c u2 c", (1, 4), ()),
        ("c c u2 i", (1, 4), ()),
        ("c s c", (1, 3), ()),
        ("c c u2 s s", (1,), (2,)),
        ("c c u2 s r2", (1, 2), ()),
        ("c u1 r1 u1 r1", (1,), ()),
        ("s", (), ()),
    ],
)
def test_the_history_says_what_can_be_undone_and_redone(history: str, undo: tuple[int, ...], redo: tuple[int, ...]):
    found = stacks(steps(history))
    assert (found.undo, found.redo) == (undo, redo)


@pytest.mark.parametrize("history", ["u1", "r1", "c r1", "c u7", "c u1 u1"])
def test_an_undo_of_nothing_is_passed_over(history: str):
    found = stacks(steps(history))
    assert set(found.undo) | set(found.redo) <= {1}


def test_the_stacks_are_those_of_an_ordinary_editor():
    """Against the textbook: two lists; a change pushes and clears, undo and redo move one item."""
    rng = random.Random(2)
    history: list[Step] = []
    undo: list[int] = []
    redo: list[int] = []
    for sequence in range(1, 400):
        kind = rng.choice(["change", "import", "undo", "undo", "redo", "status"])
        target = None
        if kind in ("change", "import"):
            undo.append(sequence)
            redo.clear()
        elif kind != "status":
            source, sink = (undo, redo) if kind == "undo" else (redo, undo)
            if not source:
                continue
            target = source.pop()
            sink.append(target)
        history.append(Step(sequence, kind, target))
        found = stacks(history)
        assert (list(found.undo), list(found.redo)) == (undo, redo)


def test_reversing_changes_exchanges_the_sides_last_first():
    changes = [
        {"id": "a", "before": None, "after": {"rank": 0}},
        {"id": "b", "before": {"rank": 1}, "after": None},
        {"id": "c", "before": {"rank": 2}, "after": {"rank": 2, "slot": "x"}},
    ]
    assert reversed_changes(changes) == [
        {"id": "c", "before": {"rank": 2, "slot": "x"}, "after": {"rank": 2}},
        {"id": "b", "before": None, "after": {"rank": 1}},
        {"id": "a", "before": {"rank": 0}, "after": None},
    ]
    assert reversed_changes(reversed_changes(changes)) == changes
