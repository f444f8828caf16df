"""Read an export, or a released dataset, back into the portal as gold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.domain.numbers import counted
from annotation.domain.released_labels import NO_STATES
from annotation.management.commands._base import PortalCommand
from annotation.services.export_restoring import export_restore, summary


class Command(PortalCommand):
    help = (
        "Reads an export of this portal, or a dataset in MediTOD's released form (dialogs.json with or without the "
        "lists of ids), into a project without dialogues: as finished gold, each dialogue with its specialty and its "
        "split, and with the decisions about concepts that the export states. An export is verified first, as by "
        "verify_export. Everything is written or nothing; what the portal's labels cannot say is named by dialogue and "
        "turn, left out, and gives the exit status 1."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", help="the folder of the export, unpacked")
        parser.add_argument("--project", required=True, help="name or slug of the project; with --new its name")
        parser.add_argument("--new", action="store_true", help="create the project, with the export's questionnaire")
        parser.add_argument("--by", required=True, metavar="USER", help="who imports: a supervisor of the project")

    def run(self, *, folder: str, project: str, new: bool, by: str, **options: Any) -> None:
        person = self.get_user(by)
        target = None if new else self.get_project(project)
        done = export_restore(folder=Path(folder), actor=person, project=target, new=project if new else "")
        stateless = [one for one in done.not_read if one.message == NO_STATES]
        if stateless:  # nothing of the labels: one line for all of the file
            done.not_read = [one for one in done.not_read if one.message != NO_STATES]
            have = "has" if len(stateless) == 1 else "have"
            note = f"{counted(len(stateless), 'dialogue')} {have} turns without “dialog_state”; an export states what "
            done.notes.append(f"{note}follows from the labels.")
        lost = len(done.not_read)
        self.finish(
            done.as_json(),
            lines=[summary(done), *done.notes, *(f"Not read: {one}" for one in done.not_read)],
            error=f"{counted(lost, 'thing')} did not come back." if lost else "",
        )
