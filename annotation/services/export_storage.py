"""Where exports lie on disk: the finished zips, and what a run writes until it has one.

    PORTAL_EXPORT_DIR/<job>.zip          an export that is done
    PORTAL_EXPORT_DIR/<job>.<run>/       what a run is writing
    PORTAL_EXPORT_DIR/<job>.<run>.zip    what a run is packing

A run that is killed leaves its files, and they hold what was said to a doctor. So whoever comes after it deletes them:
the run that takes over, whoever cancels or deletes the job, and every worker that starts.
"""

from __future__ import annotations

import logging
import re
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from annotation.models import ExportJob, JobStatus

logger = logging.getLogger(__name__)

_OF_A_RUN = re.compile(r"(?P<job>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(?P<run>[0-9a-f]{32})(?:\.zip)?")


def export_path(job: ExportJob) -> Path:
    """Where the zip lies, or would."""
    return _root() / f"{job.pk}.zip"


def run_paths(job: ExportJob, run: str) -> tuple[Path, Path]:
    """The folder and the zip of a run that is under way."""
    return _root() / f"{job.pk}.{run}", _root() / f"{job.pk}.{run}.zip"


def run_delete(job: ExportJob, run: str) -> None:
    """Delete what one run has written so far."""
    for path in run_paths(job, run):
        _delete(path)


def runs_delete(job: ExportJob, *, but: str = "") -> None:
    """Delete what the runs of a job have left, but for one that is under way."""
    for path, pk, run in _runs():
        if pk == str(job.pk) and run != but:
            _delete(path)


def dead_runs_delete() -> None:
    """Delete what runs have left that nobody waits for: their job is over, gone, or in other hands."""
    found = list(_runs())  # before the jobs are asked: a run says in its job that it is, then begins to write
    jobs = ExportJob.objects.filter(pk__in={uuid.UUID(pk) for _, pk, _ in found}, status=JobStatus.RUNNING)
    alive = {(str(pk), run) for pk, run in jobs.values_list("pk", "report__run")}
    for path, pk, run in found:
        if (pk, run) not in alive:
            logger.info("%s was left by a run that ended; it is deleted", path.name)
            _delete(path)


def _runs() -> Iterator[tuple[Path, str, str]]:
    """(path, job, run) of everything that a run has written and not taken away."""
    if not _root().is_dir():
        return
    for path in _root().iterdir():
        found = _OF_A_RUN.fullmatch(path.name)
        if found:
            yield path, found["job"], found["run"]


def _delete(path: Path) -> None:
    """A folder or a file, if it is there; a symbolic link is never followed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _root() -> Path:
    return Path(settings.PORTAL_EXPORT_DIR)
