"""Labels out and in as files: portal files, datasets, and the upload of a portal file into a label set."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import quote

from django.db.models import Count, F
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils.http import content_disposition_header
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_GET, require_http_methods, require_safe

from annotation.access import ANSWERING, ANY, SUPERVISOR, get_annotator, get_label_set, get_project
from annotation.models import ExportJob, LabelSet, Owner, Role, Status
from annotation.services.errors import Refused
from annotation.services.exports import (
    FINISHED,
    available,
    dataset_file,
    dataset_file_name,
    exportable,
    gold_sets,
    portal_file,
    portal_file_name,
)
from annotation.services.label_imports import MAX_BYTES, HasLabels, UnreadableLabels, portal_file_import
from annotation.uploads import drain, size_limit
from annotation.views.requests import page_of, person_of

JSON = "application/json; charset=utf-8"
WRITTEN = "written"  # in an address: values as they were written
FORM_BYTES = 2**16  # the form's own fields beside the file
ERRORS_SHOWN = 50
JOBS_SHOWN = 20
REMARKS_SHOWN = 200
TOO_LARGE = 413
UNPROCESSABLE = 422
CONFLICT = 409


@require_safe
def labels_file(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One label set as a portal file. Which dialogue it belongs to stands in its name and in a header."""
    label_set = get_label_set(person_of(request), pk, slug)
    response = HttpResponse(portal_file(label_set=label_set), content_type=JSON)
    response.headers["Content-Disposition"] = _attachment(portal_file_name(label_set=label_set))
    response.headers["X-Portal-Dialogue"] = quote(label_set.dialogue.external_id)
    return response


@require_safe
def dataset(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A person's dataset, dialogue by dialogue: `?annotator=` (one's own by default), `?done=1` for done ones only,
    `?values=written` for values as they were written instead of canonical names.

    `?owner=gold` is the gold instead, for supervisors.
    """
    user = person_of(request)
    gold = request.GET.get("owner") == Owner.GOLD
    project = get_project(user, slug, SUPERVISOR if gold else ANY)
    annotator = None if gold else get_annotator(user, project, request.GET.get("annotator") or user.username)
    pieces = dataset_file(
        project=project,
        annotator=annotator,
        done_only=request.GET.get("done") == "1",
        surface_forms=request.GET.get("values") == WRITTEN,
    )
    # A HEAD request gets the same headers and must not have the whole file made for it.
    response = StreamingHttpResponse(pieces if request.method == "GET" else iter(()), content_type=JSON)
    response.headers["Content-Disposition"] = _attachment(dataset_file_name(project=project, annotator=annotator))
    return response


@require_GET
def exports(request: HttpRequest, slug: str) -> HttpResponse:
    """What can be downloaded: for supervisors everybody's labels and the gold, for others their own labels."""
    user = person_of(request)
    project = get_project(user, slug)
    supervises = Role.SUPERVISOR in project.roles  # type: ignore[attr-defined]
    people = available(project=project, annotator=None if supervises else user)
    first = people[0].annotator if people else user
    annotator = get_annotator(user, project, request.GET.get("annotator") or first.username)
    rows = exportable(project=project, annotator=annotator).select_related("dialogue")
    context = {
        "project": project,
        "supervises": supervises,
        "people": people,
        "annotator": annotator,
        "own": annotator == user,
        "answers": bool(project.roles & ANSWERING),  # type: ignore[attr-defined]
        "written": request.GET.get("values") == WRITTEN,
        "page": page_of(request, rows.annotate(label_count=Count("labels"))),
    }
    if supervises:
        gold = list(gold_sets(project=project).select_related("dialogue").annotate(label_count=Count("labels")))
        made_here = sum(bool(row.sources.get("label_sets")) for row in gold)
        context |= {
            "gold": gold,
            "gold_done": sum(row.status in FINISHED for row in gold),
            "gold_made": made_here,
            "gold_imported": len(gold) - made_here,
        }
        context["empty"] = not people and not project.dialogues.open().exists()
        made = ExportJob.objects.filter(project=project).select_related("created_by").defer("report")
        figures = {"dialogues": F("report__dialogues"), "zip_bytes": F("report__zip_bytes")}
        context["jobs"] = made.annotate(**figures)[:JOBS_SHOWN]
    return render(request, "annotation/exports.html", context)


@csrf_exempt  # the token is checked by `_receive_labels`, once the body may be read
@require_http_methods(["GET", "HEAD", "POST"])
def labels_import(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """A portal file into a label set, by the annotator or a supervisor; the result says what was not understood."""
    label_set = get_label_set(person_of(request), pk, slug)
    if request.method != "POST":
        return _import_page(request, label_set)
    if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BYTES + FORM_BYTES:
        drain(request)
        error = f"The file is larger than {size_limit(MAX_BYTES)}, too large for the labels of one dialogue."
        return _import_page(request, label_set, status=TOO_LARGE, error=error)
    return _receive_labels(request, label_set)


@csrf_protect
def _receive_labels(request: HttpRequest, label_set: LabelSet) -> HttpResponse:
    upload: Any = request.FILES.get("file")
    if upload is None:
        return _import_page(request, label_set, status=UNPROCESSABLE, error="Choose a file.")
    try:
        done = portal_file_import(
            label_set=label_set,
            actor=person_of(request),
            data=upload.read(),
            file=upload.name or "the file",
            key=str(uuid.uuid4()),
            replace_others=request.POST.get("replace") == "1",
        )
    except HasLabels as refusal:
        error = f"{refusal.message} Tick it below and choose the file again."
        return _import_page(request, label_set, status=CONFLICT, error=error, offer_replace=True)
    except UnreadableLabels as refusal:
        notices = refusal.notices
        return _import_page(request, label_set, status=UNPROCESSABLE, notices=notices[:ERRORS_SHOWN], more=len(notices))
    except Refused as refusal:
        return _import_page(request, label_set, status=UNPROCESSABLE, error=refusal.message)
    return _import_page(request, label_set, done=done, file=upload.name)


def _import_page(request: HttpRequest, label_set: LabelSet, *, status: int = 200, **context: Any) -> HttpResponse:
    context |= {
        "project": label_set.dialogue.project,
        "label_set": label_set,
        "own": label_set.annotator_id == person_of(request).pk,
        "editable": Status(label_set.status).editable,
        "archived": label_set.dialogue.archived_at or label_set.dialogue.project.archived_at,
        "limit": size_limit(MAX_BYTES),
        "label_count": label_set.labels.count(),
        "shown": REMARKS_SHOWN,
    }
    return render(request, "annotation/labels_import.html", context, status=status)


def _attachment(name: str) -> str:
    return content_disposition_header(as_attachment=True, filename=name) or "attachment"
