"""How far a project's medical values are linked to concepts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandParser

from annotation.management.commands._base import PortalCommand
from umls_linker.services.linking import label_sets_collect
from umls_linker.services.reports import Counts, Report, canonical_counts


class Command(PortalCommand):
    help = (
        "Counts the medical values of a project's labels: how many are decided to be a concept (one of the vocabulary, "
        "or one that was proposed), how many to be none (nil), and how many are open; all together and by slot. "
        "A value is a wording in one field of one slot, however often it occurs; case and white space are not told "
        "apart. Counted is what the labels say now, of annotators' work, gold and imports."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="name or slug of the project")

    def run(self, *, project: str, **options: Any) -> None:
        found = self.get_project(project)
        label_sets_collect(project=found)
        report = canonical_counts(found)
        self.finish(report.as_json(), lines=_lines(report))


def _lines(report: Report) -> Iterator[str]:
    yield _line("all", report.all)
    yield from (_line(slot, counts) for slot, counts in report.by_slot.items())


def _line(name: str, counts: Counts) -> str:
    return (
        f"{name}: {counts.values:,} values in {counts.occurrences:,} places; {counts.decided:,} decided, "
        f"{counts.nil:,} without a concept, {counts.open:,} open"
    )
