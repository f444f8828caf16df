"""Charts as SVG by matplotlib. The same chart gives the same bytes: no date, no random ids, no state between two.

Text stays text, in a colour that can be read on the page's own background, which the chart brings along, so that it can
be opened or printed alone.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from django.conf import settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST_NAME = 38
WIDTH, ROW, MARGIN = 8.4, 0.27, 0.85  # inches: of a chart, of a bar or row in it, around all of them
HEAT_STEPS = 256
MOST_DAYS_NAMED = 7  # each by its own date
_drawing = Lock()  # matplotlib's settings are one for all threads


class Theme(StrEnum):
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True, slots=True)
class _Colours:
    """The page's own colours; `series` are told apart without colour too, by their lightness."""

    surface: str
    text: str
    muted: str
    line: str
    series: tuple[str, ...]
    heat: tuple[str, str]


_COLOURS = {
    Theme.LIGHT: _Colours(
        "#ffffff", "#18212c", "#505c6a", "#d4dbe2", ("#0b5c7d", "#e0a13c", "#7d8896"), ("#ffffff", "#0b5c7d")
    ),
    Theme.DARK: _Colours(
        "#1a2129", "#e5eaf0", "#a6b1bd", "#333e4a", ("#7cc6e4", "#b97a1c", "#77838f"), ("#1a2129", "#7cc6e4")
    ),
}


@dataclass(frozen=True, slots=True)
class Bars:
    """Horizontal bars, the first name on top; several series stand beside each other under their names."""

    names: Sequence[str]
    series: Mapping[str, Sequence[float]]
    unit: str

    def draw(self, axes: Axes, colours: _Colours) -> None:
        thick = 0.8 / len(self.series)
        for place, (title, values) in enumerate(self.series.items()):
            heights = [row + (place - (len(self.series) - 1) / 2) * thick for row in range(len(self.names))]
            colour = colours.series[place % len(colours.series)]
            bars = axes.barh(heights, values, thick * 0.92, color=colour, label=_short(title))
            axes.bar_label(bars, [_number(one) for one in values], padding=3, color=colours.text, fontsize=8.5)
        axes.set_yticks(range(len(self.names)), [_short(one) for one in self.names])
        axes.set_ylim(len(self.names) - 0.45, -0.55)
        axes.margins(x=0.12)
        axes.set_xlabel(self.unit)
        axes.grid(axis="x", color=colours.line, linewidth=0.8)
        if len(self.series) > 1:
            axes.legend(frameon=False, labelcolor=colours.text, loc="lower right")

    @property
    def height(self) -> float:
        return ROW * len(self.names) * max(1.0, 0.75 * len(self.series)) + MARGIN


@dataclass(frozen=True, slots=True)
class HeatMap:
    """`counts` by row and column; a cell is the darker, the larger its share of its row is."""

    rows: Sequence[str]
    columns: Sequence[str]
    counts: Sequence[Sequence[int]]
    unit: str

    def draw(self, axes: Axes, colours: _Colours) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        shares = [[count / (sum(row) or 1) for count in row] for row in self.counts]
        most = max((share for row in shares for share in row), default=0) or 1
        colour_map = LinearSegmentedColormap.from_list("heat", colours.heat, N=HEAT_STEPS)
        axes.pcolormesh(shares, cmap=colour_map, vmin=0, vmax=most, edgecolors=colours.surface, linewidth=1.5)
        for y, row in enumerate(self.counts):
            for x, count in enumerate(row):
                ink = colours.surface if shares[y][x] > most / 2 else colours.text if count else colours.muted
                axes.text(x + 0.5, y + 0.5, f"{count:,}", ha="center", va="center", color=ink, fontsize=8.5)
        axes.set_yticks([y + 0.5 for y in range(len(self.rows))], [_short(one) for one in self.rows])
        axes.set_xticks([x + 0.5 for x in range(len(self.columns))], list(self.columns))
        axes.invert_yaxis()
        axes.set_xlabel(self.unit)
        axes.spines[:].set_visible(False)

    @property
    def height(self) -> float:
        return ROW * len(self.rows) + MARGIN


@dataclass(frozen=True, slots=True)
class Steps:
    """A count day by day, from 0 before the first; it stays what it is until the next day that is named."""

    days: Sequence[date]
    values: Sequence[int]
    unit: str

    def draw(self, axes: Axes, colours: _Colours) -> None:
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num

        places = [float(date2num(day)) for day in self.days]  # type: ignore[no-untyped-call]
        ends = places[0] - 0.5, places[-1] + 0.5
        line = [ends[0], *places, ends[1]], [0, *self.values, self.values[-1]]
        axes.step(*line, where="post", color=colours.series[0], linewidth=2)
        axes.plot(places, self.values, "o", color=colours.series[0], markersize=4)
        if places[-1] - places[0] < MOST_DAYS_NAMED:
            axes.set_xticks(places, [f"{day.day} {day:%b %Y}" for day in self.days])
        else:
            locator = AutoDateLocator(minticks=2, maxticks=8)  # type: ignore[no-untyped-call]
            locator.intervald[3] = [1, 2, 3, 7, 14, 21]  # days are not divided into hours
            axes.xaxis.set_major_locator(locator)
            axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
        axes.set_xlim(*ends)
        axes.set_ylim(min(0, *self.values), max(1, *self.values) * 1.08)
        axes.set_ylabel(self.unit)
        axes.grid(axis="y", color=colours.line, linewidth=0.8)

    @property
    def height(self) -> float:
        return 3.2


Chart = Bars | HeatMap | Steps


def chart_svg(chart: Chart, theme: Theme = Theme.LIGHT) -> bytes:
    """The chart as a file of its own. It must have something to show: at least one bar, row or day."""
    colours = _COLOURS[theme]
    os.environ.setdefault("MPLCONFIGDIR", str(Path(settings.DATA_DIR) / "matplotlib"))
    import matplotlib as mpl  # slow to import

    with _drawing, mpl.rc_context(_settings(colours)), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # text stays text: the reader's fonts have it
        from matplotlib.figure import Figure

        figure = Figure(figsize=(WIDTH, chart.height), layout="constrained")
        axes = figure.add_subplot()
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        chart.draw(axes, colours)
        return _written(figure)


def _written(figure: Figure) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


def _settings(colours: _Colours) -> dict[Any, Any]:
    """Of matplotlib. Dollar signs are text, not formulas: names come from labels."""
    inks = ("text.color", "axes.labelcolor", "ytick.labelcolor")
    return {
        "svg.fonttype": "none",
        "svg.hashsalt": "anamnesis",
        "text.parse_math": False,
        "font.family": ["DejaVu Sans"],
        "font.size": 9.5,
        "figure.facecolor": colours.surface,
        "axes.facecolor": colours.surface,
        "axes.edgecolor": colours.line,
        "xtick.color": colours.muted,
        "ytick.color": colours.line,
        "xtick.major.size": 0,
        "ytick.major.size": 0,
        **dict.fromkeys(inks, colours.text),
    }


def _short(name: str) -> str:
    """A name that fits beside the chart, without signs that an SVG file cannot hold."""
    text = " ".join("".join(sign if sign.isprintable() else " " for sign in name).split())
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
