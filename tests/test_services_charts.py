"""Charts: the same bytes for the same numbers, text as text, and nothing that a file of this kind must not hold."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from xml.etree import ElementTree

import pytest

from annotation.services.charts import Bars, Chart, HeatMap, Steps, Theme, chart_svg

CHARTS: dict[str, Chart] = {
    "bars": Bars(["symptom", "habit"], {"doctor": [1200, 2], "patient": [4, 0]}, "utterances"),
    "one bar": Bars(["symptom"], {"": [1.25]}, "attributes per entry"),
    "heat map": HeatMap(["symptom", "habit"], ["1", "2"], [[3, 1], [0, 0]], "tenth of the dialogue"),
    "steps": Steps([date(2024, 5, 1), date(2024, 5, 4)], [3, -1], "labels"),
    "one day": Steps([date(2024, 5, 1)], [3], "labels"),
}


def texts(svg: bytes) -> list[str]:
    return [
        "".join(node.itertext()).strip()
        for node in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    ]


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("theme", Theme)
def test_the_same_chart_gives_the_same_bytes_without_a_date(name: str, theme: Theme) -> None:
    first = chart_svg(CHARTS[name], theme)
    assert chart_svg(CHARTS[name], theme) == first
    assert b"date" not in first.lower()
    assert b"<image" not in first
    assert texts(first)


def test_charts_drawn_at_once_do_not_mix() -> None:
    jobs = [(chart, theme) for chart in CHARTS.values() for theme in Theme] * 2
    alone = [chart_svg(*job) for job in jobs]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda job: chart_svg(*job), jobs)) == alone


def test_numbers_and_names_stand_in_it_as_text() -> None:
    assert {"symptom", "habit", "1,200", "doctor", "patient", "utterances"} <= set(texts(chart_svg(CHARTS["bars"])))
    assert {"3", "1", "0"} <= set(texts(chart_svg(CHARTS["heat map"])))


def test_names_from_labels_are_never_formulas_tags_or_signs_that_break_the_file() -> None:
    names = ["$\\frac{1}{$", "<script>alert(1)</script>", "a\x00b\x1b", "咳嗽 & سعال", "x" * 400, ""]
    svg = chart_svg(Bars(names, {"": [1, 2, 3, 4, 5, 6]}, "mentions"))
    found = texts(svg)
    assert {"$\\frac{1}{$", "<script>alert(1)</script>", "a b", "咳嗽 & سعال"} <= set(found)
    assert b"<script" not in svg
    assert max(map(len, found)) < 50


def test_every_theme_brings_its_own_background_and_text_that_can_be_read_on_it() -> None:
    light, dark = (chart_svg(CHARTS["bars"], theme).decode() for theme in Theme)
    assert light != dark
    for svg in (light, dark):
        background = re.search(r"<g id=\"patch_1\">.*?fill: (#\w{6})", svg, re.DOTALL)
        ink = re.search(r"<text[^>]*fill: (#\w{6})|<g style=\"fill: (#\w{6})\"[^>]*>\s*<text", svg)
        assert background
        assert ink
        assert _contrast(background[1], ink[1] or ink[2]) > 4.5


def _contrast(one: str, other: str) -> float:
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
