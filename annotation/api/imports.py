"""Dialogues in: the same steps as in the browser, upload, dry run, decision, progress, result."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import F, QuerySet
from django.http import HttpRequest
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.base import PortalList, PortalView, query_of, user_of
from annotation.api.errors import SHOWN, TooLarge
from annotation.api.import_shapes import ImportDetail, ImportOptions, ImportRequest, ImportShape
from annotation.api.serializers import NoQuery
from annotation.models import ImportJob, JobStatus
from annotation.services.import_files import entries_of, speaker_pair, upload_folder, uploads_delete
from annotation.services.import_jobs import (
    import_job_cancel,
    import_job_confirm,
    import_job_create,
    import_job_discard,
    import_job_retry,
    import_jobs_clean_up,
)
from annotation.uploads import FIELD, BoundedUploadHandler, drain

ACCEPTED = OpenApiResponse(ImportDetail, description="A worker is at it; ask again under the import's address.")
ANSWERS = {200: ImportDetail, 202: ACCEPTED}


class Imports(PortalList):
    queryset = ImportJob.objects.none()
    serializer_class = ImportShape
    parser_classes = [MultiPartParser]
    upload: BoundedUploadHandler | None = None
    job_id: uuid.UUID

    def get_queryset(self) -> QuerySet[Any]:
        project = access.get_project(user_of(self.request), self.kwargs["slug"], access.SUPERVISOR)
        query_of(self.request, NoQuery)
        jobs = ImportJob.objects.filter(project=project).select_related("created_by")
        return jobs.defer("report", "options", "files").annotate(counts=F("report__counts"), result=F("report__result"))

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        if request.method == "POST":
            self.job_id = uuid.uuid4()
            self.upload = BoundedUploadHandler(request, upload_folder(self.job_id))
            request.upload_handlers = [self.upload]
        return super().initialize_request(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        # Checking a session's CSRF token receives the whole upload. Who may not send one is told before.
        person = request._request.user
        if self.upload and person.is_authenticated and "Authorization" not in request.headers:
            access.get_project(person, self.kwargs["slug"], access.SUPERVISOR)
        self._refuse_too_large(request)
        super().initial(request, *args, **kwargs)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        if self.upload and not ImportJob.objects.filter(pk=self.job_id).exists():
            uploads_delete(self.job_id)
        return super().finalize_response(request, response, *args, **kwargs)

    @extend_schema(operation_id="imports_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The project's imports, newest first. For supervisors."""
        return super().get(request, *args, **kwargs)

    @extend_schema(operation_id="imports_create", request=ImportRequest, responses=ANSWERS)
    def post(self, request: Request, slug: str) -> Response:
        """Send files. Without `dry_run`, what is new in them is imported, each dialogue whole or not at all.

        Large uploads are read by a worker; such an import has to be confirmed when its status is `ready`.
        """
        project = access.get_project(user_of(request), slug, access.SUPERVISOR)
        import_jobs_clean_up()
        options = ImportOptions(data=request.data)
        self._refuse_too_large(request)
        options.is_valid(raise_exception=True)
        asked = options.validated_data
        job = import_job_create(
            project=project,
            actor=user_of(request),
            files=entries_of(request.FILES.getlist(FIELD)),
            speakers=speaker_pair(asked["doctor"], asked["patient"]),
            job_id=self.job_id,
        )
        if not asked["dry_run"] and job.status == JobStatus.READY:
            _carry_out(job)
        return answer_to_import(job)

    def _refuse_too_large(self, request: Request) -> None:
        if self.upload and self.upload.refusal:
            drain(request._request)
            raise TooLarge(self.upload.refusal)


def _carry_out(job: ImportJob) -> None:
    """Import what is new. Where nothing is, the files are deleted; where nothing could be read either, that is an
    error, told by the first thing that is wrong."""
    if job.total:
        import_job_confirm(job=job)
        return
    counts, notices = job.report["counts"], job.report["notices"]
    import_job_discard(job=job)
    if counts["errors"] and not counts["same"]:
        errors = [notice["text"] for notice in notices if notice["severity"] == "error"]
        raise ValidationError({FIELD: errors[:SHOWN]})


class ImportItem(PortalView):
    @extend_schema(operation_id="import", responses=ImportDetail)
    def get(self, request: Request, slug: str, pk: uuid.UUID) -> Response:
        """One import: what would happen, what is happening, or what happened."""
        return answer_to_import(access.get_import_job(user_of(request), slug, pk), polled=True)


class ImportConfirm(PortalView):
    @extend_schema(operation_id="import_confirm", request=None, responses=ANSWERS)
    def post(self, request: Request, slug: str, pk: uuid.UUID) -> Response:
        """Write the dialogues that a dry run announced."""
        job = access.get_import_job(user_of(request), slug, pk)
        import_job_confirm(job=job)
        return answer_to_import(job)


class ImportDiscard(PortalView):
    @extend_schema(operation_id="import_discard", request=None, responses=ANSWERS)
    def post(self, request: Request, slug: str, pk: uuid.UUID) -> Response:
        """Leave the files unimported and delete them."""
        job = access.get_import_job(user_of(request), slug, pk)
        import_job_discard(job=job)
        return answer_to_import(job)


class ImportCancel(PortalView):
    @extend_schema(operation_id="import_cancel", request=None, responses=ANSWERS)
    def post(self, request: Request, slug: str, pk: uuid.UUID) -> Response:
        """Stop an import before its next dialogue; what is written stays."""
        job = access.get_import_job(user_of(request), slug, pk)
        import_job_cancel(job=job)
        return answer_to_import(job)


class ImportRetry(PortalView):
    @extend_schema(operation_id="import_retry", request=None, responses=ANSWERS)
    def post(self, request: Request, slug: str, pk: uuid.UUID) -> Response:
        """Go on with an import that failed, was cancelled or was cut off."""
        job = access.get_import_job(user_of(request), slug, pk)
        import_job_retry(job=job)
        return answer_to_import(job)


def answer_to_import(job: ImportJob, *, polled: bool = False) -> Response:
    """The import as it is now; 202 for a request after which a worker goes on with it."""
    job.refresh_from_db()
    report = job.report
    job.counts, job.result = report.get("counts"), report.get("result")  # type: ignore[attr-defined]
    body = {
        **ImportShape(job).data,
        "files": report.get("files", []),
        "dialogues": report.get("dialogues", []),
        "notices": report.get("notices", []),
    }
    accepted = JobStatus(job.status).active and not polled
    return Response(body, status=status.HTTP_202_ACCEPTED if accepted else status.HTTP_200_OK)
