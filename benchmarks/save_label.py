"""What saving a label costs, over HTTP, beside a view that does nothing but insert one row.

Both are asked in turn on the same server, so that whatever else the machine does falls on both. Every figure is the
median of several rounds. Exit status 1 when a target about the ratio is missed; absolute figures are only aims, because
they depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import statistics
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks import material
from benchmarks.client import Client
from benchmarks.server import serving

SETTINGS = "benchmarks.settings"
ANNOTATORS = 8
BLOCK = 40
WARM_UP = 30
MOST_TIMES_BARE = 3.0
LEAST_OF_BARE_RATE = 0.5
AIM_P50_MS = 8.2
AIM_SAVES_PER_SECOND = 171.0


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds of one round."""

    save: tuple[float, ...]
    bare: tuple[float, ...]

    def at(self, percent: int) -> tuple[float, float]:
        """Save and bare at a percentile."""
        return percentile(self.save, percent), percentile(self.bare, percent)


@dataclass(slots=True)
class Annotator:
    """Saves the labels of one dialogue, one request each, and inserts bare rows through the same connection."""

    client: Client
    page: str = ""
    version: int = 0

    def open(self, page: str) -> None:
        self.page, self.version = page, 0

    def save(self, label: dict[str, Any]) -> float:
        change = {"id": str(uuid.uuid4()), "label": label}
        body = {"version": self.version, "key": str(uuid.uuid4()), "seconds": 5, "changes": [change]}
        _, milliseconds = self.client.post(self.page, body)
        self.version += 1
        return milliseconds

    def insert(self, label: dict[str, Any]) -> float:
        return self.client.post("/bare/", {"position": label["position"], "category": label["intent"]})[1]


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="portal-benchmark-") as folder:
        os.environ.update(PORTAL_DATA_DIR=folder, DJANGO_SETTINGS_MODULE=SETTINGS, PORTAL_DEBUG="0")
        import django

        django.setup()
        logging.getLogger("annotation").setLevel(logging.WARNING)
        # A dialogue for warming up, one for each round of one annotator, and one for each of all of them.
        workers = material.prepare(ANNOTATORS, 1 + 2 * options.rounds)
        labels = material.label_bodies()
        with serving(SETTINGS) as port:
            result = measure(port, workers, labels, options.rounds)
    if options.json:
        print(json.dumps(result))
    else:
        print(table(result))
    return 0 if result["met"] else 1


def measure(
    port: int, workers: Sequence[material.Worker], labels: Sequence[dict[str, Any]], rounds: int
) -> dict[str, Any]:
    annotators = [Annotator(Client(port, worker.username, material.PASSWORD)) for worker in workers]
    pages = [iter(worker.pages) for worker in workers]
    for annotator, own in zip(annotators, pages, strict=True):
        annotator.open(next(own))
        one_alone(annotator, labels[:WARM_UP])
    alone = []
    for _ in range(rounds):
        annotators[0].open(next(pages[0]))
        alone.append(one_alone(annotators[0], labels))
    together = []
    for _ in range(rounds):
        for annotator, own in zip(annotators, pages, strict=True):
            annotator.open(next(own))
        together.append(all_together(annotators, labels))
    for annotator in annotators:
        annotator.client.close()
    return summary(alone, together)


def one_alone(annotator: Annotator, labels: Sequence[dict[str, Any]]) -> Latency:
    """Save and bare insert in turn, for every label of a dialogue."""
    pairs = [(annotator.save(label), annotator.insert(label)) for label in labels]
    save, bare = zip(*pairs, strict=True)
    return Latency(save, bare)


def all_together(annotators: Sequence[Annotator], labels: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Saves and bare inserts a second while all work at once, in alternate blocks over the length of a dialogue."""
    seconds = {"save": 0.0, "insert": 0.0}
    for start in range(0, len(labels), BLOCK):
        block = labels[start : start + BLOCK]
        for what in seconds:
            seconds[what] += at_once([_sender(annotator, what, block) for annotator in annotators])
    count = len(annotators) * len(labels)
    return count / seconds["save"], count / seconds["insert"]


def _sender(annotator: Annotator, what: str, block: Sequence[dict[str, Any]]) -> Callable[[], None]:
    def send() -> None:
        for label in block:
            getattr(annotator, what)(label)

    return send


def at_once(tasks: Sequence[Callable[[], None]]) -> float:
    """Seconds until all tasks are done, each in a thread of its own; the first failure is raised."""
    gate = threading.Barrier(len(tasks) + 1)
    failures: list[BaseException] = []

    def run(task: Callable[[], None]) -> None:
        gate.wait()
        try:
            task()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    gate.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return time.perf_counter() - start


def summary(alone: Sequence[Latency], together: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """All figures; `met` says whether every target about a ratio is reached."""
    result: dict[str, Any] = {"rounds": len(alone), "labels": material.LABELS, "annotators": ANNOTATORS}
    for percent in (50, 95):
        pairs = [latency.at(percent) for latency in alone]
        result[f"save_p{percent}_ms"] = _median(save for save, _ in pairs)
        result[f"bare_p{percent}_ms"] = _median(bare for _, bare in pairs)
        result[f"ratio_p{percent}"] = _median(save / bare for save, bare in pairs)
    result["saves_per_second"] = _median(saves for saves, _ in together)
    result["bare_per_second"] = _median(bare for _, bare in together)
    result["ratio_rate"] = _median(saves / bare for saves, bare in together)
    result["met"] = (
        result["ratio_p50"] <= MOST_TIMES_BARE
        and result["ratio_p95"] <= MOST_TIMES_BARE
        and result["ratio_rate"] >= LEAST_OF_BARE_RATE
    )
    return result


def table(result: dict[str, Any]) -> str:
    rows = [
        ("", "save", "bare insert", "ratio", "target", "", "aim"),
        *(_latency_row(result, percent) for percent in (50, 95)),
        (
            f"{result['annotators']} at once, requests/s",
            f"{result['saves_per_second']:.0f}",
            f"{result['bare_per_second']:.0f}",
            f"{result['ratio_rate']:.2f}",
            f"≥ {LEAST_OF_BARE_RATE}",
            _verdict(result["ratio_rate"] >= LEAST_OF_BARE_RATE),
            f"≥ {AIM_SAVES_PER_SECOND:.0f}/s: {_verdict(result['saves_per_second'] >= AIM_SAVES_PER_SECOND)}",
        ),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    dialogue = f"A dialogue of {material.UTTERANCES} utterances growing to {result['labels']} labels"
    head = f"{dialogue}; medians of {result['rounds']} rounds."
    return "\n".join([head, "", *lines])


def _latency_row(result: dict[str, Any], percent: int) -> tuple[str, ...]:
    save, ratio = result[f"save_p{percent}_ms"], result[f"ratio_p{percent}"]
    aim = f"≤ {AIM_P50_MS} ms: {_verdict(save <= AIM_P50_MS)}" if percent == 50 else ""
    return (
        f"one alone, p{percent}",
        f"{save:.1f} ms",
        f"{result[f'bare_p{percent}_ms']:.1f} ms",
        f"{ratio:.2f}",
        f"≤ {MOST_TIMES_BARE:g}",
        _verdict(ratio <= MOST_TIMES_BARE),
        aim,
    )


def _verdict(met: bool) -> str:
    return "met" if met else "missed"


def percentile(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def _median(values: Iterable[float]) -> float:
    return round(statistics.median(values), 3)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.save_label", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="rounds of which medians are taken (default: 5)")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
