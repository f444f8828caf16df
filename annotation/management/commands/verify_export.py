"""Recompute an export from its files and say what differs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.domain.export_verification import stated_questionnaire, verify_export
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.strict_json import printable
from annotation.management.commands._base import PortalCommand
from annotation.questionnaires import UnknownQuestionnaire, get_questionnaire


class Command(PortalCommand):
    help = (
        "Recomputes an export: the bytes of every file, the splits, every patient state, the counts, and the files "
        "that follow from dialogs.json. Whatever differs is named, and gives the exit status 1. It "
        "says what could not be recomputed. Uses no database."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", help="the folder of the export, with manifest.json")

    def run(self, *, folder: str, **options: Any) -> None:
        place, name = Path(folder), printable(folder)
        if not place.is_dir():
            raise CommandError(f"{name} is no folder; unpack the export first.")
        found = verify_export(place, questionnaire=_questionnaire(place))
        differing = len(found.findings)
        self.finish(
            found.as_json(),
            lines=[
                f"{found.files:,} files, {found.dialogues:,} dialogues and {found.states:,} patient states recomputed.",
                *found.notes,
                *map(str, found.findings),
                *([] if differing else ["Everything that could be recomputed is as it was exported."]),
            ],
            error=f"{name} differs in {differing} place{'s'[: differing != 1]}." if differing else "",
        )


def _questionnaire(place: Path) -> Questionnaire | None:
    """The one that the export's labels answer, where this portal has it."""
    name, version = stated_questionnaire(place)
    try:
        return get_questionnaire(name, version) if name else None
    except UnknownQuestionnaire:
        return None
