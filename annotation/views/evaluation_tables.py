"""The scores of several systems side by side, as tables of texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from annotation.domain.metrics_tuples import BY_ATTRIBUTE, BY_SLOT, MEDICAL, NON_MEDICAL, OVERALL
from annotation.models import Evaluation, EvaluationTask
from annotation.views.evaluation_alike import Unlike

FIGURES = {"precision": "precision", "recall": "recall", "f1": "F1"}
PARTS = {OVERALL: "All tuples", MEDICAL: "Medical tuples", NON_MEDICAL: "Other tuples"}
TEXT_FIGURES = {"bleu_2": "BLEU-2", "bleu_4": "BLEU-4", "rouge_1": "ROUGE-1", "rouge_l": "ROUGE-L"}
ROWS_SHOWN = 200
NO_INTERVAL = "no interval"


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure as text; `best` of its figure, where there are several systems. `link` leads to the errors behind it."""

    text: str
    note: str = ""
    best: bool = False
    link: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A figure of every system; `group` is the heading before it, where one begins."""

    title: str
    cells: Sequence[Cell]
    group: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Columns under one heading."""

    title: str
    columns: Sequence[Row]


@dataclass(frozen=True, slots=True)
class SystemRow:
    """`marks` say in what its scoring differs from that of the others."""

    system: Evaluation
    cells: Sequence[Cell]
    marks: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Headline:
    """A table with a system a row."""

    caption: str
    groups: Sequence[Group]
    rows: Sequence[SystemRow]


def headline_tables(systems: Sequence[Evaluation], apart: Unlike | None = None) -> list[Headline]:
    """The figures that a paper would print, then what was read; a system a row. Where the systems were not scored
    alike (`apart`), none of them is the best, and each row says what it has of that in which they differ."""
    tables = _headline_tables(systems)
    if apart is None:
        return tables
    return [
        replace(
            table, rows=[SystemRow(row.system, _plain(row.cells), apart.marks[row.system.pk]) for row in table.rows]
        )
        for table in tables
    ]


def _headline_tables(systems: Sequence[Evaluation]) -> list[Headline]:
    task = EvaluationTask(systems[0].task)
    results = [one.results for one in systems]
    if task is EvaluationTask.NLG:
        groups = [_text_group(results), _read_group(results)]
        return [_headline("Scores of the systems", groups, systems)]
    parts = [Group(title, [_part_column(results, part, name) for name in FIGURES]) for part, title in PARTS.items()]
    further = [_at_k_group(results)] if task is EvaluationTask.POL else []
    return [
        _headline("Scores of the systems", parts, systems),
        _headline("What was read", [*further, _read_group(results)], systems),
    ]


def slot_rows(systems: Sequence[Evaluation], apart: Unlike | None = None) -> list[Row]:
    """F1 by slot, the slots with most gold first; `apart` as in `headline_tables`."""
    return _unmarked(_slot_rows(systems), apart)


def attribute_rows(systems: Sequence[Evaluation], apart: Unlike | None = None) -> list[Row]:
    """F1 by slot and attribute, in groups, those with most gold first; `apart` as in `headline_tables`."""
    return _unmarked(_attribute_rows(systems), apart)


def interval_notes(systems: Sequence[Evaluation]) -> list[tuple[str, str]]:
    """How the intervals came about, each way once, with the systems' names; without names where all have the same."""
    by_note: dict[str, list[str]] = {}
    for one in systems:
        if "resampling" in one.results:
            by_note.setdefault(one.results["resampling"]["note"], []).append(one.system)
    if len(by_note) == 1:
        return [("", note) for note in by_note]
    return [(", ".join(names), note) for note, names in by_note.items()]


def lacks_interval(headlines: Sequence[Headline], *tables: Sequence[Row]) -> bool:
    """Whether a figure has no interval."""
    cells = [cell for table in headlines for row in table.rows for cell in row.cells]
    cells += [cell for table in tables for row in table for cell in row.cells]
    return any(cell.note == NO_INTERVAL for cell in cells)


def _plain(cells: Sequence[Cell]) -> list[Cell]:
    return [replace(cell, best=False) for cell in cells]


def _unmarked(rows: list[Row], apart: Unlike | None) -> list[Row]:
    return rows if apart is None else [replace(row, cells=_plain(row.cells)) for row in rows]


def _slot_rows(systems: Sequence[Evaluation]) -> list[Row]:
    results = [one.results for one in systems]
    names = {name for one in results for name in one[BY_SLOT]}
    ordered = sorted(names, key=lambda name: (-_size(results, (BY_SLOT, name)), name))
    return [
        Row(name.replace("_", " "), _linked(systems, _figure_cells(results, (BY_SLOT, name), "f1"), slot=name))
        for name in ordered[:ROWS_SHOWN]
    ]


def _attribute_rows(systems: Sequence[Evaluation]) -> list[Row]:
    results = [one.results for one in systems]
    names = {(slot, name) for one in results for slot, inner in one[BY_ATTRIBUTE].items() for name in inner}
    by_slot = {slot: _size(results, (BY_SLOT, slot)) for slot, _ in names}
    ordered = sorted(names, key=lambda one: (-by_slot[one[0]], one[0], -_size(results, (BY_ATTRIBUTE, *one)), one[1]))
    rows: list[Row] = []
    before = ""
    for slot, name in ordered[:ROWS_SHOWN]:
        group = slot.replace("_", " ") if slot != before else ""
        before = slot
        cells = _figure_cells(results, (BY_ATTRIBUTE, slot, name), "f1")
        cells = _linked(systems, cells, attribute=f"{slot} · {name}")
        rows.append(Row(name.replace("_", " "), cells, group))
    return rows


def _linked(systems: Sequence[Evaluation], cells: Sequence[Cell], **narrowed: str) -> list[Cell]:
    """Each figure with the address of its system's errors, narrowed to what it is about."""
    return [
        replace(cell, link=f"{reverse('evaluation', args=[one.project.slug, one.pk])}?{urlencode(narrowed)}#errors")
        for one, cell in zip(systems, cells, strict=True)
    ]


def _headline(caption: str, groups: Sequence[Group], systems: Sequence[Evaluation]) -> Headline:
    rows = [
        SystemRow(one, [column.cells[place] for group in groups for column in group.columns])
        for place, one in enumerate(systems)
    ]
    return Headline(caption, groups, rows)


def _part_column(results: Sequence[Mapping[str, Any]], part: str, name: str) -> Row:
    return Row(FIGURES[name], _figure_cells(results, (part,), name))


def _text_group(results: Sequence[Mapping[str, Any]]) -> Group:
    columns = [Row(title, _cells([one[name] for one in results])) for name, title in TEXT_FIGURES.items()]
    bert = [one["bert_score"].get("f1") for one in results]
    if any(value is not None for value in bert):
        columns.append(Row("BERTScore", _cells(bert)))
    return Group("Likeness to the doctor’s words", columns)


def _at_k_group(results: Sequence[Mapping[str, Any]]) -> Group:
    columns = []
    for k in ("1", "4", "8", "inf"):
        found = [one["precision_at"][k] for one in results]
        cells = _cells(
            [one["precision"] for one in found], [_range(one["precision"], one["interval"]) for one in found]
        )
        columns.append(Row(f"Precision@{'∞' if k == 'inf' else k}", cells))
    return Group("Medical tuples within K turns", columns)


def _read_group(results: Sequence[Mapping[str, Any]]) -> Group:
    read = [one["predictions"] for one in results]
    shares = ["–" if one["malformed_share"] is None else f"{one['malformed_share']:.1%}" for one in read]
    malformed = [
        Cell(share, f"{one['malformed']:,} of {one['lines']:,}") for share, one in zip(shares, read, strict=True)
    ]
    missing = [Cell(f"{one['missing']:,}", f"of {one['turns']:,}") for one in read]
    scored = [Cell(f"{one['utterances']['scored']:,}") for one in results]
    columns = [Row("malformed lines", malformed), Row("utterances without a prediction", missing)]
    return Group("What was read", [*columns, Row("utterances scored", scored)])


def _figure_cells(results: Sequence[Mapping[str, Any]], part: tuple[str, ...], name: str) -> list[Cell]:
    found = [_at(one, part) for one in results]
    values = [one[name] if one else None for one in found]
    ends = [_at(one["intervals"], part) for one in results]
    pairs = zip(values, ends, strict=True)
    return _cells(values, [_range(value, one[name]) if one else "" for value, one in pairs])


def _cells(values: Sequence[float | None], notes: Sequence[str] | None = None) -> list[Cell]:
    there = [value for value in values if value is not None]
    best = max(there) if len(values) > 1 and there else None
    notes = notes or [""] * len(values)
    return [
        Cell("–" if value is None else f"{value:.3f}", note, value is not None and value == best)
        for value, note in zip(values, notes, strict=True)
    ]


def _range(value: float | None, found: Mapping[str, Any]) -> str:
    """The interval of a figure; nothing of a figure that there is not."""
    ends = found["interval"]
    if ends["low"] is None or ends["high"] is None:
        return "" if value is None else NO_INTERVAL
    return f"{ends['low']:.3f}–{ends['high']:.3f}"


def _size(results: Sequence[Mapping[str, Any]], part: tuple[str, ...]) -> int:
    """Tuples of the gold in this part."""
    counts = [_at(one["counts"], part) for one in results]
    return max((one["matched"] + one["missed"] for one in counts if one), default=0)


def _at(whole: Mapping[str, Any], part: tuple[str, ...]) -> Any:
    """None where a system has nothing in this part."""
    found: Any = whole
    for name in part:
        if name not in found:
            return None
        found = found[name]
    return found
