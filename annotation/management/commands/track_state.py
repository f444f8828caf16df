"""Recompute the patient states of a dataset and compare them with those it states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.domain.dataset import DatasetError, track_dataset
from annotation.domain.json_text import parse_json
from annotation.domain.text_decoding import UnreadableFile, decode
from annotation.management.commands._base import PortalCommand


class Command(PortalCommand):
    help = (
        "Recomputes every patient turn's dialog_state from the nlu so far (MediTOD's dialogs.json) and says where the "
        "file differs, which gives the exit status 1. Uses no database."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="a dataset file")

    def run(self, *, file: str, **options: Any) -> None:
        name = Path(file).name
        try:
            text, _ = decode(Path(file).read_bytes(), name)
            report = track_dataset(parse_json(text, name))
        except UnreadableFile as error:
            raise CommandError(str(error.notice)) from error
        except DatasetError as error:
            raise CommandError(f"{name}: {error}") from error
        wrong = len(report.differences)
        self.finish(
            report.as_json(), error=f"{name} differs from the rule in {wrong} place{'s'[: wrong > 1]}." if wrong else ""
        )
