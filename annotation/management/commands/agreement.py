"""Agreement between the annotators of a project."""

from __future__ import annotations

from argparse import ArgumentTypeError
from datetime import date
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.domain.agreement_words import headline_lines
from annotation.management.commands._base import PortalCommand
from annotation.models import Project
from annotation.services.agreement import agreement_json, agreement_report, figures_of, usernames
from annotation.services.agreement_scope import Scope


class Command(PortalCommand):
    help = (
        "Measures the agreement of a project's annotators over the utterances that both of a pair have submitted. "
        "Without options over all doubly labelled dialogues. Nothing is stored."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="name or slug of the project")
        parser.add_argument("--pair", default="", help="two user names, A,B: only what these two labelled")
        parser.add_argument("--seeds", action="store_true", help="only seed dialogues")
        parser.add_argument("--since", type=_day, help="only what was labelled on this day (YYYY-MM-DD) or later")
        parser.add_argument("--until", type=_day, help="only what was labelled on this day (YYYY-MM-DD) or earlier")
        parser.add_argument("--specialty", default="", help="only dialogues of this specialty")
        parser.add_argument("--methods", action="store_true", help="also print the paragraph for a paper")

    def run(
        self,
        *,
        project: str,
        pair: str,
        seeds: bool,
        since: date | None,
        until: date | None,
        specialty: str,
        methods: bool,
        **options: Any,
    ) -> None:
        found = self.get_project(project)
        self._check_specialty(found, specialty)
        scope = Scope(seeds, since, until, self._pair(pair) if pair else None, specialty)
        report, pairs = agreement_report(project=found, scope=scope)
        names = usernames([pk for one in pairs for pk in one.people] + list(scope.pair or ()))
        figures = agreement_json(figures=figures_of(report), names=names)
        result = {"project": found.name, "scope": scope.sentence(names), **figures}
        lines = [f"{found.name}: {scope.sentence(names)}.", "", *headline_lines(report)]
        lines += ["", result["methods"]] if methods else []
        self.finish(
            result,
            lines=lines,
            error="" if pairs else f"No dialogue of {found.name} in this choice is labelled by two.",
        )

    def _check_specialty(self, project: Project, specialty: str) -> None:
        known = project.dialogues.exclude(specialty="").order_by("specialty").values_list("specialty", flat=True)
        if specialty and specialty not in set(known):
            there = ", ".join(known.distinct()) or "none"
            raise CommandError(f"{project.name} has no dialogue of the specialty “{specialty}”; there is: {there}.")

    def _pair(self, text: str) -> tuple[int, int]:
        names = [name.strip() for name in text.split(",")]
        if len(names) != 2 or names[0] == names[1]:
            raise CommandError("--pair takes two different user names with a comma between them: --pair alice,bob")
        one, other = sorted(self.get_user(name).pk for name in names)
        return one, other


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"“{text}” is no day; write it like 2024-05-31") from None
