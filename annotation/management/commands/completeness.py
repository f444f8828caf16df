"""The incomplete labels of a project in figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandParser

from annotation.management.commands._base import PortalCommand
from annotation.services.completeness import Completeness, completeness_of


class Command(PortalCommand):
    help = (
        "Counts the incomplete labels of a project by rule: an inform without its status, answers without their head, "
        "a factor or characteristic without its status, an utterance without a label; and the share of utterances that "
        "this concerns, before and after questions were returned to the annotators. The share leaves out utterances "
        "without a label in work that is under way (unlabelled_to_come)."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="name of the project")
        parser.add_argument("--annotator", default="", help="user name; only this person's labels")

    def run(self, *, project: str, annotator: str, **options: Any) -> None:
        found = completeness_of(self.get_project(project), annotator=self.get_user(annotator) if annotator else None)
        self.finish(found.as_json(), lines=_lines(found))


def _lines(found: Completeness) -> Iterator[str]:
    yield f"{found.labels:,} labels in {found.label_sets:,} label sets; {found.incomplete:,} of them incomplete"
    yield from (f"  {rule}: {number:,}" for rule, number in found.by_rule.items())
    if found.to_come:
        yield f"  unlabelled, but in work that is under way: {found.to_come:,}"
    if found.share_before is not None and found.share_now is not None:
        yield (
            f"{found.before:,} of {found.utterances:,} utterances were incomplete ({found.share_before:.2%}), "
            f"{found.now:,} still are ({found.share_now:.2%})"
        )
    yield f"questions returned: {found.returned:,} open, {found.answered:,} answered"
