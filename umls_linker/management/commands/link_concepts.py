"""Collect a project's medical values and find candidates for them, without waiting for a worker."""

from __future__ import annotations

import sys
import time
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.management.commands._base import PortalCommand
from annotation.models import Project
from umls_linker.models import Candidate, SurfaceForm
from umls_linker.services.linking import forms_link, label_sets_collect
from umls_linker.services.mentions import mentions_find
from umls_linker.services.project_vocabulary import vocabulary_of


class Command(PortalCommand):
    help = (
        "Collects the medical values of all labels of a project, finds candidates for those that have none from the "
        "present vocabulary, and looks for the vocabulary's concepts in the dialogues. What is up to date is passed "
        "over, and so is what a worker does at the same time; stopped half-way, it goes on from there."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="name or slug of the project")

    def run(self, *, project: str, **options: Any) -> None:
        begun, found = time.monotonic(), self.get_project(project)
        label_sets_collect(project=found)
        done = forms_link(project=found, progress=self._show)
        if done.without_vocabulary:
            raise CommandError(_no_vocabulary(found))
        mentions_find(project=found, seconds=float("inf"))
        values = SurfaceForm.objects.filter(project=found, labels__gt=0)
        with_candidates = Candidate.objects.filter(surface_form__in=values).values("surface_form").distinct()
        vocabulary = vocabulary_of(found)
        result = {
            "project": found.name,
            "vocabulary": str(vocabulary),
            "values": values.count(),
            "linked": done.linked,
            "with_candidates": with_candidates.count(),
            "left": done.left,
            "seconds": round(time.monotonic() - begun, 1),
        }
        self.finish(result, lines=_lines(result))

    def _show(self, done: int, left: int) -> None:
        """Progress for people who watch: one line that is written over."""
        if not self.as_json and sys.stderr.isatty():
            self.stderr.write(f"\r{done:,} linked, {left:,} to go ", ending="\n" if not left else "")


def _lines(result: dict[str, Any]) -> list[str]:
    values, found, linked = result["values"], result["with_candidates"], result["linked"]
    looked_up = f"{linked:,} looked up now" if linked else "none had to be looked up now"
    lines = [
        f"{result['project']}: {values:,} values, {looked_up} in {result['vocabulary']}, in {result['seconds']:,} s.",
        f"{found:,} have candidates; for {values - found:,} nothing was found.",
    ]
    if result["left"]:
        lines.append(f"{result['left']:,} still wait to be looked up; call this again.")
    return lines


def _no_vocabulary(project: Project) -> str:
    vocabulary = vocabulary_of(project)
    if vocabulary is None:
        return "There is no vocabulary yet; build one with “manage.py build_vocabulary”."
    return f"The vocabulary {vocabulary} is not on this machine any more; build it with “manage.py build_vocabulary”."
