"""Exports for researchers: what would be missing, options, progress, result, download. Only supervisors get here."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from annotation.access import SUPERVISOR, get_export_job, get_project
from annotation.domain.splits import Candidate, Shares, commonest_specialty
from annotation.forms.exports import DRAWING, ExportForm, SourceForm
from annotation.models import ExportJob, JobStatus, Project, User
from annotation.services.errors import Refused
from annotation.services.evaluation_exports import evaluations_against
from annotation.services.export_jobs import (
    export_job_cancel,
    export_job_create,
    export_job_delete,
    export_job_retry,
    export_name,
    may_retry,
    stalled,
)
from annotation.services.export_readings import GOLD, ExportOptions, candidates_of, parts_of, real_work, splits_of
from annotation.services.export_storage import export_path
from annotation.services.preflight import Item, Lack, Preflight, drawing_of, empty_splits, preflight, split_counts
from annotation.services.workers import worker_connected
from annotation.templatetags.way_back import from_export
from annotation.views.requests import person_of

UNPROCESSABLE = 422
ITEMS_SHOWN = 200
DELETION = (
    "The zip is deleted from the portal for good. What was exported, when and by whom, and the SHA-256 of the zip and "
    "of its manifest stay on record. The labels stay too."
)
# What is said of a kind of lack: of one, of several, where it is mended as a whole, and the name of that page.
LACKS = {
    Lack.DAMAGED: ("dialogue cannot be read", "dialogues cannot be read", "project", "Overview"),
    Lack.NOT_GOLD: ("dialogue has no finished gold", "dialogues have no finished gold", "adjudication", "Adjudication"),
    Lack.NOT_DONE: ("dialogue is not done", "dialogues are not done", "project", "Overview"),
    Lack.INCOMPLETE: ("label is incomplete", "labels are incomplete", "completeness", "Completeness"),
    Lack.NO_CONCEPT: ("value without a concept", "values without a concept", "concepts", "Concepts"),
    Lack.UNLABELLED: ("utterance has no label", "utterances have no label", "completeness", "Completeness"),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """One kind of lack on the page: a sentence, the page that mends it, and the first ones with their addresses."""

    count: int
    sentence: str
    url: str
    page: str
    items: list[tuple[str, Item]]


@require_http_methods(["GET", "HEAD", "POST"])
def export_new(request: HttpRequest, slug: str) -> HttpResponse:
    """What would be exported and what would be missing; a POST makes the export."""
    user = person_of(request)
    project = get_project(user, slug, SUPERVISOR)
    given = request.POST if request.method == "POST" else request.GET
    people = User.objects.filter(pk__in=real_work(project).order_by().values("annotator")).order_by("username")
    source = SourceForm(given if "source" in given else {"source": GOLD}, people=list(people))
    chosen = source.chosen()
    form = _form(request, project, ExportOptions(**chosen))
    if request.method == "POST" and source.is_valid() and form.is_valid():
        try:
            job = export_job_create(project=project, actor=user, options=form.options(**chosen))
        except Refused as refusal:
            form.refuse(refusal)
        else:
            return redirect("export", slug=slug, pk=job.pk)
    drawing = form.drawing()
    found = preflight(project=project, options=ExportOptions(**chosen, **drawing))
    context = {
        "project": project,
        "source": source,
        "form": form,
        "found": found,
        "lacks": _shown(project, found, source),
        "shown": ITEMS_SHOWN,
        "splits": found.splits,
        "drawn_said": empty_splits(found.splits, drawing.get("shares", Shares()), found.drawing),
    }
    status = UNPROCESSABLE if request.method == "POST" else 200
    return render(request, "annotation/export_new.html", context, status=status)


@require_GET
def splits(request: HttpRequest, slug: str) -> HttpResponse:
    """What the options would draw, while they are being chosen; what is wrong with them is said in words."""
    project = get_project(person_of(request), slug, SUPERVISOR)
    people = User.objects.filter(pk__in=real_work(project).order_by().values("annotator")).order_by("username")
    chosen = SourceForm(request.GET if "source" in request.GET else {"source": GOLD}, people=list(people)).chosen()
    candidates = _candidates(project, ExportOptions(**chosen))
    form = ExportForm(request.GET, specialties=_specialties(candidates))
    drawing = form.drawing()
    refused = [form[name] for name in DRAWING if form.errors.get(name)]
    wrong = [f"{one.label}: {' '.join(map(str, one.errors))}" for one in refused]
    context: dict[str, Any] = {"wrong": bool(wrong), "drawn_said": wrong}
    if not wrong:
        options = ExportOptions(**chosen, **drawing)
        parts = parts_of(project, options)
        found = splits_of(project, parts, options)
        context["splits"] = split_counts(found, found)
        context["drawn_said"] = empty_splits(context["splits"], options.shares, drawing_of(project, parts, options))
    return render(request, "annotation/_export_drawn.html", context)


def _candidates(project: Project, options: ExportOptions) -> list[Candidate]:
    try:
        return candidates_of(project, parts_of(project, options))
    except Refused:
        return []


def _specialties(candidates: Iterable[Candidate]) -> list[str]:
    return sorted({one.specialty for one in candidates if one.specialty})


def _form(request: HttpRequest, project: Project, options: ExportOptions) -> ExportForm:
    """The options; within the domain is the commonest specialty until somebody says otherwise."""
    candidates = _candidates(project, options)
    initial = {
        "formats": [one.value for one in options.formats],
        "random_seed": options.random_seed,
        "shares": str(Shares()),
        "specialties": commonest_specialty(candidates),
        "title": project.name,
    }
    given = request.POST if request.method == "POST" else None
    return ExportForm(given, initial=initial, specialties=_specialties(candidates))


def _shown(project: Project, found: Preflight, source: SourceForm) -> list[Shown]:
    asked = {name: str(source[name].value()) for name in ("source", "unfinished") if source[name].value()}
    gold, back, shown = asked["source"] == GOLD, from_export(asked), []
    for kind, items in found.lacks.items():
        if items:
            one, several, route, page = LACKS[kind]
            query = {"status": "open"} if kind is Lack.NO_CONCEPT else {}
            if gold and kind not in (Lack.NO_CONCEPT, Lack.DAMAGED):
                route, page, query = _where_gold_is_mended(kind, items)
            dialogues = len({item.dialogue.pk for item in items})
            sentence = one if len(items) == 1 else several
            if kind is Lack.NOT_DONE and dialogues < len(items):
                of = "1 dialogue" if dialogues == 1 else f"{dialogues} dialogues"
                sentence = f"readings of {of} are not done"
            first = [(_address(project, item, back), item) for item in items[:ITEMS_SHOWN]]
            address = f"{reverse(route, args=[project.slug])}?{urlencode({**query, **back})}"
            shown.append(Shown(len(items), sentence, address, page, first))
    return shown


def _where_gold_is_mended(kind: Lack, items: Iterable[Item]) -> tuple[str, str, dict[str, str]]:
    """The page where all that gold lacks is decided, its name, and what it is asked for: the queue of adjudication as
    far as the dialogues are in it. Imported gold never is; what nobody can decide on yet is not there yet."""
    if kind is Lack.NOT_GOLD:
        waits = any(item.decidable for item in items)
        return ("adjudication", "Adjudication", {}) if waits else ("dialogues", "Dialogues", {})
    queued = any(item.label_set and item.label_set.sources.get("label_sets") for item in items)
    return ("adjudication", "Adjudication", {"show": "all"}) if queued else ("exports", "Export", {})


def _address(project: Project, item: Item, back: dict[str, str]) -> str:
    """Where one thing is mended: the concepts for a value, adjudication for gold, the workbench for labels of a person,
    else the dialogue."""
    if item.value:
        return reverse("concepts", args=[project.slug]) + "?" + urlencode({"q": item.value, **back})
    place = f"?{urlencode(back)}" + ("" if item.position is None else f"#u{item.position}")
    if item.label_set is not None and item.label_set.annotator_id is not None:
        return reverse("workbench", args=[project.slug, item.label_set.pk]) + place
    route = "adjudicate" if item.decidable or item.label_set is not None else "dialogue"
    return reverse(route, args=[project.slug, item.dialogue.pk]) + place


@require_GET
def export_job(request: HttpRequest, slug: str, pk: uuid.UUID) -> HttpResponse:
    """One export: how far it is, or what it came to."""
    job = get_export_job(person_of(request), slug, pk)
    context = {
        **_progress_context(job),
        "report": job.report,
        "dialogues": sum(job.report.get("splits", {}).get("dialogues", {}).values()) or job.report.get("dialogues", 0),
        "options": job.options,
        "there": export_path(job).exists(),
        "deletion": " ".join(filter(None, [_hanging_on(job), DELETION])),
    }
    return render(request, "annotation/export.html", context)


def _hanging_on(job: ExportJob) -> str:
    """Which evaluations have the export as their gold, and what becomes of them without its files."""
    scored = evaluations_against(job)
    if not scored:
        return ""
    said = "1 evaluation is" if scored == 1 else f"{scored:,} evaluations are"
    keeps = "it keeps its scores" if scored == 1 else "they keep their scores"
    return f"{said} scored against this export. Without its files {keeps}, but can only be scored again on other gold."


@require_GET
def progress(request: HttpRequest, slug: str, pk: uuid.UUID) -> HttpResponse:
    """How far a job is; asked for again and again until it is over, when the whole page is loaded once more."""
    job = get_export_job(person_of(request), slug, pk)
    response = render(request, "annotation/_export_progress.html", _progress_context(job))
    if not JobStatus(job.status).active:
        response["HX-Refresh"] = "true"
    return response


def _progress_context(job: ExportJob) -> dict[str, Any]:
    active = JobStatus(job.status).active
    return {
        "project": job.project,
        "job": job,
        "active": active,
        "stalled": stalled(job),
        "may_retry": may_retry(job),
        "worker_missing": active and not worker_connected(),
    }


@require_safe
def download(request: HttpRequest, slug: str, pk: uuid.UUID) -> HttpResponseBase:
    """The zip of an export that is done."""
    job = get_export_job(person_of(request), slug, pk)
    try:
        stream = export_path(job).open("rb")
    except FileNotFoundError:
        messages.error(request, "There is no file to download: the export is not done, or its file was deleted.")
        return redirect("export", slug=slug, pk=pk)
    return FileResponse(stream, as_attachment=True, filename=f"{export_name(job)}.zip", content_type="application/zip")


def _act(request: HttpRequest, slug: str, pk: uuid.UUID, action: Callable[[ExportJob], None]) -> HttpResponse:
    job = get_export_job(person_of(request), slug, pk)
    try:
        action(job)
    except Refused as refusal:
        messages.error(request, refusal.message)
    return redirect("export", slug=slug, pk=pk)


@require_POST
def cancel(request: HttpRequest, slug: str, pk: uuid.UUID) -> HttpResponse:
    return _act(request, slug, pk, lambda job: export_job_cancel(job=job))


@require_POST
def retry(request: HttpRequest, slug: str, pk: uuid.UUID) -> HttpResponse:
    return _act(request, slug, pk, lambda job: export_job_retry(job=job))


@require_POST
def delete(request: HttpRequest, slug: str, pk: uuid.UUID) -> HttpResponse:
    job = get_export_job(person_of(request), slug, pk)
    try:
        export_job_delete(job=job, actor=person_of(request))
    except Refused as refusal:
        messages.error(request, refusal.message)
        return redirect("export", slug=slug, pk=pk)
    if job.status == JobStatus.DONE:
        messages.success(request, f"The files of this export were deleted. {_hanging_on(job)}".strip())
        return redirect("export", slug=slug, pk=pk)
    messages.success(request, "The export was deleted.")
    return redirect("exports", slug=slug)
