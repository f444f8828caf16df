"""The utterances behind every figure of a report, in a form that a snapshot can keep.

`items` of a report are utterances × pairs in order; a figure's are kept as runs [first, length] of them, since both
rare cells and those that hold nearly everything then take little room.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.domain.agreement import AgreementReport
from annotation.domain.agreement_counts import ITEMS, Counts, Path
from annotation.domain.agreement_report import cells_of
from annotation.services.agreement_sources import FINISHED, Compared

_JOINT = "\t"  # no name of an intent, slot or question has one


@dataclass(frozen=True, slots=True)
class Place:
    """One utterance as two annotators labelled it: row numbers of the dialogue and of both label sets."""

    dialogue: int
    position: int
    speaker: str
    label_sets: tuple[int, int]
    people: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the places: one speaker's turns, what two people labelled, one dialogue."""

    speaker: str | None = None
    pair: tuple[int, int] | None = None
    dialogue: int | None = None

    def has(self, place: Place) -> bool:
        return (
            self.speaker in (None, place.speaker)
            and (self.pair is None or set(self.pair) == set(place.people))
            and self.dialogue in (None, place.dialogue)
        )


WHOLE = Part()


@dataclass(frozen=True, slots=True)
class Places:
    """What is behind a report; `data` is what a snapshot keeps, empty where that was kept no longer."""

    data: Mapping[str, Any]

    @property
    def sources(self) -> list[list[int | str]]:
        return list(self.data.get("sources", []))

    @property
    def complete(self) -> bool:
        """Whether everything that is asked for here was kept."""
        return all(name in self.data for name in ("units", "behind", "over"))

    @property
    def concepts(self) -> str:
        """The fingerprint of what was decided about concepts, "" where nothing was."""
        return str(self.data.get("concepts", ""))

    @property
    def units(self) -> list[Mapping[str, Any]]:
        """What is compared, dialogue by dialogue and pair by pair."""
        return list(self.data.get("units", []))

    @property
    def versions(self) -> dict[int, int]:
        """The versions of the label sets that the report was made from."""
        return {int(pk): int(version) for pk, version, _ in self.sources}

    @property
    def finished(self) -> set[int]:
        """The label sets of the report that were done or locked when it was made."""
        return {int(pk) for pk, _, status in self.sources if status in FINISHED}

    def knows(self, path: Path) -> bool:
        return _JOINT.join(path) in self.data.get("behind", {})

    def is_figure(self, path: Path) -> bool:
        """Whether this names a figure and not a count."""
        return _JOINT.join(path) in self.data.get("over", {})

    def behind(self, path: Path, part: Part = WHOLE) -> list[Place]:
        """The utterances behind a count, or the disagreements behind a figure. KeyError for an unknown name."""
        wanted = _expanded(self.data["behind"][_JOINT.join(path)])
        return [one for one in self._found(wanted) if part.has(one)]

    def over(self, path: Path, part: Part = WHOLE) -> list[Place]:
        """All utterances from which a figure is computed. KeyError for an unknown name."""
        columns = self.data["over"][_JOINT.join(path)] or [_JOINT.join(ITEMS)]
        wanted = {item for column in columns for item in _expanded(self.data["behind"][column])}
        return [one for one in self._found(iter(sorted(wanted))) if part.has(one)]

    def missing(self, part: Part = WHOLE) -> list[Place]:
        """The utterances that not both of a pair submitted."""
        found = (_place(unit, *at) for unit in self.units for at in unit["missing"])
        return [one for one in found if part.has(one)]

    def every(self, part: Part = WHOLE) -> list[Place]:
        """All utterances of the dialogues, submitted by both or not."""
        found = (_place(unit, *at) for unit in self.units for at in sorted([*unit["items"], *unit["missing"]]))
        return [one for one in found if part.has(one)]

    def _found(self, wanted: Iterator[int]) -> Iterator[Place]:
        units, number, first = self.data["units"], 0, 0
        for item in wanted:
            while item - first >= len(units[number]["items"]):
                first += len(units[number]["items"])
                number += 1
            yield _place(units[number], *units[number]["items"][item - first])


def places_of(report: AgreementReport, pairs: Sequence[Compared]) -> Places:
    """Everything behind a report over these pairs, in the same order."""
    behind = {}
    columns = {figure.path: figure.behind for figure in report.figures}
    for path in cells_of(report):
        behind[_JOINT.join(path)] = _runs(report.counts, columns.get(path) or (path,))
    units = [
        _unit(pair, one.submitted_a & one.submitted_b, one.a.utterances)
        for pair, one in zip(pairs, report.coded.units, strict=True)
    ]
    over = {_JOINT.join(one.path): [_JOINT.join(column) for column in one.over] for one in report.figures}
    return Places({"units": units, "behind": behind, "over": over})


def _unit(pair: Compared, both: frozenset[int], turns: Iterable[Any]) -> dict[str, Any]:
    items: list[list[Any]] = []
    missing: list[list[Any]] = []
    for turn in turns:
        (items if turn.position in both else missing).append([turn.position, turn.speaker])
    return {
        "dialogue": pair.a.dialogue_id,
        "label_sets": [pair.a.pk, pair.b.pk],
        "people": list(pair.people),
        "items": items,
        "missing": missing,
    }


def _place(unit: Mapping[str, Any], position: int, speaker: str) -> Place:
    one, other = unit["label_sets"]
    a, b = unit["people"]
    return Place(unit["dialogue"], position, speaker, (one, other), (a, b))


def _runs(counts: Counts, columns: Iterable[Path]) -> list[list[int]]:
    """The items at which any of these columns is not zero, as [first, length] of those that follow each other."""
    hit = np.zeros(counts.size + 2, dtype=np.int8)
    for path in columns:
        hit[1:-1] |= counts.columns[path] != 0
    edges = np.flatnonzero(np.diff(hit))
    firsts, ends = edges[::2], edges[1::2]
    return np.stack([firsts, ends - firsts], axis=1).tolist()  # type: ignore[no-any-return]


def _expanded(runs: Iterable[Sequence[int]]) -> Iterator[int]:
    for first, length in runs:
        yield from range(first, first + length)
