"""Work that runs in the background, and the workers that do it."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q


class JobStatus(models.TextChoices):
    ANALYSING = "analysing", "being read"
    READY = "ready", "waiting for your decision"
    QUEUED = "queued", "waiting for a worker"
    RUNNING = "running", "running"
    DONE = "done", "done"
    CANCELLED = "cancelled", "cancelled"
    FAILED = "failed", "failed"

    @property
    def active(self) -> bool:
        return self in (JobStatus.ANALYSING, JobStatus.QUEUED, JobStatus.RUNNING)


class Job(models.Model):
    """What runs for a while: who asked for it and how, how far it is (`finished` of `total`), and what came of it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    options = models.JSONField(default=dict)
    report = models.JSONField(default=dict)
    total = models.PositiveIntegerField(default=0)
    finished = models.PositiveIntegerField(default=0)
    cancel_requested = models.BooleanField(default=False)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True
        ordering = ["-created_at"]


class ImportJob(Job):
    """Files on their way in: read, shown, decided, written.

    `files` lists `{"name", "stored", "bytes"}`, `stored` being a name below PORTAL_UPLOAD_DIR/<id>.
    `report` is what `services.imports` found (dialogues with what would happen to each, notices, counts).
    """

    project = models.ForeignKey("annotation.Project", models.PROTECT, related_name="import_jobs")
    status = models.CharField(max_length=20, choices=JobStatus, default=JobStatus.ANALYSING)
    files = models.JSONField(default=list)

    class Meta(Job.Meta):
        abstract = False
        constraints = [
            models.CheckConstraint(condition=Q(status__in=JobStatus.values), name="import_job_status_known"),
        ]

    def __str__(self) -> str:
        return f"import into {self.project}: {self.get_status_display()}"


class ExportJob(Job):
    """An export on its way out. `options` are `services.export_readings.ExportOptions`; `report` is what was written,
    and while it is being written the name of the run: {"run": …}.

    The zip lies in PORTAL_EXPORT_DIR under the job's id until somebody deletes it. Then the job stays, and tells of it.
    """

    project = models.ForeignKey("annotation.Project", models.PROTECT, related_name="export_jobs")
    status = models.CharField(max_length=20, choices=JobStatus, default=JobStatus.QUEUED)
    files_deleted_at = models.DateTimeField(null=True)
    files_deleted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")

    class Meta(Job.Meta):
        abstract = False
        constraints = [
            models.CheckConstraint(condition=Q(status__in=JobStatus.values), name="export_job_status_known"),
        ]

    def __str__(self) -> str:
        return f"export of {self.project}: {self.get_status_display()}"


class Worker(models.Model):
    """A background worker's last sign of life."""

    name = models.CharField(max_length=200, primary_key=True)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
