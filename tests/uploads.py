"""Files for tests of imports: read ones, transcripts on disk, uploads, and jobs with uploads of their own."""

from __future__ import annotations

import io
import uuid
import zipfile
from pathlib import Path

from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotation.domain.dialogues import ParsedDialogue, ParsedFile
from annotation.domain.labels import Utterance as UtteranceData
from annotation.domain.notices import Notice
from annotation.models import ImportJob, Project
from annotation.services.import_files import upload_folder
from annotation.services.import_jobs import import_job_create
from annotation.services.imports import SourceFile
from tests.conftest import People

GOOD = "D: How are you?\n\nP: Fine.\n\nD: Good.\n"


def source(name: str, *dialogues: ParsedDialogue, notices: tuple[Notice, ...] = ()) -> SourceFile:
    return SourceFile(ParsedFile(name, "transcript", "utf-8", dialogues, notices), sha256="ab" * 32, size=100)


def talk(external_id: str, *texts: str, speaker: str = "patient") -> ParsedDialogue:
    turns = [UtteranceData(0, "doctor", "How are you?")]
    turns += [UtteranceData(number, speaker, text) for number, text in enumerate(texts or ("Fine.",), 1)]
    return ParsedDialogue(external_id, tuple(turns), "respiratory", {"origin": "made up"})


def write(folder: Path, name: str, *texts: str) -> Path:
    path = folder / name
    path.write_text("\n\n".join(["D: How are you?", *(f"P: {text}" for text in texts or ("Fine.",))]), encoding="utf-8")
    return path


def job_for(project: Project, people: People, *paths: Path, **options: object) -> ImportJob:
    """A job whose uploads are copies of these files."""
    job_id = uuid.uuid4()
    folder = upload_folder(job_id)
    folder.mkdir(parents=True)
    files = []
    for number, path in enumerate(paths):
        (folder / f"f{number}").write_bytes(path.read_bytes())
        files.append({"name": path.name, "stored": f"f{number}", "bytes": path.stat().st_size})
    return import_job_create(project=project, actor=people.supervisor, files=files, job_id=job_id, **options)  # type: ignore[arg-type]


def file(name: str, content: str | bytes = GOOD) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content.encode() if isinstance(content, str) else content)


def zipped(**members: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.txt", content)
    return packed.getvalue()


def upload(client: Client, project: Project, *files: SimpleUploadedFile, **fields: str) -> HttpResponse:
    return client.post(reverse("imports", args=[project.slug]), {"files": files, **fields})  # type: ignore[return-value]


def left_over(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []
