"""Take what annotators agree on into the gold."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.management.commands._base import PortalCommand
from annotation.services.adjudication import agreed_accept


class Command(PortalCommand):
    help = (
        "Takes the labels that two annotators agree on into the gold, in every dialogue that both have finished. "
        "Doing it again changes nothing; what is decided stays. The result says how many conflicts are left."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="name or slug of the project")
        parser.add_argument("--accept-agreed", action="store_true", help="accept what both annotators agree on")

    def run(self, *, project: str, accept_agreed: bool, **options: Any) -> None:
        if not accept_agreed:
            raise CommandError("Say what to do: --accept-agreed takes what both annotators agree on into the gold.")
        self.finish(agreed_accept(project=self.get_project(project)))
