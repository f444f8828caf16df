"""Dialogues from files, folders and zips into a project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.domain.notices import Severity
from annotation.management.commands._base import PortalCommand
from annotation.services.import_files import LocalFiles, speaker_pair
from annotation.services.imports import ImportPlan, dialogues_import, plan


class Command(PortalCommand):
    help = (
        "Import dialogues into a project. A path is a file, a zip, or a folder, whose files are taken in the order of "
        "their names, without sub-folders and hidden files. What is new is written, also when other dialogues have "
        "errors; the exit status is 1 then."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paths", nargs="+", metavar="PATH", help="a file, a folder or a zip")
        parser.add_argument("--project", required=True, help="the project's name or slug")
        parser.add_argument("--dry-run", action="store_true", help="say what would happen, and write nothing")
        parser.add_argument("--doctor", default="", metavar="MARK", help="another label of the doctor in transcripts")
        parser.add_argument("--patient", default="", metavar="MARK", help="another label of the patient in transcripts")

    def run(self, **options: Any) -> None:
        project = self.get_project(options["project"])
        speakers = speaker_pair(options["doctor"], options["patient"])
        files = LocalFiles([Path(path) for path in options["paths"]], speakers)
        planned = plan(project=project, files=files)
        if options["dry_run"]:
            result, outcome = _announced(planned)
        else:
            done = dialogues_import(project=project, files=files, actor=None, planned=planned)
            result, outcome = done.as_json(), f"{done.created:,} created, {done.same:,} were there already"
        lines = [f"{notice['severity'].capitalize()}: {notice['text']}" for notice in _notices(result, planned)]
        lines.append(f"{result['dialogues']:,} dialogues, {result['utterances']:,} utterances: {outcome}.")
        self.finish(result, lines=lines, error=_problems(len(result["errors"])))


def _announced(planned: ImportPlan) -> tuple[dict[str, Any], str]:
    """The result of a dry run: as that of an import, with `new` for what would be created."""
    counts = planned.counts()
    result = {
        "dialogues": counts["dialogues"],
        "utterances": counts["utterances"],
        "created": 0,
        "new": counts["new"],
        "same": counts["same"],
        "warnings": [notice.as_json() for notice in planned.notices_of(Severity.WARNING)],
        "errors": [notice.as_json() for notice in planned.notices_of(Severity.ERROR)],
    }
    return result, f"{counts['new']:,} would be created, {counts['same']:,} are there already; nothing was written"


def _notices(result: dict[str, Any], planned: ImportPlan) -> list[dict[str, Any]]:
    notes = [notice.as_json() for notice in planned.notices_of(Severity.NOTE)]
    return [*result["errors"], *result["warnings"], *notes]


def _problems(count: int) -> str:
    if not count:
        return ""
    return "One problem kept something out." if count == 1 else f"{count:,} problems kept something out."
