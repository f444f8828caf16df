"""The figures of a report as rows of cells for the page; each cell leads to the utterances behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
class Cell:
    """A figure or count with its link. `heat` from 0 to 5 shades a cell of the matrix."""

    value: float | int | None
    href: str = ""
    low: float | None = None
    high: float | None = None
    heat: int = 0

    @property
    def text(self) -> str:
        if self.value is None:
            return "undefined"
        return f"{self.value:,}" if isinstance(self.value, int) else f"{self.value:.3f}".replace("-", "−")

    @property
    def linked(self) -> bool:
        """Whether there can be anything behind it."""
        return bool(self.href) and self.value is not None and (self.value != 0 or isinstance(self.value, float))

    @property
    def range(self) -> str:
        if self.low is None or self.high is None:
            return ""
        return f"{self.low:.2f} to {self.high:.2f}".replace("-", "−")


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
        self._address = reverse("agreement-places", args=[slug])
        self._query = list(query.items())
        self._intents = {intent.name: intent.title for intent in questionnaire.intents}
        self._slots = {slot.name: slot.title for slot in questionnaire.slots}

    def href(self, *path: str, speaker: str = "", pair: Sequence[int] = ()) -> str:
        """The page that lists what is behind a figure."""
        parts = [*self._query, *(("p", name) for name in path)]
        if speaker:
            parts.append(("speaker", speaker))
        if pair:
            parts.append(("both", "-".join(map(str, pair))))
        return f"{self._address}?{urlencode(parts)}"

    def cell(self, *path: str, speaker: str = "") -> Cell:
        """A count or figure by its names, with its interval if it has one."""
        found: Any = self.figures["by_speaker"][speaker] if speaker else self.figures
        for name in path:
            found = found.get(name) if isinstance(found, Mapping) else None
        dotted = ".".join(["by_speaker", speaker, *path] if speaker else path)
        ends = self.figures["intervals"].get(dotted, {})
        return Cell(found, self.href(*path, speaker=speaker), ends.get("low"), ends.get("high"))

    def mean(self, *path: str) -> Cell:
        """A figure's mean over the pairs of annotators."""
        dotted = ".".join(path)
        ends = self.figures["intervals"].get(f"headline.{dotted}", {})
        value = self.figures["headline"].get(dotted, {}).get("mean")
        return Cell(value, self.href(*path), ends.get("low"), ends.get("high"))

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
        baseline = self.figures["baseline"]
        within = [Cell(baseline["by_speaker"].get(speaker)) for speaker in self.speakers]
        note = "What an annotator would reach who reads nothing but who is speaking."
        return Row("Reads only the speaker", (None, Cell(baseline["kappa_whole_set"]), *within), note)

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
            rows.append(Row(label, tuple(self.cell(*path, part) for part in ("same", "different", "kappa"))))
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
            count, without = self.cell(*path, "n"), tree["classes"][kind.value]["f_without"]
            cost = None if whole is None or without is None else without - whole
            behind = count.href if count.value else ""
            rows.append(Row(CLASSES[kind][0], (count, Cell(without, behind), Cell(cost, behind)), CLASSES[kind][1]))
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
        kappa, f = cell["intents"]["kappa_whole_set"], cell["slot_values"]["f"]
        heat = 0 if kappa is None else max(1, min(5, int(kappa * 5) + 1))
        return {
            "n": Cell(cell["n_used"], self.href("n", pair=both)),
            "total": cell["n_total"],
            "dialogues": cell["dialogues"],
            "kappa": Cell(kappa, self.href("intents", "kappa_whole_set", pair=both), heat=heat),
            "f": Cell(f, self.href("slot_values", "f", pair=both)),
        }


def _measure(label: str, cell: Cell) -> Measure:
    return Measure(label, cell.value, cell.low, cell.high)


def words_of(path: Path, questionnaire: Questionnaire) -> str:
    """What a figure or count is called, as the heading of the utterances behind it."""
    known = {one[2]: one[1] for one in HEADLINE}
    if path in known:
        return f"disagreements behind {known[path]}"
    return ": ".join(_part_words(path, questionnaire))


_PARTS = {
    "n": "compared",
    "a": "both have it",
    "b": "only A has it",
    "c": "only B has it",
    "d": "neither has it",
    "both": "both have it",
    "only_a": "only A has it",
    "only_b": "only B has it",
    "kappa": "disagreements behind κ",
    "f": "disagreements behind F",
    "same": "the same answer",
    "different": "different answers",
    "same_set": "the same intents",
    "different_set": "different intents",
    "slot_values": "slot-value pairs",
    "presence": "used at all",
    "equal": "equal states",
    "micro": "one by one",
}
_SILENT = {"by_intent", "by_slot", "ladder", "closed_lists", "classes"}


def _part_words(path: Path, questionnaire: Questionnaire) -> Iterator[str]:
    titles = {intent.name: intent.title for intent in questionnaire.intents}
    titles |= {slot.name: slot.title for slot in questionnaire.slots}
    titles |= {kind.value: CLASSES[kind][0] for kind in Kind} if "classes" in path else {}
    titles |= dict(RUNGS) if "ladder" in path else {}
    for place, name in enumerate(path):
        if name in _SILENT or (name == "n" and len(path) > 1):
            continue
        named = place > 0 and path[place - 1] in _SILENT
        yield titles.get(name, name) if named else _PARTS.get(name, name.replace("_", " "))
