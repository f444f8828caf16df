"""The demonstration project with its people, dialogues and labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from annotation.management.commands._base import PortalCommand
from annotation.services.demo import demo_load


class Command(PortalCommand):
    help = (
        "Make the project Demo with an annotator, a trainee, a supervisor, a doctor and a curator, seven invented "
        "dialogues and two labelled readings, a training and a test with their gold. Passwords are generated and shown "
        "once. Run again, it changes nothing."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--password", default="", metavar="PW", help="one password for all new accounts")

    def run(self, **options: Any) -> None:
        demo = demo_load(password=options["password"])
        counts = demo.counts()
        result = {"project": demo.project.name, **counts, "accounts": dict(demo.accounts), "created": demo.created}
        head = "made" if demo.created else "there already, so nothing was changed"
        lines = [
            f"The project {demo.project.name} is {head}: {counts['dialogues']} dialogues, "
            f"{counts['utterances']:,} utterances, {counts['labels']:,} labels.",
            *_account_lines(demo.accounts),
            *demo.hints(),
        ]
        self.finish(result, lines=lines)


def _account_lines(accounts: Mapping[str, str | None]) -> list[str]:
    width = max((len(name) for name in accounts), default=0)
    return [f"  {name.ljust(width)}  {password or '(keeps its password)'}" for name, password in accounts.items()]
