"""The incomplete labels of a project in figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandParser

from annotation.domain.completeness import RULES
from annotation.domain.numbers import counted, per_cent
from annotation.management.commands._base import PortalCommand
from annotation.services.completeness import Completeness, completeness_of


class Command(PortalCommand):
    help = (
        "Counts the incomplete labels of a project by rule: an inform without its status, answers without their head, "
        "a factor or characteristic without its status, an utterance without a label; and the share of utterances that "
        "this concerns, before and after questions were returned to the annotators. The four counts add up to the "
        "questions that the page lists and the utterances still to be labelled in work under way (unlabelled_to_come), "
        "which are in no share; a label that breaks two rules counts under both and once as incomplete."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="name of the project")
        parser.add_argument("--annotator", default="", help="user name; only this person's labels")

    def run(self, *, project: str, annotator: str, **options: Any) -> None:
        found = completeness_of(self.get_project(project), annotator=self.get_user(annotator) if annotator else None)
        self.finish(found.as_json(), lines=_lines(found))


def _lines(found: Completeness) -> Iterator[str]:
    yield (
        f"{counted(found.labels, 'label')} in {counted(found.label_sets, 'label set')}; "
        f"{found.incomplete:,} of them incomplete"
    )
    yield from (f"  {rule:10} {found.by_rule[rule]:>6,}  {words}" for rule, words in RULES.items())
    yield (
        f"together {counted(len(found.found), 'question')}, and {counted(found.to_come, 'utterance')} still to come "
        "in work under way"
    )
    if found.share_before is not None and found.share_now is not None:
        yield (
            f"{found.before:,} of {counted(found.utterances, 'utterance')} had something incomplete "
            f"({per_cent(found.share_before, 2)}), {found.now:,} still {'has' if found.now == 1 else 'have'} "
            f"({per_cent(found.share_now, 2)}); an utterance counts once for each annotator who labelled it"
        )
    yield f"questions returned: {found.returned:,} open, {found.answered:,} answered"
