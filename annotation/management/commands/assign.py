"""Divide a project's dialogues among its annotators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.domain.assignment import AssignmentPlan
from annotation.domain.numbers import counted
from annotation.management.commands._base import PortalCommand
from annotation.models import Project, User
from annotation.services.group_assignment import (
    annotators_and_others,
    annotators_at_work,
    assignment_plan,
    assignment_write,
    seeds_from_text,
)
from annotation.services.work_gate import NotQualified


class Command(PortalCommand):
    help = (
        "Divides the dialogues of a project into groups of about the same number of utterances, one for each "
        "annotator. Seeds are dialogues that two annotators label, each on their own. The same random seed makes the "
        "same plan; what is assigned already stays as it is."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="name or slug of the project")
        parser.add_argument("--groups", required=True, type=int, help="number of groups, usually that of annotators")
        parser.add_argument("--seeds", required=True, help="number of seed dialogues, or a share of them like 10%%")
        parser.add_argument("--random-seed", required=True, type=int, help="where all chance comes from")
        parser.add_argument(
            "--annotators", default="", help="user names, with commas; everybody who may work if left out"
        )
        parser.add_argument("--dry-run", action="store_true", help="show the plan and write nothing")

    def run(
        self,
        *,
        project: str,
        groups: int,
        seeds: str,
        random_seed: int,
        annotators: str,
        dry_run: bool,
        **options: Any,
    ) -> None:
        found = self.get_project(project)
        asked: dict[str, Any] = {
            "project": found,
            "annotators": self._people(found, annotators),
            "groups": groups,
            "seeds": seeds_from_text(seeds),
            "random_seed": random_seed,
        }
        if dry_run:
            plan, created = assignment_plan(**asked), 0
        else:
            written = assignment_write(**asked, actor=None)
            plan, created = written.plan, written.created
        result = {"dry_run": dry_run, "created": created, "seeds": list(plan.seeds), **plan.as_json()}
        self.finish(result, lines=_lines(plan, created, dry_run))

    def _people(self, project: Project, names: str) -> list[User]:
        if not names.strip():
            return annotators_at_work(project)
        able, waiting = annotators_and_others(project)
        wanted = [self.get_user(name.strip()) for name in names.split(",") if name.strip()]
        barred = [person for person in wanted if person not in able]
        if barred and barred[0] in waiting:
            raise NotQualified(project, barred[0])
        if barred:
            raise CommandError(
                f"{barred[0].username} cannot be given dialogues in {project}: no annotator, or archived."
            )
        return wanted


def _lines(plan: AssignmentPlan, created: int, dry_run: bool) -> Iterator[str]:
    """The preview as a table; where nothing is left to assign, that first."""
    if not any(item.annotator and not item.kept for item in plan.assignments):
        yield "Everything is assigned already; what the annotators have:"
    yield f"{'annotator':20} {'dialogues':>9} {'utterances':>10} {'seeds':>5}  shared with"
    for row in plan.numbers():
        partners = ", ".join(f"{name} {count}" for name, count in row.partners.items())
        figures = f"{row.dialogues:>9} {row.utterances:>10,} {row.seeds:>5}"
        yield f"{row.annotator or '(waits)':20} {figures}  {partners}".rstrip()
    yield from plan.notices
    yield "Nothing was written." if dry_run else f"{counted(created, 'assignment')} made."
