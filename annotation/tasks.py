"""What runs in the background: each task fetches by id, calls one service, and is safe to run twice."""

from __future__ import annotations

import logging
from typing import Any

from celery import shared_task
from celery.signals import worker_ready

from annotation.models import Dialogue, Evaluation, ExportJob, ImportJob, JobStatus, Project
from annotation.services.adjudication import gold_refresh
from annotation.services.agreement_jobs import agreement_refresh, agreement_unmeasured
from annotation.services.evaluations import evaluation_run, evaluations_unfinished
from annotation.services.export_jobs import export_job_run, export_jobs_unfinished
from annotation.services.export_storage import dead_runs_delete
from annotation.services.gold_jobs import gold_unrefreshed
from annotation.services.import_jobs import (
    STALLED_SECONDS,
    import_job_analyse,
    import_job_run,
    import_jobs_unfinished,
)

logger = logging.getLogger(__name__)


@shared_task
def analyse_import(job_id: str) -> None:
    """Read a job's files and note what would happen."""
    job = _job(job_id)
    if job:
        import_job_analyse(job=job)


@shared_task
def run_import(job_id: str) -> None:
    """Write a job's dialogues, or those that are still missing."""
    job = _job(job_id)
    if job:
        import_job_run(job=job)


@shared_task
def run_export(job_id: str) -> None:
    """Write an export and pack it."""
    job = ExportJob.objects.select_related("project", "created_by").filter(pk=job_id).first()
    if job:
        export_job_run(job=job)


@shared_task
def run_evaluation(evaluation_id: str) -> None:
    """Score a file of predictions."""
    evaluation = Evaluation.objects.select_related("project").filter(pk=evaluation_id).first()
    if evaluation:
        evaluation_run(evaluation=evaluation)


@shared_task
def measure_agreement(project_id: int, event_id: int) -> None:
    """New snapshots of a project's agreement after a dialogue was finished or reopened (`event_id`)."""
    project = Project.objects.filter(pk=project_id).first()
    if project:
        agreement_refresh(project=project, event_id=event_id)


@shared_task
def refresh_gold(dialogue_id: int) -> None:
    """Give finished gold back when a label that it was made from has changed."""
    dialogue = Dialogue.objects.select_related("project").filter(pk=dialogue_id).first()
    if dialogue:
        gold_refresh(dialogue=dialogue)


@worker_ready.connect
def take_up_unfinished(**_: Any) -> None:
    """Look after the work whose messages may have been lost with a worker that was killed, or with a broker.

    A job that still runs elsewhere is left alone: it is only taken over once it has not moved for a while.
    """
    for job in import_jobs_unfinished():
        task = analyse_import if job.status == JobStatus.ANALYSING else run_import
        wait = STALLED_SECONDS + 5 if job.status == JobStatus.RUNNING else 0
        task.apply_async([str(job.pk)], countdown=wait)
    dead_runs_delete()
    for export in export_jobs_unfinished():
        wait = STALLED_SECONDS + 5 if export.status == JobStatus.RUNNING else 0
        run_export.apply_async([str(export.pk)], countdown=wait)
    for evaluation in evaluations_unfinished():
        wait = STALLED_SECONDS + 5 if evaluation.status == JobStatus.RUNNING else 0
        run_evaluation.apply_async([str(evaluation.pk)], countdown=wait)
    for project_id, event_id in agreement_unmeasured():
        measure_agreement.delay(project_id, event_id)
    for dialogue_id in gold_unrefreshed():
        refresh_gold.delay(dialogue_id)


def _job(job_id: str) -> ImportJob | None:
    job = ImportJob.objects.select_related("project", "created_by").filter(pk=job_id).first()
    if job is None:
        logger.warning("Import %s is not there any more", job_id)
    return job
