"""Everything put together: one call from pairs of readings to a report that can name the utterances behind a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from annotation.domain.agreement_bootstrap import DRAWS, LEVEL, SEED, Interval, Resampling, resampling, spread
from annotation.domain.agreement_classes import Alignment, Disagreement, align_all, count_classes, disagreements
from annotation.domain.agreement_coding import Coded, Concepts, canon_of_heads, code_pairs
from annotation.domain.agreement_counts import ITEMS, Counts, Path, items_behind, summed
from annotation.domain.agreement_figures import Figure
from annotation.domain.agreement_groups import Group, Grouping, Mean, PairCell
from annotation.domain.agreement_intents import count_intents, pair_alpha
from annotation.domain.agreement_pairs import PairedReading, Place
from annotation.domain.agreement_speaker import Baseline, speaker_baseline
from annotation.domain.agreement_state import count_states
from annotation.domain.agreement_values import count_values
from annotation.domain.concepts import Canon
from annotation.domain.questionnaire import Questionnaire

# Changes whenever a figure comes to mean something else, so that a stored report says which meaning it has.
DEFINITION = "3"


@dataclass(frozen=True)
class AgreementReport:
    """All figures. `whole` pools every pair; `headline` is the mean over pairs; `intervals` go by dotted names."""

    questionnaire: Questionnaire
    definition: str
    coded: Coded
    counts: Counts
    figures: tuple[Figure, ...]
    alignment: Alignment
    whole: Group
    by_speaker: Mapping[str, Group]
    pairs: tuple[PairCell, ...]
    headline: Mapping[Path, Mean]
    baseline: Baseline
    intervals: Mapping[str, Interval]
    resampling: Resampling

    @property
    def n_used(self) -> int:
        """Utterances that both annotators of a pair submitted, counted once for each pair."""
        return self.coded.size

    @property
    def n_total(self) -> int:
        return int(self.coded.total_of_unit.sum())

    @property
    def compared(self) -> list[PairCell]:
        """The pairs of annotators that have something to compare."""
        return [cell for cell in self.pairs if cell.group.items]

    @cached_property
    def disagreements(self) -> tuple[Disagreement, ...]:
        return tuple(disagreements(self.questionnaire, self.coded, self.alignment))

    def value(self, *path: str) -> float | None:
        """A figure of the whole by its names, like `value("intents", "kappa_whole_set")`. KeyError if there is none."""
        return self.whole.figures[path]

    def places(self, *path: str, speaker: str | None = None, pair: tuple[str, str] | None = None) -> list[Place]:
        """The utterances behind a count, or the disagreements behind a figure, once each in the order of the dialogues.

        Both can be narrowed to one speaker's turns and to one pair of annotators. KeyError for an unknown name.
        """
        columns = {figure.path: figure.behind for figure in self.figures}.get(path) or (path,)
        found = (item for item in items_behind(self.counts, columns) if self._within(item, speaker, pair))
        return list(dict.fromkeys(self.coded.place(item) for item in found))

    def missing(self, pair: tuple[str, str] | None = None) -> list[Place]:
        """The utterances left out because not both annotators of a pair submitted them."""
        left_out = (
            (unit.dialogue, turn.position)
            for unit in self.coded.units
            if pair in (None, unit.annotators)
            for turn in unit.a.utterances
            if turn.position not in unit.submitted_a or turn.position not in unit.submitted_b
        )
        return list(dict.fromkeys(left_out))

    def as_json(self) -> dict[str, Any]:
        """Everything as plain data; None stands for undefined."""
        questionnaire = {"name": self.questionnaire.name, "version": self.questionnaire.version}
        return {
            "definition": self.definition,
            "questionnaire": questionnaire,
            "coverage": self._coverage(),
            "headline": {".".join(path): mean.as_json() for path, mean in self.headline.items()},
            **self.whole.as_json(),
            "by_speaker": {speaker: group.as_json() for speaker, group in self.by_speaker.items()},
            "baseline": self.baseline.as_json(),
            "pairs": [cell.as_json() for cell in self.pairs],
            "intervals": {name: interval.as_json() for name, interval in self.intervals.items()},
            "uncertainty": self.resampling.as_json(),
        }

    def _coverage(self) -> dict[str, Any]:
        return {
            "n_used": self.n_used,
            "n_total": self.n_total,
            "share": self.n_used / self.n_total if self.n_total else None,
            "dialogues": len(self.coded.dialogues),
            "dialogues_used": self.resampling.dialogues,
            "pairs": len(self.coded.pairs),
            "annotators": len({name for pair in self.coded.pairs for name in pair}),
        }

    def _within(self, item: int, speaker: str | None, pair: tuple[str, str] | None) -> bool:
        coded = self.coded
        if speaker is not None and coded.speakers[int(coded.speaker[item])] != speaker:
            return False
        return pair is None or coded.pairs[int(coded.pair_of_unit[coded.unit[item]])] == pair


def agreement(
    questionnaire: Questionnaire,
    pairs: Sequence[PairedReading],
    *,
    concepts: Canon | Concepts | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
    level: float = LEVEL,
) -> AgreementReport:
    """All figures of agreement over these pairs of readings.

    `concepts` is what was decided, label by label where that makes a difference, or a plain mapping of (slot, value) to
    a CUI. `draws`, `seed` and `level` belong to
    the bootstrap. No pair at all is fine: every figure is then undefined. Raises ValueError when a pair comes twice for
    a dialogue, also the other way round.
    """
    units = _oriented(pairs)
    canon = concepts if isinstance(concepts, Canon) else canon_of_heads(questionnaire, concepts or {})
    coded = code_pairs(questionnaire, units, canon)
    counts, alignment = Counts(coded.size), align_all(coded)
    figures = _count(questionnaire, coded, alignment, counts)
    of_pairs = [pair_alpha(one, coded, counts) for one in figures if one.headline]
    filled = np.unique(coded.dialogue_of_unit[coded.unit])
    draws_of = resampling(len(filled), draws=draws, seed=seed, level=level)
    if len(filled) < len(coded.dialogues):
        draws_of = spread(draws_of, filled, len(coded.dialogues))
    grouping = Grouping(coded, counts, summed(coded, counts), draws_of)
    whole, by_speaker = grouping.group(figures), grouping.by_speaker(figures)
    cells, headline = grouping.pairs(of_pairs)
    return AgreementReport(
        questionnaire=questionnaire,
        definition=DEFINITION,
        coded=coded,
        counts=counts,
        figures=tuple(figures),
        alignment=alignment,
        whole=whole,
        by_speaker=by_speaker,
        pairs=cells,
        headline=headline,
        baseline=speaker_baseline(coded),
        intervals=grouping.intervals(),
        resampling=draws_of,
    )


def _count(questionnaire: Questionnaire, coded: Coded, alignment: Alignment, counts: Counts) -> list[Figure]:
    """Fills the counts; gives all figures that are made of them."""
    counts.add(ITEMS, np.ones(coded.size, dtype=np.int64))
    return [
        *count_intents(coded, counts),
        *count_values(questionnaire, coded, alignment, counts),
        *count_states(coded, counts),
        *count_classes(coded, alignment, counts),
    ]


def _oriented(pairs: Sequence[PairedReading]) -> list[PairedReading]:
    """Each two annotators in one order, the first one met, so that a pair is one cell whichever way round it came."""
    order: dict[frozenset[str], tuple[str, str]] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    result = []
    for one in pairs:
        both = frozenset(one.annotators)
        if (one.dialogue, both) in seen:
            raise ValueError(f"Dialogue {one.dialogue} is paired twice for {' and '.join(sorted(both))}.")
        seen.add((one.dialogue, both))
        result.append(one if order.setdefault(both, one.annotators) == one.annotators else _turned(one))
    return result


def _turned(one: PairedReading) -> PairedReading:
    return PairedReading(one.b, one.a, one.annotator_b, one.annotator_a, one.submitted_b, one.submitted_a)


def cells_of(report: AgreementReport) -> Iterator[Path]:
    """The names of every count and figure that `places` can be asked for."""
    yield from report.counts.shown
    yield from (figure.path for figure in report.figures)
