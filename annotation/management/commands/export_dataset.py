"""Write one annotator's labels in the form of MediTOD's dialogs.json."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.management.commands._base import PortalCommand
from annotation.services.exports import DatasetDialogue, dataset_dialogues, dataset_text


class Command(PortalCommand):
    help = "Writes all labelled dialogues of an annotator, or the gold, as a dataset (MediTOD's dialogs.json)."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="name or slug of the project")
        whose = parser.add_mutually_exclusive_group(required=True)
        whose.add_argument("--annotator", default="", help="user name of the person whose labels they are")
        whose.add_argument("--gold", action="store_true", help="the gold instead of somebody's labels")
        parser.add_argument("--out", required=True, help="the file to write; replaced when it exists")
        parser.add_argument("--done-only", action="store_true", help="leave out dialogues that are not done")
        parser.add_argument(
            "--surface-forms", action="store_true", help="values as written, not the names of the decided concepts"
        )

    def run(
        self,
        *,
        project: str,
        annotator: str,
        gold: bool,
        out: str,
        done_only: bool,
        surface_forms: bool,
        **options: Any,
    ) -> None:
        path = Path(out)
        if path.is_dir():
            raise CommandError(f"{out} is a folder; name the file to write.")
        found = self.get_project(project)
        person = None if gold else self.get_user(annotator)
        counts = {"dialogues": 0, "utterances": 0, "labels": 0}

        def counted() -> Iterable[DatasetDialogue]:
            chosen = dataset_dialogues(
                project=found, annotator=person, done_only=done_only, surface_forms=surface_forms
            )
            for item in chosen:
                counts["dialogues"] += 1
                counts["utterances"] += item.utterances
                counts["labels"] += item.labels
                yield item

        write_atomically(path, dataset_text(counted()))
        self.finish({**counts, "out": out})


def write_atomically(path: Path, pieces: Iterable[str]) -> None:
    """Write the whole text or nothing: whoever reads `path` sees the old file or the complete new one."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("x", encoding="utf-8", newline="\n") as stream:
            stream.writelines(pieces)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
