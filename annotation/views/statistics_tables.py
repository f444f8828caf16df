"""The statistics as tables, each with its definition, its chart and what the chart shows above all."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.domain.label_content import plain
from annotation.domain.statistics import ALL, NO_SPLIT, SEGMENTS, ConceptFigures, Size, Statistics
from annotation.services.charts import Bars, Chart, HeatMap, Steps
from annotation.services.statistics import ProjectStatistics

ROWS_SHOWN = 100  # a file has all of them
BARS = 25
IN_FILES = "In files"  # the name that a dataset has for what the page calls otherwise
SPLIT_TITLES = {ALL: "all", NO_SPLIT: "in no split (no labels that count)"}


@dataclass(frozen=True, slots=True)
class Table:
    """`rows` begin with what they are about; None stands for a figure that has no value. `finding` is the chart in one
    sentence."""

    key: str
    title: str
    definition: str
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    chart: Chart | None = None
    finding: str = ""

    @property
    def shown(self) -> list[tuple[str, list[str]]]:
        """The first rows as text."""
        return [(str(row[0]), [_text(cell) for cell in row[1:]]) for row in self.rows[:ROWS_SHOWN]]

    @property
    def more(self) -> int:
        return max(0, len(self.rows) - ROWS_SHOWN)


def tables_of(found: ProjectStatistics) -> dict[str, Table]:
    """By key, in the order of the page."""
    figures = found.statistics
    made = [_sizes(figures), _intents(figures), _slots(figures), _segments(figures)]
    made += [_attributes(figures), _concepts(figures), _growth(found)]
    return {one.key: one for one in made}


def _sizes(figures: Statistics) -> Table:
    return Table(
        "sizes",
        "Size",
        "Words are what white space separates. The closing turn of the control speaker is no utterance. A label "
        "becomes as many entries of a dataset as it has values.",
        (
            "Split",
            "Dialogues",
            "Utterances",
            "Per dialogue",
            "Words per utterance",
            "With a label",
            "Labels",
            "Entries",
        ),
        [(SPLIT_TITLES.get(name, name), *_size(size)) for name, size in figures.sizes_in_order()],
    )


def _size(size: Size) -> tuple[int | float | None, ...]:
    means = (size.utterances_per_dialogue, size.words_per_utterance)
    return size.dialogues, size.utterances, *means, size.labelled, size.labels, size.entries


def _intents(figures: Statistics) -> Table:
    speakers = [name for name, _ in figures.utterances_by_speaker.most_common()]
    totals = {
        name: sum(figures.intents[speaker][name] for speaker in speakers)
        for speaker in speakers
        for name in figures.intents[speaker]
    }
    names = sorted(totals, key=lambda name: (-totals[name], name))
    rows: list[tuple[Any, ...]] = [
        (figures.intent_title(name), name, *(figures.intents[one][name] for one in speakers), totals[name])
        for name in names
    ]
    chart = None
    if names:
        rows.append(
            ("without a label", None, *(figures.unlabelled[one] for one in speakers), figures.unlabelled.total())
        )
        shown = names[:BARS]
        series = {speaker: [figures.intents[speaker][name] for name in shown] for speaker in speakers}
        chart = Bars([figures.intent_title(name) for name in shown], series, "utterances")
    return Table(
        "intents",
        "Intents by speaker",
        "Utterances with at least one label of the intent; one with two intents counts under both.",
        ("Intent", IN_FILES, *(speaker.capitalize() for speaker in speakers), "All"),
        rows,
        chart,
        _most(rows[:-1], len(speakers) + 2, "utterances", "intent"),
    )


def _slots(figures: Statistics) -> Table:
    slots = figures.slots_by_frequency()
    rows = [(figures.slot_title(name), name, one.utterances, one.entries) for name, one in slots]
    return Table(
        "slots",
        "Slots",
        "Utterances with at least one label on the slot, however many, and the entries that these become in a dataset.",
        ("Slot", IN_FILES, "Utterances", "Entries"),
        rows,
        Bars([row[0] for row in rows], {"utterances": [row[2] for row in rows]}, "utterances") if rows else None,
        _most(rows, 2, "utterances", "slot"),
    )


def _segments(figures: Statistics) -> Table:
    slots = figures.slots_by_frequency()
    names = [figures.slot_title(name) for name, _ in slots]
    counts = [one.segments for _, one in slots]
    rows = [(name, *row) for name, row in zip(names, counts, strict=True)]
    columns = [str(number) for number in range(1, SEGMENTS + 1)]
    finding = ""
    if rows:
        place = counts[0].index(max(counts[0])) + 1
        finding = f"“{names[0]}”, the most frequent slot, is most often in tenth {place} of a dialogue"
    return Table(
        "segments",
        "Where in the dialogues",
        "Every dialogue is cut into ten equal parts: utterance i (from 0) of n stands in part ⌊10·i/n⌋ + 1. Counted "
        "are utterances with the slot, over all dialogues; the stronger the colour, the larger the part’s share of the "
        "slot.",
        ("Slot", *columns),
        [*rows, ("all utterances", *figures.segment_utterances)] if rows else [],
        HeatMap(names, columns, counts, "tenth of the dialogue") if rows else None,
        finding,
    )


def _attributes(figures: Statistics) -> Table:
    rows: list[tuple[str, str, int | None, float | None]] = []
    means: list[tuple[str, float]] = []
    for name, one in figures.slots_by_frequency():
        slot, mean = figures.slot_title(name), one.attributes_per_entry
        rows.append((slot, "all attributes", one.attributes.total(), mean))
        means.append((slot, mean or 0.0))
        for key, count in one.attributes.most_common():
            rows.append((slot, key.replace("_", " "), count, count / one.entries))
    means.sort(key=lambda item: (-item[1], item[0]))
    chart = Bars([name for name, _ in means], {"": [mean for _, mean in means]}, "attributes per entry")
    return Table(
        "attributes",
        "Attributes",
        "Entries by question that they answer or ask about, but for the slot’s value and its status; per entry: "
        "divided by the slot’s entries.",
        ("Slot", "Attribute", "Entries", "Per entry"),
        rows,
        chart if means else None,
        f"“{means[0][0]}” has the most attributes per entry, {means[0][1]:.2f}" if means else "",
    )


def _concepts(figures: Statistics) -> Table:
    concepts = figures.concepts_by_frequency()
    decided = {plain(one.spelling) for one in concepts if one.cui}
    rows = [
        (
            _concept_name(one, decided),
            one.cui,
            one.mentions,
            one.dialogues,
            ", ".join(map(figures.slot_title, one.slots)),
        )
        for one in concepts
    ]
    shown = rows[:BARS]
    return Table(
        "concepts",
        "Concepts",
        "Values of medical questions, by the entries that name them: those with a decided concept under its name, "
        "others without regard to case and white space in the commonest spelling. What is decided in one slot and not "
        f"in another stands there twice. The chart shows the first {BARS}.",
        ("Concept", "CUI", "Mentions", "Dialogues", "Slots"),
        rows,
        Bars([row[0] for row in shown], {"mentions": [row[2] for row in shown]}, "mentions") if rows else None,
        _most(rows, 2, "mentions", "concept"),
    )


def _concept_name(one: ConceptFigures, decided: Container[str]) -> str:
    """The spelling; what is undecided, and spelled as something decided, says so."""
    return f"{one.spelling} (not decided)" if not one.cui and plain(one.spelling) in decided else one.spelling


def _growth(found: ProjectStatistics) -> Table:
    grown = found.growth
    chart = None
    if grown:
        chart = Steps([one.day for one in grown], [one.total for one in grown], "labels")
    finding = (
        f"{grown[-1].total:,} labels by {grown[-1].day:%-d %B %Y}, the first on {grown[0].day:%-d %B %Y}"
        if grown
        else ""
    )
    return Table(
        "growth",
        "Labels over time",
        "By day in the portal’s time zone: labels made less labels taken away, in the readings that count. Days "
        "without a change are left out.",
        ("Day", "Change", "Labels"),
        [(one.day.isoformat(), one.change, one.total) for one in grown],
        chart,
        finding,
    )


def _most(rows: Sequence[Sequence[Any]], column: int, unit: str, kind: str) -> str:
    if not rows:
        return ""
    first = rows[0]
    return f"the most frequent {kind} of {len(rows):,} is “{first[0]}” with {first[column]:,} {unit}"


def _text(cell: Any) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:,.2f}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
