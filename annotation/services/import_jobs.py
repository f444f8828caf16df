"""An import from upload to result, in the page and in a worker: read, shown, decided, written.

    analysing → ready → queued → running → done
                  ↘ cancelled        ↘ cancelled, failed → queued (retry)

Each step is one conditional update of the status, so that of two requests, or of a message that is delivered twice,
only one takes it. A run that is cut off leaves whole dialogues behind; the next one writes those that are missing.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from kombu.exceptions import OperationalError

from annotation.domain.notices import Severity
from annotation.domain.speaker_marks import DEFAULT_SPEAKERS, SpeakerMarks
from annotation.models import ImportJob, JobStatus, Project, User
from annotation.services.errors import Refused
from annotation.services.import_files import ABANDONED_SECONDS, abandoned_uploads, files_of, is_large, uploads_delete
from annotation.services.imports import Fate, ImportPlan, ImportResult, SourceFile, dialogues_import, plan

logger = logging.getLogger(__name__)

STALLED_SECONDS = 60  # without a sign of progress a running job counts as cut off
KEPT_DIALOGUES = 5_000  # listed in a report; the counts are of all
KEPT_NOTICES = 1_000  # of each severity


def import_job_create(
    *,
    project: Project,
    actor: User,
    files: Sequence[Mapping[str, Any]],
    speakers: SpeakerMarks = DEFAULT_SPEAKERS,
    job_id: uuid.UUID | None = None,
) -> ImportJob:
    """A job for files that lie in `import_files.upload_folder(job_id)`; read at once when they are small.

    `files` are as `import_files.entries_of` lists them. Raises Refused without files and for an archived project.
    """
    if project.archived_at:
        raise Refused("This project is archived; restore it before importing dialogues.")
    if not files:
        raise Refused("Choose at least one file.", field="files")
    marks = {} if speakers == DEFAULT_SPEAKERS else {"doctor": speakers.doctor, "patient": speakers.patient}
    job = ImportJob.objects.create(
        id=job_id or uuid.uuid4(),
        project=project,
        created_by=actor,
        files=[dict(item) for item in files],
        options={"speakers": marks, "names": [item["name"] for item in files]},
    )
    if is_large(files):
        _enqueue(job)
    else:
        import_job_analyse(job=job)
    return job


def import_job_analyse(*, job: ImportJob) -> None:
    """Read the files and note what would happen; ready to be decided upon afterwards. Twice is as good as once."""
    if job.status != JobStatus.ANALYSING:
        return
    try:
        planned = plan(project=job.project, files=_Watched(job, files_of(job), counted=True))
    except Exception as error:
        _fail(job, error)
        return
    report = plan_as_json(planned)
    _take(job, [JobStatus.ANALYSING], JobStatus.READY, report=report, total=report["counts"]["new"], finished=0)


def import_job_confirm(*, job: ImportJob) -> None:
    """Write what the report announced: at once when it is little, by a worker otherwise."""
    if job.status != JobStatus.READY:
        raise Refused(f"This import has been decided already: it is {_state(job)}.")
    if not job.total:
        raise Refused("There is nothing to import: no dialogue of these files is new to the project.")
    if not _take(job, [JobStatus.READY], JobStatus.QUEUED):
        raise Refused("This import has just been decided in another window.")
    _start(job)


def import_job_run(*, job: ImportJob) -> None:
    """Write the dialogues that are missing. Safe to call twice: one that is taken or finished is left alone."""
    if not _take(job, [JobStatus.QUEUED], JobStatus.RUNNING) and not _take_over(job):
        return
    try:
        files = _Watched(job, files_of(job))
        planned = plan(project=job.project, files=files)
        result = dialogues_import(
            project=job.project,
            files=files,
            actor=job.created_by,
            planned=planned,
            progress=lambda _: _advance(job),
            should_stop=lambda: _stop_requested(job),
        )
    except Exception as error:
        _fail(job, error)
        return
    _finish(job, result)


def import_job_cancel(*, job: ImportJob) -> None:
    """Stop a job: at once where nobody is at it, otherwise before the next dialogue. What is written stays."""
    waiting = [JobStatus.QUEUED, JobStatus.RUNNING] if stalled(job) else [JobStatus.QUEUED]
    if job.status == JobStatus.ANALYSING:
        import_job_discard(job=job)
    elif not _take(job, waiting, JobStatus.CANCELLED):
        rows = ImportJob.objects.filter(pk=job.pk, status=JobStatus.RUNNING)
        if not rows.update(cancel_requested=True):
            job.refresh_from_db()
            raise Refused(f"There is nothing to cancel: this import is {_state(job)}.")


def import_job_retry(*, job: ImportJob) -> None:
    """Go on with a job that failed, was cancelled or was cut off; what it wrote already is passed over."""
    if not may_retry(job):
        raise Refused(f"This import cannot be retried: it is {_state(job)}. Upload the files again.")
    again = JobStatus.QUEUED if job.report else JobStatus.ANALYSING
    if not _take(job, [JobStatus(job.status)], again, cancel_requested=False, error=""):
        raise Refused("This import has just been taken up again in another window.")
    if again is JobStatus.QUEUED:
        _start(job)
    elif is_large(job.files):
        _enqueue(job)
    else:
        import_job_analyse(job=job)


def import_job_discard(*, job: ImportJob) -> None:
    """Leave the files unimported and delete them."""
    undecided = [JobStatus.ANALYSING, JobStatus.READY, JobStatus.FAILED, JobStatus.CANCELLED]
    if not job.files or not _take(job, undecided, JobStatus.CANCELLED, files=[]):
        raise Refused(f"There is nothing to discard: this import is {_state(job)}.")
    uploads_delete(job.pk)


def import_jobs_clean_up() -> None:
    """Delete uploads that nobody has decided upon for a day, and those that belong to no job."""
    old = timezone.now() - timedelta(seconds=ABANDONED_SECONDS)
    undecided = [JobStatus.ANALYSING, JobStatus.READY, JobStatus.FAILED, JobStatus.CANCELLED]
    for job in ImportJob.objects.filter(status__in=undecided, changed_at__lt=old).exclude(files=[]):
        why = "Nobody decided on this import for a day, so its files were deleted."
        if _take(job, [JobStatus(job.status)], JobStatus.CANCELLED, files=[], error=job.error or why):
            uploads_delete(job.pk)
    left = abandoned_uploads()
    kept = set(ImportJob.objects.filter(pk__in=left).exclude(files=[]).values_list("pk", flat=True))
    for job_id in set(left) - kept:
        uploads_delete(job_id)


def import_jobs_unfinished() -> list[ImportJob]:
    """The jobs that a worker should look at when it starts, in case their messages were lost with another one."""
    waiting = [JobStatus.ANALYSING, JobStatus.QUEUED, JobStatus.RUNNING]
    return list(ImportJob.objects.filter(status__in=waiting).order_by("created_at"))


def stalled(job: ImportJob) -> bool:
    """Whether a job that should be moving has not moved for a while: its worker was killed, or it is stuck."""
    late = job.changed_at < timezone.now() - timedelta(seconds=STALLED_SECONDS)
    return late and job.status in (JobStatus.RUNNING, JobStatus.ANALYSING)


def may_retry(job: ImportJob) -> bool:
    """Whether a retry would do something; one whose uploads were deleted cannot."""
    return bool(job.files) and (job.status in (JobStatus.FAILED, JobStatus.CANCELLED) or stalled(job))


def plan_as_json(planned: ImportPlan) -> dict[str, Any]:
    """The plan as a job keeps it: all counts, and as many dialogues and notices as a page can show."""
    notices = [
        notice.as_json()
        for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTE)
        for notice in planned.notices_of(severity)[:KEPT_NOTICES]
    ]
    # What is refused comes first: it is what somebody has to do something about.
    listed = [*planned.of(Fate.CLASH), *planned.of(Fate.NEW, Fate.SAME)][:KEPT_DIALOGUES]
    return {
        "counts": planned.counts(),
        "files": [
            {
                "name": item.name,
                "format": item.format,
                "encoding": item.encoding,
                "bytes": item.size,
                "dialogues": item.dialogues,
                "utterances": item.utterances,
            }
            for item in planned.files[:KEPT_DIALOGUES]
        ],
        "dialogues": [
            {
                "id": item.external_id,
                "file": item.file,
                "utterances": item.utterances,
                "warnings": item.warnings,
                "specialty": item.specialty,
                "fate": item.fate.value,
            }
            for item in listed
        ],
        "notices": notices,
    }


def _start(job: ImportJob) -> None:
    """Run a queued job here or let a worker do it, by its size."""
    if job.report["counts"]["new_utterances"] <= settings.PORTAL_IMPORT_INLINE_UTTERANCES:
        import_job_run(job=job)
    else:
        _enqueue(job)


def _enqueue(job: ImportJob) -> None:
    """Tell the workers once the job is stored. Without a broker it stays queued: a worker looks when it starts."""
    from annotation import tasks

    task = tasks.analyse_import if job.status == JobStatus.ANALYSING else tasks.run_import

    def send() -> None:
        try:
            task.delay(str(job.pk))
        except (OperationalError, OSError):
            logger.exception("Import %s could not be handed to a worker", job.pk)

    transaction.on_commit(send)


def _take(job: ImportJob, statuses: Iterable[JobStatus], to: JobStatus, **changes: Any) -> bool:
    """Move the job to a status if it has one of `statuses`; `job` then holds the new values."""
    changes = {"status": to, "changed_at": timezone.now(), **changes}
    if not ImportJob.objects.filter(pk=job.pk, status__in=list(statuses)).update(**changes):
        return False
    for name, value in changes.items():
        setattr(job, name, value)
    return True


def _take_over(job: ImportJob) -> bool:
    """Take a running job from a worker that has not been heard of for a while."""
    late = timezone.now() - timedelta(seconds=STALLED_SECONDS)
    rows = ImportJob.objects.filter(pk=job.pk, status=JobStatus.RUNNING, changed_at__lt=late)
    return bool(rows.update(changed_at=timezone.now()))


@dataclass(frozen=True, slots=True)
class _Watched:
    """A job's files, with a sign of life about once a second while they are read: `counted` says how many were."""

    job: ImportJob
    files: Iterable[SourceFile]
    counted: bool = False

    def __iter__(self) -> Iterator[SourceFile]:
        said = time.monotonic()
        for count, source in enumerate(self.files, 1):
            yield source
            if time.monotonic() - said >= 1:
                said = time.monotonic()
                changes = {"finished": count} if self.counted else {}
                ImportJob.objects.filter(pk=self.job.pk).update(changed_at=timezone.now(), **changes)


def _advance(job: ImportJob) -> None:
    ImportJob.objects.filter(pk=job.pk).update(finished=F("finished") + 1, changed_at=timezone.now())


def _stop_requested(job: ImportJob) -> bool:
    """Whether the job was cancelled, or taken out of our hands."""
    row = ImportJob.objects.filter(pk=job.pk).values_list("cancel_requested", "status").first()
    return row is None or row[0] or row[1] != JobStatus.RUNNING


def _finish(job: ImportJob, result: ImportResult) -> None:
    job.refresh_from_db(fields=["finished", "report"])
    if result.stopped:
        _take(job, [JobStatus.RUNNING], JobStatus.CANCELLED, cancel_requested=False)
        return
    errors = [notice.as_json() for notice in result.errors][:KEPT_NOTICES]
    outcome = {
        "created": job.finished,
        "dialogues": result.dialogues,
        "utterances": result.utterances,
        "errors": len(result.errors),
    }
    others = [notice for notice in job.report["notices"] if notice["severity"] != Severity.ERROR]
    report = {**job.report, "result": outcome, "notices": errors + others}
    if _take(job, [JobStatus.RUNNING], JobStatus.DONE, report=report, files=[], cancel_requested=False):
        uploads_delete(job.pk)


def _fail(job: ImportJob, error: Exception) -> None:
    """Say on the job what went wrong; whoever runs the portal finds the trace in the log."""
    gone = isinstance(error, FileNotFoundError)
    if isinstance(error, Refused):
        sentence = error.message
    elif gone:
        sentence = "The uploaded files are not there any more; upload them again."
    else:
        logger.error("Import %s failed", job.pk, exc_info=error)
        sentence = "The import stopped at an unexpected fault. No dialogue is half written; a retry goes on from there."
    changes: dict[str, Any] = {"error": sentence} | ({"files": []} if gone else {})
    _take(job, [JobStatus.ANALYSING, JobStatus.RUNNING], JobStatus.FAILED, **changes)


def _state(job: ImportJob) -> str:
    return JobStatus(job.status).label
