"""An export from the request to the zip that is fetched, in the page or in a worker.

    queued → running → done
           ↘ cancelled, failed → queued (retry)

Each step is one conditional update of the status, so that of two requests, or of a message that is delivered twice,
only one takes it. While a job runs its report holds the name of the run: a run that another has taken over from can
neither end the job nor touch its zip. A run that is cut off leaves nothing that is used: the next one begins anew.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import re
import time
import uuid
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from kombu.exceptions import OperationalError

from annotation.domain.manifest import PATH as MANIFEST
from annotation.models import ExportJob, JobStatus, Project, User
from annotation.services.errors import Refused
from annotation.services.export_folder import zip_folder
from annotation.services.export_readings import ANNOTATOR, ExportOptions, nothing_there, parts_of, pseudonym
from annotation.services.export_storage import export_path, run_delete, run_paths, runs_delete
from annotation.services.gold_export import ExportResult, Stopped, export_write

logger = logging.getLogger(__name__)

STALLED_SECONDS = 60  # without a sign of progress a running job counts as cut off
SAID_EVERY_SECONDS = 1  # that a run goes on
_AT_ONCE = 1 << 18  # bytes
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
    if not _take(job, [JobStatus.QUEUED], JobStatus.RUNNING, finished=0, report={"run": run}) and not _take_over(
        job, run
    ):
        return
    folder, packed = run_paths(job, run)
    watched = _Watched(job, run)
    try:
        runs_delete(job, but=run)
        folder.mkdir(parents=True)
        result = export_write(
            project=job.project,
            options=ExportOptions.from_json(job.options),
            folder=folder,
            progress=watched.progress,
            should_stop=watched.should_stop,
        )
        _check_whole(folder, result)
        size = zip_folder(folder, packed, name=export_name(job), went_on=watched.went_on)
        sums = {"zip_sha256": _sha256(packed, watched.went_on), "manifest_sha256": _sha256(folder / MANIFEST)}
        _finish(job, run, packed, {**result.as_json(), "zip_bytes": size, **sums})
    except Stopped:
        _end(job, run, JobStatus.CANCELLED, report={}, cancel_requested=False)
    except Exception as error:
        _fail(job, run, error)
    finally:
        run_delete(job, run)


def export_job_cancel(*, job: ExportJob) -> None:
    """Stop a job: at once where nobody is at it, otherwise before its next dialogue."""
    waiting = [JobStatus.QUEUED, JobStatus.RUNNING] if stalled(job) else [JobStatus.QUEUED]
    if _take(job, waiting, JobStatus.CANCELLED, report={}):
        runs_delete(job)
        return
    if not ExportJob.objects.filter(pk=job.pk, status=JobStatus.RUNNING).update(cancel_requested=True):
        job.refresh_from_db()
        raise Refused(f"There is nothing to cancel: this export is {_state(job)}.")


def export_job_retry(*, job: ExportJob) -> None:
    """Begin a job that failed, was cancelled or was cut off once more."""
    if not may_retry(job):
        raise Refused(f"This export cannot be retried: it is {_state(job)}.")
    if not _take(job, [JobStatus(job.status)], JobStatus.QUEUED, cancel_requested=False, error="", report={}):
        raise Refused("This export has just been taken up again in another window.")
    _enqueue(job)


def export_job_delete(*, job: ExportJob, actor: User) -> None:
    """Delete the zip of an export that is over. What was exported, with its SHA-256, and who deleted it stay on record;
    of a job that came to nothing there is nothing to tell, so it goes whole."""
    if JobStatus(job.status).active and not stalled(job):
        raise Refused(f"This export is {_state(job)}; cancel it first.")
    path = export_path(job)
    runs_delete(job)
    if job.status != JobStatus.DONE:
        path.unlink(missing_ok=True)
        job.delete()
        return
    if "zip_sha256" not in job.report and path.exists():
        job.report = {**job.report, "zip_sha256": _sha256(path)}
    with transaction.atomic():  # a file that cannot be deleted is not said to be
        told = {"files_deleted_at": timezone.now(), "files_deleted_by": actor, "report": job.report}
        if not ExportJob.objects.filter(pk=job.pk, files_deleted_at=None).update(**told):
            raise Refused("The files of this export were deleted before.")
        path.unlink(missing_ok=True)


def export_jobs_unfinished() -> list[ExportJob]:
    """The jobs that a worker should look at when it starts, in case their messages were lost with another one."""
    return list(ExportJob.objects.filter(status__in=[JobStatus.QUEUED, JobStatus.RUNNING]).order_by("created_at"))


def export_name(job: ExportJob) -> str:
    """What the export is called outside: the name of the zip and of the folder in it. A person has their pseudonym."""
    source = job.options.get("source", "")
    if source == ANNOTATOR:
        person = User.objects.filter(username=job.options.get("annotator", "")).first()
        source = pseudonym(job.project, person.pk) if person else source
    return re.sub(r"[^\w.-]", "_", f"{job.project.slug}-{source}")


def stalled(job: ExportJob) -> bool:
    """Whether a running job has not moved for a while: its worker was killed, or it is stuck."""
    late = timezone.now() - timedelta(seconds=STALLED_SECONDS)
    return job.status == JobStatus.RUNNING and job.changed_at < late


def may_retry(job: ExportJob) -> bool:
    return job.status in (JobStatus.FAILED, JobStatus.CANCELLED) or stalled(job)


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
    """Says about once a second that the run goes on and how far it is, and hears whether it is to stop: because
    somebody asked for it, or because the job is no longer this run's."""

    def __init__(self, job: ExportJob, run: str) -> None:
        self._job, self._run = job, run
        self._said = time.monotonic()
        self._stop = False

    def progress(self, done: int, total: int) -> None:
        if done == total or self._late():
            self._say(finished=done, total=total)

    def should_stop(self) -> bool:
        return self._stop

    def went_on(self) -> None:
        """A sign of life where there is nothing to count. Raises Stopped."""
        if self._late():
            self._say()
        if self._stop:
            raise Stopped

    def _late(self) -> bool:
        return time.monotonic() - self._said >= SAID_EVERY_SECONDS

    def _say(self, **how_far: int) -> None:
        self._said = time.monotonic()
        rows = _of_run(self._job, self._run).filter(cancel_requested=False)
        self._stop = not rows.update(**how_far, changed_at=timezone.now())


def _sha256(path: Path, went_on: Callable[[], None] | None = None) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while some := stream.read(_AT_ONCE):
            digest.update(some)
            if went_on:
                went_on()
    return digest.hexdigest()


def _check_whole(folder: Path, result: ExportResult) -> None:
    """Raises OSError when a file that was written has gone, as when somebody clears the folder."""
    for one in result.manifest.files:
        if not (folder / one.path).is_file():
            raise FileNotFoundError(errno.ENOENT, f"{one.path} is gone")


def _finish(job: ExportJob, run: str, packed: Path, found: dict[str, Any]) -> None:
    """The job is done and the zip in its place, or neither: a zip that another run has put there is left alone."""
    report = {**found, "file_count": len(found["files"]), "left_out_count": len(found["left_out"])}
    report |= {name: found[name][:KEPT_ITEMS] for name in ("files", "left_out")}
    with transaction.atomic():
        if _end(job, run, JobStatus.DONE, report=report, cancel_requested=False, finished=job.total):
            packed.replace(export_path(job))


def _fail(job: ExportJob, run: str, error: Exception) -> None:
    """Say on the job what went wrong; whoever runs the portal finds the trace in the log."""
    if isinstance(error, Refused):
        sentence = error.message
    elif isinstance(error, OSError):
        sentence = (
            f"The files could not be written ({error.strerror or 'no reason given'}); tell whoever runs the portal."
        )
    else:
        sentence = "The export stopped at an unexpected fault. Nothing was kept; a retry begins anew."
    if not _end(job, run, JobStatus.FAILED, report={}, error=sentence):
        logger.info("A run of export %s ended after another one had taken over (%s)", job.pk, error)
    elif not isinstance(error, Refused):
        logger.error("Export %s failed", job.pk, exc_info=error)


def _of_run(job: ExportJob, run: str) -> QuerySet[ExportJob]:
    """The job, as long as it is this run's."""
    return ExportJob.objects.filter(pk=job.pk, status=JobStatus.RUNNING, report__run=run)


def _end(job: ExportJob, run: str, to: JobStatus, **changes: Any) -> bool:
    """End the job, unless it is no longer this run's."""
    return _change(_of_run(job, run), job, to, changes)


def _take(job: ExportJob, statuses: Iterable[JobStatus], to: JobStatus, **changes: Any) -> bool:
    """Move the job to a status if it has one of `statuses`; `job` then holds the new values."""
    return _change(ExportJob.objects.filter(pk=job.pk, status__in=list(statuses)), job, to, changes)


def _change(rows: QuerySet[ExportJob], job: ExportJob, to: JobStatus, changes: dict[str, Any]) -> bool:
    changes = {"status": to, "changed_at": timezone.now(), **changes}
    if not rows.update(**changes):
        return False
    for name, value in changes.items():
        setattr(job, name, value)
    return True


def _take_over(job: ExportJob, run: str) -> bool:
    """Take a running job from a worker that has not been heard of for a while."""
    late = timezone.now() - timedelta(seconds=STALLED_SECONDS)
    rows = ExportJob.objects.filter(pk=job.pk, status=JobStatus.RUNNING, changed_at__lt=late)
    return bool(rows.update(report={"run": run}, changed_at=timezone.now()))


def _state(job: ExportJob) -> str:
    return JobStatus(job.status).label
