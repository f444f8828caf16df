"""The files of an import: where uploads lie until they are decided upon, and how files are read one by one."""

from __future__ import annotations

import hashlib
import logging
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings

from annotation.domain.archives import Limits, open_files
from annotation.domain.dialogue_files import read_dialogue_file
from annotation.domain.dialogues import ParsedFile
from annotation.domain.notices import Notice, Severity
from annotation.domain.speaker_marks import DEFAULT_SPEAKERS, SpeakerMarks
from annotation.models import ImportJob
from annotation.services.errors import Refused
from annotation.services.imports import SourceFile
from annotation.uploads import StoredUpload

logger = logging.getLogger(__name__)

ABANDONED_SECONDS = 24 * 3600
_INLINE_BYTES = 5 * 2**20  # larger uploads are read by a worker
_PACKED = 5  # times its size that the text in a zip is expected to have


@dataclass(frozen=True, slots=True)
class UploadedFiles:
    """The uploads of a job, read anew each time they are gone through; FileNotFoundError when they were deleted."""

    folder: Path
    entries: Sequence[Mapping[str, Any]]
    speakers: SpeakerMarks = DEFAULT_SPEAKERS

    def __iter__(self) -> Iterator[SourceFile]:
        for entry in self.entries:
            with (self.folder / entry["stored"]).open("rb") as stream:
                yield from read_stream(entry["name"], stream, self.speakers)


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """Files of the machine, named by a path each: a file, a zip, or a folder, of which the files in it are taken.

    A folder's files are taken in the order of their names, without its sub-folders and hidden files.
    """

    paths: Sequence[Path]
    speakers: SpeakerMarks = field(default=DEFAULT_SPEAKERS)

    def __iter__(self) -> Iterator[SourceFile]:
        for path in self.paths:
            if path.is_dir():
                yield from self._folder(path)
            else:
                yield from self._file(path)

    def _folder(self, folder: Path) -> Iterator[SourceFile]:
        files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
        if not files:
            yield _refused(str(folder), "There are no files in this folder; name one that holds dialogues.")
        for path in files:
            yield from self._file(path)

    def _file(self, path: Path) -> Iterator[SourceFile]:
        try:
            with path.open("rb") as stream:
                yield from read_stream(str(path), stream, self.speakers)
        except OSError as error:
            reason = error.strerror or "it cannot be opened"
            yield _refused(str(path), f"The file cannot be read ({reason}); check its name and its permissions.")


def read_stream(name: str, stream: BinaryIO, speakers: SpeakerMarks) -> Iterator[SourceFile]:
    """The files in a stream: those of a zip, or the one file that it is. Nothing over the limits is read."""
    limit = settings.PORTAL_MAX_FILE_BYTES
    for item in open_files(name, stream, Limits(member_bytes=limit)):
        if isinstance(item, Notice):
            yield SourceFile(ParsedFile(name, "", "", notices=(item,)))
        else:
            shown = item.name if item.name == name else f"{name}/{item.name}"  # the second is inside a zip
            parsed = read_dialogue_file(item.data, shown, speakers=speakers, max_bytes=limit)
            yield SourceFile(parsed, hashlib.sha256(item.data).hexdigest(), len(item.data))


def speaker_pair(doctor: str = "", patient: str = "") -> SpeakerMarks:
    """The labels of the two speakers in transcripts; Refused where only one is given or one cannot be a label."""
    doctor, patient = doctor.strip().rstrip(":").strip(), patient.strip().rstrip(":").strip()
    if not doctor and not patient:
        return DEFAULT_SPEAKERS
    if not (doctor and patient):
        missing = "patient" if doctor else "doctor"
        raise Refused(f"Name the label of the {missing} as well, or leave both empty.", field=missing)
    try:
        return SpeakerMarks(doctor, patient)
    except ValueError as error:
        raise Refused(str(error), field="doctor") from None


def upload_folder(job_id: uuid.UUID) -> Path:
    return Path(settings.PORTAL_UPLOAD_DIR) / str(job_id)


def entries_of(uploads: Iterable[StoredUpload]) -> list[dict[str, Any]]:
    """Received files as `ImportJob.files` lists them."""
    return [{"name": (item.name or "file")[-255:], "stored": item.stored, "bytes": item.size} for item in uploads]


def files_of(job: ImportJob) -> UploadedFiles:
    marks = job.options.get("speakers") or {}
    return UploadedFiles(upload_folder(job.pk), job.files, SpeakerMarks(**marks) if marks else DEFAULT_SPEAKERS)


def is_large(files: Iterable[Mapping[str, Any]]) -> bool:
    """Whether reading the files takes longer than somebody should wait for a page."""
    weight: int = sum(item["bytes"] * (_PACKED if item["name"].lower().endswith(".zip") else 1) for item in files)
    return weight > _INLINE_BYTES


def uploads_delete(job_id: uuid.UUID) -> None:
    """Delete a job's uploads; none being there is as good."""
    folder = upload_folder(job_id)
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        logger.error("The uploads in %s could not be deleted", folder)


def abandoned_uploads() -> list[uuid.UUID]:
    """The jobs, known or not, whose uploads were last touched more than a day ago."""
    root = Path(settings.PORTAL_UPLOAD_DIR)
    old = time.time() - ABANDONED_SECONDS
    found: list[uuid.UUID] = []
    for folder in root.iterdir() if root.is_dir() else ():
        try:
            if folder.stat().st_mtime < old:
                found.append(uuid.UUID(folder.name))
        except (OSError, ValueError):
            continue  # gone meanwhile, or nothing of ours
    return found


def _refused(name: str, message: str) -> SourceFile:
    notice = Notice(Severity.ERROR, name, 0, message)
    return SourceFile(ParsedFile(name, "", "", notices=(notice,)))
