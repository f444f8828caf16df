"""Charts as plain numbers that a template draws as SVG: no script, no inline style, the same on paper.

Lengths are units of the drawing's own coordinates. Every chart stands above a table with the same figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils import timezone

WIDTH = 720
LABELS, NUMBERS = 210, 120  # columns left and right of an interval chart's axis
ROW, TOP, BOTTOM = 26, 12, 30


@dataclass(frozen=True, slots=True)
class Tick:
    at: float
    text: str
    zero: bool = False


@dataclass(frozen=True, slots=True)
class Point:
    """One row of an interval chart; `x` is None where the figure is undefined, `low` and `high` without an interval."""

    y: float
    label: str
    text: str
    x: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class IntervalChart:
    title: str
    summary: str
    width: int
    height: int
    left: int
    right: int
    bottom: int
    ticks: tuple[Tick, ...]
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure to be drawn: its name, value and both ends of its interval."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def text(self) -> str:
        return "undefined" if self.value is None else f"{self.value:.3f}"

    @property
    def words(self) -> str:
        ends = "" if self.low is None or self.high is None else f" ({self.low:.2f} to {self.high:.2f})"
        return f"{self.label} {self.text}{ends}"


def interval_chart(title: str, measures: Sequence[Measure]) -> IntervalChart:
    """A dot for every figure on one axis up to 1, with a line over its interval."""
    floor = _floor([end for one in measures for end in (one.value, one.low)])
    left, right = LABELS, WIDTH - NUMBERS
    height = TOP + ROW * len(measures) + BOTTOM

    def place(value: float | None) -> float | None:
        return None if value is None else round(left + (right - left) * (value - floor) / (1 - floor), 1)

    points = []
    for number, one in enumerate(measures):
        y = TOP + ROW * (number + 0.5)
        points.append(Point(y, one.label, one.text, place(one.value), place(one.low), place(one.high)))
    steps = round((1 - floor) / 0.2)
    values = [round(floor + 0.2 * step, 1) for step in range(steps + 1)]
    ticks = tuple(Tick(place(value) or 0.0, f"{value:.1f}", value == 0) for value in values)
    summary = "; ".join(one.words for one in measures)
    return IntervalChart(title, summary, WIDTH, height, left, right, height - BOTTOM, ticks, tuple(points))


def _floor(values: Sequence[float | None]) -> float:
    """Where the axis begins: 0, or further down in steps of 0.2 where a figure is negative."""
    lowest = min((value for value in values if value is not None), default=0.0)
    floor = 0.0
    while floor > lowest and floor > -1:
        floor = round(floor - 0.2, 1)
    return floor


@dataclass(frozen=True, slots=True)
class Bar:
    y: float
    label: str
    count: int
    width: float
    note: str


@dataclass(frozen=True, slots=True)
class BarChart:
    title: str
    summary: str
    width: int
    height: int
    left: int
    bars: tuple[Bar, ...]


def bar_chart(title: str, counts: Sequence[tuple[str, int, str]]) -> BarChart:
    """Horizontal bars: (label, count, a note beside the count)."""
    most = max((count for _, count, _ in counts), default=0) or 1
    room = WIDTH - LABELS - NUMBERS - 60
    bars = tuple(
        Bar(TOP + ROW * number, label, count, round(room * count / most, 1), note)
        for number, (label, count, note) in enumerate(counts)
    )
    summary = "; ".join(f"{label} {count}" for label, count, _ in counts)
    return BarChart(title, summary, WIDTH, TOP * 2 + ROW * len(counts), LABELS, bars)


_MOST_MARKS = 12  # along one line; more would hide its dashes
# A disc, a square and a triangle, as paths around a point.
_MARKS = (
    "M{x} {y}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "M{x} {y}m-4 -4h8v8h-8z",
    "M{x} {y}m0 -5l5 9h-10z",
)


@dataclass(frozen=True, slots=True)
class Line:
    """One series: pieces of a line (undefined points interrupt it), its marks as paths, and where its name stands.

    `last` is where its last mark is; `text` its value there.
    """

    name: str
    text: str
    style: str
    pieces: tuple[str, ...]
    marks: tuple[str, ...]
    last: tuple[float, float]
    label_y: float


@dataclass(frozen=True, slots=True)
class TrendChart:
    title: str
    summary: str
    width: int
    height: int
    left: int
    right: int
    bottom: int
    days: tuple[Tick, ...]
    levels: tuple[Tick, ...]
    lines: tuple[Line, ...]


def trend_chart(
    title: str, times: Sequence[datetime], series: Sequence[tuple[str, Sequence[float | None]]]
) -> TrendChart:
    """Lines over time, at most three series, each with a dash and a mark of its own so that colour is not needed."""
    left, right, top, bottom, height = 44, WIDTH - 230, 14, 226, 260
    floor = _floor([value for _, values in series for value in values])
    first, last = times[0], times[-1]
    span = (last - first).total_seconds() or 1.0

    def x(time: datetime) -> float:
        return round(left + (right - left) * (time - first).total_seconds() / span, 1)

    def y(value: float) -> float:
        return round(bottom - (bottom - top) * (value - floor) / (1 - floor), 1)

    lines = []
    for number, (name, values) in enumerate(series):
        found = [None if value is None else (x(time), y(value)) for time, value in zip(times, values, strict=True)]
        dots = [dot for dot in found if dot is not None]
        if dots:
            text = f"{[value for value in values if value is not None][-1]:.3f}".replace("-", "−")
            marked = dots[:: -math.ceil(len(dots) / _MOST_MARKS)]
            marks = tuple(_MARKS[number].format(x=at_x, y=at_y) for at_x, at_y in marked)
            lines.append(Line(name, text, f"series-{number + 1}", _pieces(found), marks, dots[-1], dots[-1][1]))
    levels = [round(floor + 0.2 * step, 1) for step in range(round((1 - floor) / 0.2) + 1)]
    summary = "; ".join(_from_to(name, values) for name, values in series)
    return TrendChart(
        title,
        summary,
        WIDTH,
        height,
        left,
        right,
        bottom,
        _ends(x(first), first, x(last), last),
        tuple(Tick(y(level), f"{level:.1f}", level == 0) for level in levels),
        _apart(lines),
    )


def _pieces(found: Sequence[tuple[float, float] | None]) -> tuple[str, ...]:
    pieces: list[list[str]] = [[]]
    for dot in found:
        if dot is None:
            pieces.append([])
        else:
            pieces[-1].append(f"{dot[0]},{dot[1]}")
    return tuple(" ".join(piece) for piece in pieces if len(piece) > 1)


def _apart(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines with their names moved so far apart that they can be read."""
    result: list[Line] = []
    lowest = 0.0
    for line in sorted(lines, key=lambda line: line.label_y):
        lowest = max(line.label_y, lowest + 18)
        result.append(replace(line, label_y=lowest))
    return tuple(result)


def _from_to(name: str, values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{name} from {known[0]:.3f} to {known[-1]:.3f}" if known else f"{name} undefined"


def _ends(at_first: float, first: datetime, at_last: float, last: datetime) -> tuple[Tick, ...]:
    """When the line begins and ends; with the hour where both are on one day."""
    one, other = timezone.localtime(first), timezone.localtime(last)
    form = "%-d %b %Y, %H:%M" if one.date() == other.date() else "%-d %b %Y"
    return Tick(at_first, one.strftime(form)), Tick(at_last, other.strftime(form))
