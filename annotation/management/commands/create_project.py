"""A project, for instance before a first import from the shell."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.management.commands._base import PortalCommand
from annotation.services.projects import project_create


class Command(PortalCommand):
    help = "Create a project that is labelled by a questionnaire."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--questionnaire", default="cmas", help="the questionnaire's name (default: cmas)")
        parser.add_argument("--supervisor", default="", metavar="USER", help="a user who becomes its supervisor")

    def run(self, **options: Any) -> None:
        supervisor = self.get_user(options["supervisor"]) if options["supervisor"] else None
        project = project_create(name=options["name"], questionnaire=options["questionnaire"], creator=supervisor)
        self.finish(
            {
                "project": project.name,
                "slug": project.slug,
                "questionnaire": project.questionnaire_name,
                "version": project.questionnaire_version,
            }
        )
