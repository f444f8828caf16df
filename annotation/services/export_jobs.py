"""An export from the request to the zip that is fetched, in the page or in a worker.

    queued → running → done
           ↘ cancelled, failed → queued (retry)

Each step is one conditional update of the status, so that of two requests, or of a message that is delivered twice,
only one takes it. A run that is cut off leaves nothing: the next one begins anew.
"""

from __future__ import annotations

import logging
import re
import shutil
import time
import uuid
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from annotation.models import ExportJob, JobStatus, Project, User
from annotation.services.errors import Refused
from annotation.services.export_folder import zip_folder
from annotation.services.export_readings import ExportOptions, nothing_there, parts_of
from annotation.services.gold_export import Stopped, export_write

logger = logging.getLogger(__name__)

STALLED_SECONDS = 60  # without a sign of progress a running job counts as cut off
KEPT_ITEMS = 500  # files and dialogues listed in a report; the counts are of all


def export_job_create(*, project: Project, actor: User, options: ExportOptions) -> ExportJob:
    """Begin an export: here when it is small, by a worker otherwise. Raises Refused when there is nothing to export."""
    parts = parts_of(project, options)
    if not parts:
        raise Refused(nothing_there(options))
    sets = [label_set for part in parts for label_set in part.label_sets]
    job = ExportJob.objects.create(
        project=project, created_by=actor, options=options.as_json(), total=len(sets), status=JobStatus.QUEUED
    )
    if sum(one.dialogue.utterance_count for one in sets) <= settings.PORTAL_IMPORT_INLINE_UTTERANCES:
        export_job_run(job=job)
    else:
        _enqueue(job)
    return job


def export_job_run(*, job: ExportJob) -> None:
    """Write the export. Safe to call twice: a job that is taken or over is left alone."""
    run = uuid.uuid4().hex
    if not _take(job, [JobStatus.QUEUED], JobStatus.RUNNING, finished=0) and not _take_over(job):
        return
    folder, packed = _root() / f"{job.pk}.{run}", _root() / f"{job.pk}.{run}.zip"
    try:
        folder.mkdir(parents=True)
        watched = _Watched(job)
        result = export_write(
            project=job.project,
            options=ExportOptions.from_json(job.options),
            folder=folder,
            progress=watched.progress,
            should_stop=watched.should_stop,
        )
        size = zip_folder(folder, packed, name=export_name(job))
        packed.replace(export_path(job))
        _finish(job, result.as_json(), size)
    except Stopped:
        _take(job, [JobStatus.RUNNING], JobStatus.CANCELLED, cancel_requested=False)
    except Exception as error:
        _fail(job, error)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        packed.unlink(missing_ok=True)


def export_job_cancel(*, job: ExportJob) -> None:
    """Stop a job: at once where nobody is at it, otherwise before its next dialogue."""
    waiting = [JobStatus.QUEUED, JobStatus.RUNNING] if stalled(job) else [JobStatus.QUEUED]
    if _take(job, waiting, JobStatus.CANCELLED):
        return
    if not ExportJob.objects.filter(pk=job.pk, status=JobStatus.RUNNING).update(cancel_requested=True):
        job.refresh_from_db()
        raise Refused(f"There is nothing to cancel: this export is {_state(job)}.")


def export_job_retry(*, job: ExportJob) -> None:
    """Begin a job that failed, was cancelled or was cut off once more."""
    if not may_retry(job):
        raise Refused(f"This export cannot be retried: it is {_state(job)}.")
    if not _take(job, [JobStatus(job.status)], JobStatus.QUEUED, cancel_requested=False, error=""):
        raise Refused("This export has just been taken up again in another window.")
    _enqueue(job)


def export_job_delete(*, job: ExportJob) -> None:
    """Delete a job that is over, with its zip."""
    if JobStatus(job.status).active and not stalled(job):
        raise Refused(f"This export is {_state(job)}; cancel it first.")
    export_path(job).unlink(missing_ok=True)
    job.delete()


def export_jobs_unfinished() -> list[ExportJob]:
    """The jobs that a worker should look at when it starts, in case their messages were lost with another one."""
    return list(ExportJob.objects.filter(status__in=[JobStatus.QUEUED, JobStatus.RUNNING]).order_by("created_at"))


def export_path(job: ExportJob) -> Path:
    """Where the zip lies, or would."""
    return _root() / f"{job.pk}.zip"


def export_name(job: ExportJob) -> str:
    """What the export is called outside: the name of the zip and of the folder in it. It names nobody."""
    return re.sub(r"[^\w.-]", "_", f"{job.project.slug}-{job.options.get('source', '')}")


def stalled(job: ExportJob) -> bool:
    """Whether a running job has not moved for a while: its worker was killed, or it is stuck."""
    late = timezone.now() - timedelta(seconds=STALLED_SECONDS)
    return job.status == JobStatus.RUNNING and job.changed_at < late


def may_retry(job: ExportJob) -> bool:
    return job.status in (JobStatus.FAILED, JobStatus.CANCELLED) or stalled(job)


def _root() -> Path:
    return Path(settings.PORTAL_EXPORT_DIR)


def _enqueue(job: ExportJob) -> None:
    """Tell the workers once the job is stored. Without a broker it stays queued: a worker looks when it starts."""
    from annotation import tasks

    def send() -> None:
        try:
            tasks.run_export.delay(str(job.pk))
        except (OperationalError, OSError):
            logger.exception("Export %s could not be handed to a worker", job.pk)

    transaction.on_commit(send)


class _Watched:
    """Says about once a second how far the job is, and hears whether it is to stop."""

    def __init__(self, job: ExportJob) -> None:
        self._job = job
        self._said = time.monotonic()
        self._stop = False

    def progress(self, done: int, total: int) -> None:
        if done != total and time.monotonic() - self._said < 1:
            return
        self._said = time.monotonic()
        rows = ExportJob.objects.filter(pk=self._job.pk, status=JobStatus.RUNNING, cancel_requested=False)
        self._stop = not rows.update(finished=done, total=total, changed_at=timezone.now())

    def should_stop(self) -> bool:
        return self._stop


def _finish(job: ExportJob, found: dict[str, Any], size: int) -> None:
    report = {**found, "zip_bytes": size, "file_count": len(found["files"]), "left_out_count": len(found["left_out"])}
    report |= {name: found[name][:KEPT_ITEMS] for name in ("files", "left_out")}
    if not _take(job, [JobStatus.RUNNING], JobStatus.DONE, report=report, cancel_requested=False, finished=job.total):
        export_path(job).unlink(missing_ok=True)


def _fail(job: ExportJob, error: Exception) -> None:
    """Say on the job what went wrong; whoever runs the portal finds the trace in the log."""
    if isinstance(error, Refused):
        sentence = error.message
    elif isinstance(error, OSError):
        logger.error("Export %s failed", job.pk, exc_info=error)
        sentence = (
            f"The files could not be written ({error.strerror or 'no reason given'}); tell whoever runs the portal."
        )
    else:
        logger.error("Export %s failed", job.pk, exc_info=error)
        sentence = "The export stopped at an unexpected fault. Nothing was kept; a retry begins anew."
    _take(job, [JobStatus.RUNNING], JobStatus.FAILED, error=sentence)


def _take(job: ExportJob, statuses: Iterable[JobStatus], to: JobStatus, **changes: Any) -> bool:
    """Move the job to a status if it has one of `statuses`; `job` then holds the new values."""
    changes = {"status": to, "changed_at": timezone.now(), **changes}
    if not ExportJob.objects.filter(pk=job.pk, status__in=list(statuses)).update(**changes):
        return False
    for name, value in changes.items():
        setattr(job, name, value)
    return True


def _take_over(job: ExportJob) -> bool:
    """Take a running job from a worker that has not been heard of for a while."""
    late = timezone.now() - timedelta(seconds=STALLED_SECONDS)
    rows = ExportJob.objects.filter(pk=job.pk, status=JobStatus.RUNNING, changed_at__lt=late)
    return bool(rows.update(changed_at=timezone.now()))


def _state(job: ExportJob) -> str:
    return JobStatus(job.status).label
