"""The same figures over all utterances, over each speaker's turns, and for each pair of annotators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from annotation.domain.agreement_bootstrap import Interval, Resampling, resampled, spans
from annotation.domain.agreement_coding import Coded, Floats
from annotation.domain.agreement_counts import ITEMS, Counts, Path, Sums
from annotation.domain.agreement_figures import Figure, points
from annotation.domain.agreement_intents import KAPPA, whole_set_kappa


@dataclass(frozen=True, slots=True)
class Group:
    """The counts and figures over all utterances, or those of one speaker, or one pair."""

    counts: Mapping[Path, int]
    figures: Mapping[Path, float | None]

    @property
    def items(self) -> int:
        return self.counts[ITEMS]

    def as_json(self) -> dict[str, Any]:
        """Counts and figures as a tree of names."""
        tree: dict[str, Any] = {}
        for found in (self.figures, self.counts):
            for path, value in found.items():
                node = tree
                for name in path[:-1]:
                    node = node.setdefault(name, {})
                node[path[-1]] = value
        return tree


@dataclass(frozen=True, slots=True)
class PairCell:
    """One cell of the matrix over annotators."""

    annotators: tuple[str, str]
    dialogues: int
    total: int  # utterances of the dialogues that both read, submitted or not
    group: Group

    def as_json(self) -> dict[str, Any]:
        a, b = self.annotators
        own = {"a": a, "b": b, "dialogues": self.dialogues, "n_used": self.group.items, "n_total": self.total}
        return {**own, **self.group.as_json()}


@dataclass(frozen=True, slots=True)
class Mean:
    """A figure's mean over the pairs for which it is defined, `undefined` ones left out and counted."""

    value: float | None
    pairs: int
    undefined: int

    def as_json(self) -> dict[str, Any]:
        return {"mean": self.value, "pairs": self.pairs, "undefined": self.undefined}


@dataclass(slots=True)
class Grouping:
    """Sums the counts over the wanted utterances; keeps what each figure is in each draw."""

    coded: Coded
    counts: Counts
    sums: Sums
    draws: Resampling
    drawn: dict[str, Floats] = field(default_factory=dict)
    lowest: dict[str, float] = field(default_factory=dict)  # by the same names, the least value of the figure
    _whole: Floats = field(init=False)

    def __post_init__(self) -> None:
        self._whole = resampled(self.sums.by_dialogue(), self.draws)

    def group(self, figures: Sequence[Figure], speaker: int | None = None) -> Group:
        """The figures over all turns, or over one speaker's."""
        rows = self.sums.by_dialogue(speaker=speaker)
        prefix = "" if speaker is None else f"by_speaker.{self.coded.speakers[speaker]}."
        in_draws = self._whole if speaker is None else resampled(rows, self.draws)
        for figure in figures:
            if figure.interval:
                name = prefix + ".".join(figure.path)
                self.drawn[name], self.lowest[name] = figure.formula(in_draws, self.sums.layout), figure.lowest
        found = points(figures, rows.sum(axis=0), self.sums.layout)
        chosen = slice(None) if speaker is None else self.coded.speaker == speaker
        found[KAPPA] = whole_set_kappa(self.coded.a.sets[chosen], self.coded.b.sets[chosen])
        return Group(self._shown(self.counts.shown, rows), found)

    def by_speaker(self, figures: Sequence[Figure]) -> dict[str, Group]:
        """One group for every speaker whose name is known."""
        return {name: self.group(figures, number) for number, name in enumerate(self.coded.speakers) if name}

    def pairs(self, figures: Sequence[Figure]) -> tuple[tuple[PairCell, ...], dict[Path, Mean]]:
        """The matrix over annotators, and each figure's mean over its cells."""
        cells = []
        in_draws: dict[Path, list[Floats]] = {figure.path: [] for figure in figures}
        for number, names in enumerate(self.coded.pairs):
            rows = self.sums.by_dialogue(pair=number)
            alone = len(self.coded.pairs) == 1  # then a pair's draws are those of the whole
            sums = self._whole if alone else resampled(rows, self.draws, self.sums.dialogues_of(number))
            for figure in figures:
                in_draws[figure.path].append(figure.formula(sums, self.sums.layout))
            cells.append(self._cell(number, names, rows, figures))
        for figure in figures if cells else ():
            name = "headline." + ".".join(figure.path)
            self.drawn[name] = _mean_of_defined(np.stack(in_draws[figure.path]))
            self.lowest[name] = figure.lowest
        compared = [cell for cell in cells if cell.group.items]
        return tuple(cells), {figure.path: _mean(figure.path, compared) for figure in figures}

    def intervals(self) -> dict[str, Interval]:
        """The interval of every figure asked for so far, by its dotted name."""
        return spans(self.drawn, self.draws, self.lowest)

    def _cell(self, number: int, names: tuple[str, str], rows: Floats, figures: Sequence[Figure]) -> PairCell:
        units = self.coded.pair_of_unit == number
        mine = units[self.coded.unit]
        values = points(figures, rows.sum(axis=0), self.sums.layout)
        values[KAPPA] = whole_set_kappa(self.coded.a.sets[mine], self.coded.b.sets[mine])
        total = int(self.coded.total_of_unit[units].sum())
        return PairCell(names, len(rows), total, Group(self._shown([ITEMS], rows), values))

    def _shown(self, paths: Sequence[Path], rows: Floats) -> dict[Path, int]:
        total = rows.sum(axis=0)
        return {path: round(float(total[self.sums.layout.columns[path]])) for path in paths}


def _mean(path: Path, cells: Sequence[PairCell]) -> Mean:
    known = [value for cell in cells if (value := cell.group.figures[path]) is not None]
    return Mean(sum(known) / len(known) if known else None, len(cells), len(cells) - len(known))


def _mean_of_defined(table: Floats) -> Floats:
    """By draw, the mean over the pairs that are defined in it; NaN where none is."""
    known = ~np.isnan(table)
    with np.errstate(invalid="ignore"):
        result: Floats = np.where(known, table, 0.0).sum(axis=0) / known.sum(axis=0)
    return result
