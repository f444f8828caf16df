"""Dialogues in: upload, dry run, decision, progress, result. Only supervisors get here."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import TooManyFilesSent
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import SUPERVISOR, get_import_job, get_project
from annotation.models import ImportJob, JobStatus, Project
from annotation.services.errors import Refused
from annotation.services.import_files import entries_of, speaker_pair, upload_folder, uploads_delete
from annotation.services.import_jobs import (
    import_job_cancel,
    import_job_confirm,
    import_job_create,
    import_job_discard,
    import_job_retry,
    import_jobs_clean_up,
    may_retry,
    stalled,
)
from annotation.services.workers import worker_connected
from annotation.uploads import FIELD, BoundedUploadHandler, drain, size_limit
from annotation.views.requests import page_of, person_of

TOO_LARGE = 413
UNPROCESSABLE = 422
FIRST_DIALOGUES = 50
NOTICES_SHOWN = 200
NOTICES_OPEN = 12


@csrf_exempt  # the token is checked by `_receive`, once the body may be read
@require_http_methods(["GET", "HEAD", "POST"])
def imports(request: HttpRequest, slug: str) -> HttpResponse:
    """The form for an upload, and the imports so far. A POST receives files; nothing is written to the project yet."""
    project = get_project(person_of(request), slug, SUPERVISOR)
    if request.method != "POST":
        return _imports_page(request, project)
    job_id = uuid.uuid4()
    handler = BoundedUploadHandler(request, upload_folder(job_id))
    if handler.refusal:
        drain(request)
        return _imports_page(request, project, {FIELD: handler.refusal}, TOO_LARGE)
    request.upload_handlers = [handler]
    try:
        return _receive(request, project, handler, job_id)
    except TooManyFilesSent:
        return _imports_page(request, project, {FIELD: "These are too many files for one upload."}, TOO_LARGE)
    finally:
        if not ImportJob.objects.filter(pk=job_id).exists():
            uploads_delete(job_id)


@csrf_protect
def _receive(request: HttpRequest, project: Project, handler: BoundedUploadHandler, job_id: uuid.UUID) -> HttpResponse:
    import_jobs_clean_up()
    files: Any = request.FILES.getlist(FIELD)
    if handler.refusal:
        drain(request)
        return _imports_page(request, project, {FIELD: handler.refusal}, TOO_LARGE)
    try:
        speakers = speaker_pair(request.POST.get("doctor", ""), request.POST.get("patient", ""))
        import_job_create(
            project=project, actor=person_of(request), files=entries_of(files), speakers=speakers, job_id=job_id
        )
    except Refused as refusal:
        return _imports_page(request, project, {refusal.field or FIELD: refusal.message}, UNPROCESSABLE)
    return redirect("import", slug=project.slug, pk=job_id)


def _imports_page(
    request: HttpRequest, project: Project, errors: dict[str, str] | None = None, status: int = 200
) -> HttpResponse:
    counted = {"counts": F("report__counts"), "result": F("report__result"), "names": F("options__names")}
    rows = ImportJob.objects.filter(project=project).select_related("created_by").annotate(**counted)
    jobs = rows.defer("report", "options", "files")
    refused_whole = status == TOO_LARGE  # the rest of the form was not received
    context = {
        "project": project,
        "page": page_of(request, jobs, 20),
        "errors": errors or {},
        "doctor": "" if refused_whole else request.POST.get("doctor", ""),
        "patient": "" if refused_whole else request.POST.get("patient", ""),
        "file_limit": settings.PORTAL_MAX_FILE_BYTES,
        "file_limit_text": size_limit(settings.PORTAL_MAX_FILE_BYTES),
        "upload_limit": settings.PORTAL_MAX_UPLOAD_BYTES,
        "upload_limit_text": size_limit(settings.PORTAL_MAX_UPLOAD_BYTES),
    }
    return render(request, "annotation/imports.html", context, status=status)


@require_GET
def import_job(request: HttpRequest, slug: str, pk: uuid.UUID) -> HttpResponse:
    """One import: what would happen, what is happening, or what happened, whichever is the case."""
    job = get_import_job(person_of(request), slug, pk)
    report = job.report
    notices, counts, result = report.get("notices", []), report.get("counts", {}), report.get("result")
    context = {
        **_progress_context(job),
        "counts": counts,
        "result": result,
        "error_count": (result or counts).get("errors", 0),
        "files": report.get("files", []),
        "names": job.options.get("names", []),
        "errors": [notice for notice in notices if notice["severity"] == "error"],
        "warnings": [notice for notice in notices if notice["severity"] == "warning"],
        "notes": [notice for notice in notices if notice["severity"] == "note"],
        "page": page_of(request, report.get("dialogues", []), FIRST_DIALOGUES),
        "shown": NOTICES_SHOWN,
        "open": NOTICES_OPEN,
    }
    return render(request, "annotation/import.html", context)


@require_GET
def progress(request: HttpRequest, slug: str, pk: uuid.UUID) -> HttpResponse:
    """How far a job is; asked for again and again until it has ended, when the whole page is loaded once more."""
    job = get_import_job(person_of(request), slug, pk)
    response = render(request, "annotation/_import_progress.html", _progress_context(job))
    if not JobStatus(job.status).active:
        response["HX-Refresh"] = "true"
    return response


def _progress_context(job: ImportJob) -> dict[str, Any]:
    active = JobStatus(job.status).active
    return {
        "project": job.project,
        "job": job,
        "active": active,
        "stalled": stalled(job),
        "may_retry": may_retry(job),
        "worker_missing": active and not worker_connected(),
    }


def _act(request: HttpRequest, slug: str, pk: uuid.UUID, action: Callable[[ImportJob], str]) -> HttpResponse:
    job = get_import_job(person_of(request), slug, pk)
    try:
        said = action(job)
    except Refused as refusal:
        messages.error(request, refusal.message)
    else:
        if said:
            messages.success(request, said)
    return redirect("import", slug=slug, pk=pk)


@require_POST
def confirm(request: HttpRequest, slug: str, pk: uuid.UUID) -> HttpResponse:
    def action(job: ImportJob) -> str:
        import_job_confirm(job=job)
        return ""

    return _act(request, slug, pk, action)


@require_POST
def discard(request: HttpRequest, slug: str, pk: uuid.UUID) -> HttpResponse:
    def action(job: ImportJob) -> str:
        import_job_discard(job=job)
        return "The upload was discarded and its files were deleted."

    return _act(request, slug, pk, action)


@require_POST
def cancel(request: HttpRequest, slug: str, pk: uuid.UUID) -> HttpResponse:
    def action(job: ImportJob) -> str:
        import_job_cancel(job=job)
        return "" if job.status == JobStatus.CANCELLED else "The import stops before its next dialogue."

    return _act(request, slug, pk, action)


@require_POST
def retry(request: HttpRequest, slug: str, pk: uuid.UUID) -> HttpResponse:
    def action(job: ImportJob) -> str:
        import_job_retry(job=job)
        return ""

    return _act(request, slug, pk, action)
