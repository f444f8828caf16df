"""The gold of a finished export as it lies in its zip, which nobody changes any more."""

from __future__ import annotations

import hashlib
import json
import uuid
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedReader
from typing import Any

from django.db.models import Q

from annotation.domain.dataset_writing import DatasetError
from annotation.domain.evaluation_gold import parse_dataset
from annotation.domain.export_dialogs import PATH, ids_path
from annotation.domain.prediction_files import LARGEST_DATASET
from annotation.domain.splits import Split
from annotation.domain.text_decoding import UnreadableFile
from annotation.models import Evaluation, ExportJob, JobStatus, Project
from annotation.services.errors import Refused
from annotation.services.export_readings import GOLD
from annotation.services.export_storage import export_path

MOST_OFFERED = 50
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,  # an unknown way of packing
    RuntimeError,  # a password is wanted
    EOFError,
    StopIteration,
    KeyError,
    ValueError,
    RecursionError,
    DatasetError,
    UnreadableFile,
)
_GONE = "The files of this export are not on the portal any more; choose another one, or the gold as it is now."


@dataclass(frozen=True, slots=True)
class ExportedGold:
    """`dataset` is the export's `dialogs.json` without states, `sha256` the sum of the whole file."""

    dataset: Mapping[str, Any]
    sha256: str


def gold_exports(project: Project) -> list[ExportJob]:
    """The exports of the project's gold whose files are there, the newest first."""
    rows = ExportJob.objects.filter(project=project, status=JobStatus.DONE, files_deleted_at=None)
    rows = rows.filter(options__source=GOLD).order_by("-created_at")[:MOST_OFFERED]
    return [job for job in rows if export_path(job).is_file()]


def export_chosen(project: Project, pk: str) -> ExportJob:
    """The export of this id. Raises Refused where the project has none of its gold, or its files are gone."""
    try:
        found = ExportJob.objects.filter(pk=uuid.UUID(pk), project=project, status=JobStatus.DONE).first()
    except ValueError:
        found = None
    if found is None or found.options.get("source") != GOLD:
        raise Refused("This project has no such export of its gold.", field="gold")
    if found.files_deleted_at is not None or not export_path(found).is_file():
        raise Refused(_GONE, field="gold")
    return found


def exports_to_choose(project: Project, chosen: str) -> list[ExportJob]:
    """What `gold_exports` has, and the one that is chosen already, however old, if its files are there."""
    found = gold_exports(project)
    if chosen and chosen not in {str(job.pk) for job in found}:
        with suppress(Refused):
            found.append(export_chosen(project, chosen))
    return found


def evaluations_against(job: ExportJob) -> int:
    """How many evaluations have the export as their gold."""
    hers = Q(options__export=str(job.pk)) | Q(options__asked__export=str(job.pk))
    return Evaluation.objects.filter(hers, project=job.project_id).count()


def short_id(export: object) -> str:
    """The beginning of an export's id, by which a person tells it from another one of the same minute."""
    return str(export)[:8]


def drawing_text(options: Mapping[str, Any], in_domain: Iterable[str] = ()) -> str:
    """How an export's splits were drawn: by which seed and shares, with which specialties within the domain."""
    named = ", ".join(in_domain or options.get("specialties", ()))
    return f"seed {options['random_seed']}, shares {options['shares']}" + (f", {named} in domain" if named else "")


def utterances_in(job: ExportJob, split: Split | None) -> int:
    """How many utterances the export says it has. Raises Refused where the split is empty."""
    counts = job.report.get("splits", {}).get("dialogues", {})
    if split is not None and counts.get(split.value) == 0:
        raise Refused(f"No dialogue of this export is in the split “{split.value}”.", field="split")
    return int(job.report.get("utterances", 0))


def dialogs_sum(job: ExportJob) -> str:
    """The SHA-256 that the export says of its `dialogs.json`; "" where its report lists too many files to say it."""
    return next((one["sha256"] for one in job.report.get("files", []) if one.get("path") == PATH), "")


def exported_gold(job: ExportJob, split: Split | None) -> ExportedGold:
    """All dialogues of the export, or those of its own split. Raises Refused where the files are gone, or are not those
    that were made."""
    try:
        with export_path(job).open("rb") as stored:
            _check_sum(stored, job.report.get("zip_sha256"))
            dataset, ids, sha256 = _unpacked(stored, split)
    except FileNotFoundError:
        raise Refused(_GONE, field="gold") from None
    except _Damaged:
        raise Refused("The files of this export are damaged; make it anew and choose that one.", field="gold") from None
    if split is not None:
        dataset = {name: dataset[name] for name in dataset.keys() & ids}
    if not dataset:
        raise Refused("No dialogue of this export is in that split.", field="split")
    return ExportedGold(dict(sorted(dataset.items())), sha256)


class _Damaged(Exception):
    """What lies in a zip is not what an export puts there."""


def _check_sum(stored: BufferedReader, expected: str | None) -> None:
    """Raises _Damaged where it is not the zip that was made; of one that was made long ago the sum is not known."""
    if expected and hashlib.file_digest(stored, "sha256").hexdigest() != expected:
        raise _Damaged


def _unpacked(stored: BufferedReader, split: Split | None) -> tuple[dict[str, Any], set[str], str]:
    """(the dataset, the ids of the split, the SHA-256 of the dataset's file). Raises _Damaged."""
    ids: Any = []
    try:
        with zipfile.ZipFile(stored) as packed:
            folder = next(name for name in packed.namelist() if name.count("/") == 1 and name.endswith(f"/{PATH}"))
            raw = _read(packed, folder)
            if split is not None:
                ids = json.loads(_read(packed, folder.removesuffix(PATH) + ids_path(split)))
        dataset = parse_dataset(raw.decode(), PATH)
    except _BROKEN as error:
        raise _Damaged from error
    if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
        raise _Damaged
    return dict(dataset), set(ids), hashlib.sha256(raw).hexdigest()


def _read(packed: zipfile.ZipFile, name: str) -> bytes:
    if packed.getinfo(name).file_size > LARGEST_DATASET:
        raise Refused(f"Its {PATH} is larger than {LARGEST_DATASET // 2**20} MB; score it with the commands.")
    return packed.read(name)
