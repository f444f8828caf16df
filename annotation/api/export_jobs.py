"""Exports for researchers: the same steps as in the browser, begun, watched, fetched, deleted. For supervisors."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import F, QuerySet
from django.http import FileResponse, Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.base import PortalList, PortalView, body_of, query_of, user_of
from annotation.api.export_job_shapes import ExportJobDetail, ExportJobShape, ExportRequest, options_of
from annotation.api.serializers import NoQuery
from annotation.models import ExportJob, JobStatus
from annotation.services.export_jobs import (
    export_job_cancel,
    export_job_create,
    export_job_delete,
    export_job_retry,
    export_name,
)
from annotation.services.export_storage import export_path

ACCEPTED = OpenApiResponse(ExportJobDetail, description="A worker is at it; ask again under the export's address.")
ANSWERS = {200: ExportJobDetail, 202: ACCEPTED}
NO_FILE = "There is no file to download: the export is not done, or its files were deleted."
_SUMMARY = ("dialogues", "zip_bytes", "zip_sha256", "manifest_sha256")


class ExportJobs(PortalList):
    queryset = ExportJob.objects.none()
    serializer_class = ExportJobShape

    def get_queryset(self) -> QuerySet[Any]:
        project = access.get_project(user_of(self.request), self.kwargs["slug"], access.SUPERVISOR)
        query_of(self.request, NoQuery)
        jobs = ExportJob.objects.filter(project=project).select_related("created_by", "files_deleted_by")
        return jobs.defer("report").annotate(**{name: F(f"report__{name}") for name in _SUMMARY})

    @extend_schema(operation_id="export_jobs_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The project's exports for researchers, newest first, those whose files were deleted included. For
        supervisors."""
        return super().get(request, *args, **kwargs)

    @extend_schema(operation_id="export_jobs_create", request=ExportRequest, responses=ANSWERS)
    def post(self, request: Request, slug: str) -> Response:
        """Make an export for researchers. For supervisors.

        A large one is written by a worker; ask under its address how far it is.
        """
        person = user_of(request)
        project = access.get_project(person, slug, access.SUPERVISOR)
        options = options_of(body_of(request, ExportRequest))
        return _answer(export_job_create(project=project, actor=person, options=options))


class ExportJobItem(PortalView):
    @extend_schema(operation_id="export_job", responses=ExportJobDetail)
    def get(self, request: Request, slug: str, pk: uuid.UUID) -> Response:
        """One export: how far it is, or what was written."""
        return _answer(access.get_export_job(user_of(request), slug, pk), polled=True)


class ExportJobDownload(PortalView):
    @extend_schema(operation_id="export_job_download", responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, pk: uuid.UUID) -> FileResponse:
        """The zip of an export that is done."""
        job = access.get_export_job(user_of(request), slug, pk)
        try:
            stream = export_path(job).open("rb")
        except FileNotFoundError:
            raise Http404(NO_FILE) from None
        name = f"{export_name(job)}.zip"
        return FileResponse(stream, as_attachment=True, filename=name, content_type="application/zip")


class ExportJobCancel(PortalView):
    @extend_schema(operation_id="export_job_cancel", request=None, responses=ANSWERS)
    def post(self, request: Request, slug: str, pk: uuid.UUID) -> Response:
        """Stop an export before its next dialogue; nothing is kept of it."""
        job = access.get_export_job(user_of(request), slug, pk)
        _takes_nothing(request)
        export_job_cancel(job=job)
        return _answer(job)


class ExportJobRetry(PortalView):
    @extend_schema(operation_id="export_job_retry", request=None, responses=ANSWERS)
    def post(self, request: Request, slug: str, pk: uuid.UUID) -> Response:
        """Begin an export that failed, was cancelled or was cut off once more."""
        job = access.get_export_job(user_of(request), slug, pk)
        _takes_nothing(request)
        export_job_retry(job=job)
        return _answer(job)


class ExportJobDeleteFiles(PortalView):
    @extend_schema(operation_id="export_job_delete_files", request=None, responses={200: ExportJobDetail, 204: None})
    def post(self, request: Request, slug: str, pk: uuid.UUID) -> Response:
        """Delete the files of an export for good.

        What it was, with its SHA-256, and who deleted it stay on record. One that came to nothing is deleted whole,
        which answers 204.
        """
        job = access.get_export_job(user_of(request), slug, pk)
        _takes_nothing(request)
        made = job.status == JobStatus.DONE
        export_job_delete(job=job, actor=user_of(request))
        return _answer(job, polled=True) if made else Response(status=status.HTTP_204_NO_CONTENT)


def _takes_nothing(request: Request) -> None:
    """Refuses what is told to an action without options; what is no JSON is not read."""
    if request.content_type.startswith("application/json"):
        body_of(request, NoQuery)


def _answer(job: ExportJob, *, polled: bool = False) -> Response:
    """The export as it is now; 202 for a request after which a worker goes on with it."""
    job.refresh_from_db()
    for name in (*_SUMMARY, "utterances", "labels", "splits"):
        setattr(job, name, job.report.get(name))
    for name in ("files", "left_out"):
        setattr(job, name, job.report.get(name, []))
    accepted = JobStatus(job.status).active and not polled
    return Response(ExportJobDetail(job).data, status=status.HTTP_202_ACCEPTED if accepted else status.HTTP_200_OK)
