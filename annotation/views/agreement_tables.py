"""The figures of a report as rows of cells for the page; each cell leads to the utterances behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from annotation.domain.agreement import Kind
from annotation.domain.questionnaire import Questionnaire
from annotation.views.agreement_charts import BarChart, IntervalChart, Measure, bar_chart, interval_chart

Path = tuple[str, ...]
HEADLINE: tuple[tuple[str, str, Path], ...] = (
    ("Intents: κ, whole set as category", "κ of intents", ("intents", "kappa_whole_set")),
    ("Intents: α with MASI distance", "α of intents", ("intents", "alpha_masi")),
    ("Intents: F, one by one", "F of intents", ("intents", "micro_f")),
    ("Slot-value pairs: F", "F of slot-value pairs", ("slot_values", "f")),
    ("Slot-value pairs: κ over decisions", "κ of slot-value pairs", ("slot_values", "kappa")),
    ("State: share of equal patient turns", "share of equal states", ("state", "share")),
    ("State: F over entries", "F of state entries", ("state", "f")),
)
RUNGS = (
    ("slot", "slot"),
    ("slot_value", "slot and value"),
    ("slot_cui", "slot and concept"),
    ("slot_value_attributes", "slot, value and all other answers"),
)
CLASSES = {
    Kind.INTENT: ("intent", "the same thing under another intent"),
    Kind.OMISSION: ("omission", "only one of the two has a label for it"),
    Kind.SLOT: ("wrong slot", "the same intent with another slot"),
    Kind.STATUS: ("status", "the same value with another status"),
    Kind.WORDING: ("wording", "another wording of the same concept"),
    Kind.VALUE: ("value", "the same slot with another value"),
    Kind.ATTRIBUTE: ("attribute", "all the same but another answer"),
}


@dataclass(frozen=True, slots=True)
class Spread:
    """How sure a figure is: the ends of its interval, and under ten dialogues those of the range of leaving one out.

    `measured` is False where the uncertainty of nothing can be told, as with a single dialogue.
    """

    low: float | None
    high: float | None
    least: float | None = None
    most: float | None = None
    measured: bool = True

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Spread:
        """Out of what a report keeps of an interval."""
        ends = kept.get("interval", {})
        left_out = ends.get("method") == "jackknife-t"
        least, most = (kept.get("low"), kept.get("high")) if left_out else (None, None)
        return cls(ends.get("low"), ends.get("high"), least, most, ends.get("method", "none") != "none")


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure or count with its link. `heat` from 0 to 5 shades a cell of the matrix."""

    value: float | int | None
    href: str
    spread: Spread | None = None
    heat: int = 0

    @property
    def text(self) -> str:
        if self.value is None:
            return "undefined"
        return f"{self.value:,}" if isinstance(self.value, int) else f"{self.value:.3f}".replace("-", "−")

    @property
    def interval(self) -> str:
        """Its 95 % interval in words; "" for a count, or where nothing can be said."""
        if self.spread is None or self.value is None or not self.spread.measured:
            return ""
        return _from_to(self.spread.low, self.spread.high) or "no interval"

    @property
    def left_out(self) -> str:
        """The range of the figure when each dialogue in turn is left out; "" from ten dialogues on."""
        return _from_to(self.spread.least, self.spread.most) if self.spread and self.value is not None else ""


def _from_to(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.2f} to {high:.2f}".replace("-", "−")


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    cells: tuple[Cell | None, ...]  # None: there is no such figure
    note: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    rows: tuple[Row, ...]
    chart: IntervalChart | None = None


class Tables:
    """All tables of one report. `query` is the scope as it stands in the page's address."""

    def __init__(
        self, figures: Mapping[str, Any], *, slug: str, query: Mapping[str, str], questionnaire: Questionnaire
    ) -> None:
        self.figures = figures
        self.speakers = list(figures["by_speaker"])
        self._slug = slug
        self._query = query
        self._intents = {intent.name: intent.title for intent in questionnaire.intents}
        self._slots = {slot.name: slot.title for slot in questionnaire.slots}

    def href(
        self,
        *path: str,
        speaker: str = "",
        pair: Sequence[int] = (),
        dialogue: int = 0,
        mean: bool = False,
    ) -> str:
        """The page that lists what is behind a figure."""
        return places_address(self._slug, self._query, path, speaker=speaker, pair=pair, dialogue=dialogue, mean=mean)

    def cell(self, *path: str, speaker: str = "") -> Cell:
        """A count or figure by its names, with its interval if it has one."""
        found: Any = self.figures["by_speaker"].get(speaker) if speaker else self.figures
        dotted = ".".join(["by_speaker", speaker, *path] if speaker else path)
        return Cell(_leaf(found, path), self.href(*path, speaker=speaker), self._spread(dotted))

    def mean(self, *path: str) -> Cell:
        """A figure's mean over the pairs of annotators."""
        dotted = ".".join(path)
        value = self.figures["headline"].get(dotted, {}).get("mean")
        return Cell(value, self.href(*path, mean=True), self._spread(f"headline.{dotted}"))

    def of_pair(self, path: Path, pair: Sequence[int], heat: int = 0) -> Cell:
        """A headline figure, or the number of utterances, of two annotators."""
        cells = (one for one in self.figures["pairs"] if {int(one["a"]), int(one["b"])} == set(pair))
        names = ("n_used",) if path == ("n",) else path
        return Cell(_leaf(next(cells, None), names), self.href(*path, pair=pair), heat=heat)

    def baseline(self, speaker: str = "") -> Cell:
        """What an annotator would reach who reads only who is speaking."""
        kept = self.figures["baseline"]
        value = kept["by_speaker"].get(speaker) if speaker else kept["kappa_whole_set"]
        return Cell(value, self.href("baseline", speaker=speaker))

    def _spread(self, dotted: str) -> Spread | None:
        kept = self.figures["intervals"].get(dotted)
        return Spread.of(kept) if kept else None

    def headline(self) -> Table:
        """Mean over pairs, pooled, and within each speaker; with the baseline below the figure that it is of."""
        rows = []
        measures = []
        for label, short, path in HEADLINE:
            mean = self.mean(*path)
            by_speaker = [self.cell(*path, speaker=speaker) for speaker in self.speakers]
            rows.append(Row(label, (mean, self.cell(*path), *by_speaker)))
            measures.append(_measure(short, mean))
            if path == HEADLINE[0][2]:
                rows.append(self._baseline())
        return Table(tuple(rows), interval_chart("Agreement, mean over the pairs of annotators", measures))

    def _baseline(self) -> Row:
        cells = [self.baseline(), *(self.baseline(speaker) for speaker in self.speakers)]
        note = "What an annotator would reach who reads nothing but who is speaking."
        return Row("Reads only the speaker", (None, *cells), note)

    def intents(self) -> Table:
        """One row for each intent that anybody used."""
        rows, measures = [], []
        for name, tree in self.figures["intents"].get("by_intent", {}).items():
            if not (tree["a"] or tree["b"] or tree["c"]):
                continue
            path = ("intents", "by_intent", name)
            names = ("a", "b", "c", "d", "kappa", "positive", "negative", "po", "pe", "prevalence", "bias")
            cells = [self.cell(*path, part) for part in names]
            rows.append(Row(self._intents.get(name, name), tuple(cells)))
            measures.append(_measure(rows[-1].label, cells[4]))
        return Table(tuple(rows), interval_chart("κ of each intent", measures) if rows else None)

    def slots(self) -> Table:
        """Presence of each slot as κ, and F over its values."""
        rows, measures = [], []
        for name in self.figures["slot_values"].get("by_slot", {}):
            path = ("slot_values", "by_slot", name)
            cells = [self.cell(*path, "presence", part) for part in ("a", "b", "c", "d", "kappa")]
            cells += [self.cell(*path, part) for part in ("both", "only_a", "only_b", "f")]
            rows.append(Row(self._slots.get(name, name), tuple(cells)))
            measures.append(_measure(rows[-1].label, cells[-1]))
        return Table(tuple(rows), interval_chart("F over the values of each slot", measures) if rows else None)

    def ladder(self) -> Table:
        rows = []
        for name, label in RUNGS:
            path = ("slot_values", "ladder", name)
            rows.append(Row(label, tuple(self.cell(*path, part) for part in ("both", "only_a", "only_b", "f"))))
        return Table(tuple(rows))

    def closed_lists(self) -> Table:
        rows = []
        for name in self.figures["slot_values"].get("closed_lists", {}):
            slot, _, question = name.rpartition(".")
            label = f"{self._slots.get(slot, slot)}: {question.replace('_', ' ')}"
            path = ("slot_values", "closed_lists", name)
            rows.append(Row(label, tuple(self.cell(*path, part) for part in ("same", "blank", "different", "kappa"))))
        return Table(tuple(rows))

    def state(self) -> tuple[Cell, Cell]:
        return self.cell("state", "equal"), self.cell("state", "different")

    def classes(self) -> tuple[Table, BarChart]:
        """The decomposition, the most frequent class first, with what F would gain if the class vanished."""
        tree = self.figures["decomposition"]
        whole = tree.get("f")
        found = sorted(Kind, key=lambda kind: -tree["classes"][kind.value]["n"])
        rows = []
        bars = []
        for kind in found:
            path = ("decomposition", "classes", kind.value)
            count, without = self.cell(*path, "n"), self.cell(*path, "f_without")
            cost = None if whole is None or without.value is None else without.value - whole
            rows.append(Row(CLASSES[kind][0], (count, without, Cell(cost, without.href)), CLASSES[kind][1]))
            bars.append((CLASSES[kind][0], int(count.value or 0), "" if cost is None else f"costs {cost:.3f} of F"))
        return Table(tuple(rows)), bar_chart("Disagreements by class", bars)

    def matrix(self, names: Mapping[int, str]) -> list[tuple[str, list[dict[str, Any] | None]]]:
        """Rows and columns are the annotators by name; a cell has n, κ of intents and F, None where no pair is."""
        cells = {}
        for cell in self.figures["pairs"]:
            both = (int(cell["a"]), int(cell["b"]))
            cells[both] = cells[both[::-1]] = self._pair(cell, both)
        people = sorted({pk for both in cells for pk in both}, key=lambda pk: names.get(pk, str(pk)))
        return [(names.get(one, str(one)), [cells.get((one, other)) for other in people]) for one in people]

    def _pair(self, cell: Mapping[str, Any], both: tuple[int, int]) -> dict[str, Any]:
        kappa = cell["intents"]["kappa_whole_set"]
        heat = 0 if kappa is None else max(1, min(5, int(kappa * 5) + 1))
        return {
            "n": self.of_pair(("n",), both),
            "total": Cell(cell["n_total"], self.href("total", pair=both)),
            "kappa": self.of_pair(("intents", "kappa_whole_set"), both, heat),
            "f": self.of_pair(("slot_values", "f"), both),
        }


def places_address(
    slug: str,
    query: Mapping[str, str],
    path: Path,
    *,
    speaker: str = "",
    pair: Sequence[int] = (),
    dialogue: int = 0,
    mean: bool = False,
) -> str:
    """The page that lists what is behind a figure; `query` says over what it was measured."""
    parts = [*query.items(), *(("p", name) for name in path)]
    parts += [("speaker", speaker)] if speaker else []
    parts += [("both", "-".join(map(str, pair)))] if pair else []
    parts += [("dialogue", str(dialogue))] if dialogue else []
    parts += [("mean", "1")] if mean else []
    return f"{reverse('agreement-places', args=[slug])}?{urlencode(parts)}"


def _leaf(tree: Any, path: Sequence[str]) -> Any:
    """What stands at the end of a path of names; None where it leads nowhere."""
    for name in path:
        tree = tree.get(name) if isinstance(tree, Mapping) else None
    return None if isinstance(tree, Mapping) else tree


def _measure(label: str, cell: Cell) -> Measure:
    spread = cell.spread
    return Measure(label, cell.value, spread.low if spread else None, spread.high if spread else None)
