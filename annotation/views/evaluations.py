"""Models compared with the gold: upload predictions, systems side by side, and each system for itself."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from itertools import combinations
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import TooManyFilesSent
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.dateparse import parse_datetime
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from annotation.access import get_evaluation, get_researched
from annotation.forms.evaluations import TASKS, AgainForm, EvaluationForm
from annotation.models import Evaluation, EvaluationTask, JobStatus, Project
from annotation.services.errors import Refused
from annotation.services.evaluation_exports import exports_to_choose, gold_exports
from annotation.services.evaluation_gold import GoldChoice, gold_sets
from annotation.services.evaluations import (
    evaluation_again,
    evaluation_cancel,
    evaluation_create,
    evaluation_delete,
    evaluation_folder,
    evaluation_folder_tidy,
    gold_has_changed,
    may_run_again,
    outdated,
    predictions_path,
    stalled,
)
from annotation.services.workers import worker_connected
from annotation.uploads import FIELD, BoundedUploadHandler, drain, size_limit
from annotation.views.evaluation_alike import Unlike, unlike
from annotation.views.evaluation_errors import errors_page
from annotation.views.evaluation_tables import (
    NO_INTERVAL,
    attribute_rows,
    headline_tables,
    interval_notes,
    lacks_interval,
    slot_rows,
)
from annotation.views.requests import page_of, person_of

TOO_LARGE = 413
UNPROCESSABLE = 422
SIDE_BY_SIDE = 4
PROBLEMS_SHOWN = 100
EXAMPLES = {
    EvaluationTask.NLU: '{"dialogue_id": "RES0001", "uttr_id": 3, "nlu": [{"intent": "inform", "slots": '
    '{"positive_symptom": [{"value": "coughing", "onset": "two weeks ago"}]}}]}',
    EvaluationTask.POL: '{"dialogue_id": "RES0001", "uttr_id": 2, "actions": [{"action": "inquire", "symptom": '
    '[{"value": "coughing", "checks": [{"type": "onset"}]}]}]}',
    EvaluationTask.NLG: '{"dialogue_id": "RES0001", "uttr_id": 2, "text": "When did the cough start?"}',
}


@csrf_exempt  # the token is checked by `_receive`, once the body may be read
@require_http_methods(["GET", "HEAD", "POST"])
def evaluations(request: HttpRequest, slug: str) -> HttpResponse:
    """The systems of a task side by side, and the form for another one. A POST receives a file and scores it."""
    project = get_researched(person_of(request), slug)
    if request.method != "POST":
        return _page(request, project)
    evaluation_id = uuid.uuid4()
    handler = BoundedUploadHandler(request, evaluation_folder(evaluation_id))
    if handler.refusal:
        drain(request)
        return _page(request, project, file_error=handler.refusal, status=TOO_LARGE)
    request.upload_handlers = [handler]
    try:
        return _receive(request, project, handler, evaluation_id)
    except TooManyFilesSent:
        return _page(request, project, file_error="Send one file at a time.", status=TOO_LARGE)
    finally:
        evaluation_folder_tidy(evaluation_id)


@csrf_protect
def _receive(
    request: HttpRequest, project: Project, handler: BoundedUploadHandler, evaluation_id: uuid.UUID
) -> HttpResponse:
    files: Any = request.FILES.getlist(FIELD)
    if handler.refusal:
        drain(request)
        form = _form(project, typed={name: value for name, value in request.POST.items() if isinstance(value, str)})
        return _page(request, project, form, handler.refusal, TOO_LARGE)
    form = _form(project, request.POST)
    if len(files) != 1:
        error = "Choose a file." if not files else "Send one file at a time; each is one system’s predictions."
        return _page(request, project, form, error, UNPROCESSABLE)
    if not form.is_valid():
        return _page(request, project, form, status=UNPROCESSABLE)
    try:
        made = evaluation_create(
            project=project,
            actor=person_of(request),
            stored=evaluation_folder(evaluation_id) / files[0].stored,
            file_name=files[0].name or "",
            evaluation_id=evaluation_id,
            **form.chosen(),
        )
    except Refused as refusal:
        if refusal.field == FIELD:
            return _page(request, project, form, refusal.message, UNPROCESSABLE)
        form.refuse(refusal)
        return _page(request, project, form, status=UNPROCESSABLE)
    return redirect("evaluation", slug=project.slug, pk=made.pk)


def _form(project: Project, data: Any = None, **options: Any) -> EvaluationForm:
    limit = size_limit(settings.PORTAL_MAX_FILE_BYTES)
    return EvaluationForm(data, exports=gold_exports(project), limit=limit, **options)


def _page(
    request: HttpRequest,
    project: Project,
    form: EvaluationForm | None = None,
    file_error: str = "",
    status: int = 200,
) -> HttpResponse:
    """The page; without a form with an empty one for the task that is shown."""
    rows = Evaluation.objects.filter(project=project).select_related("created_by", "project").defer("results")
    tasks = [task for task in EvaluationTask if any(row.task == task for row in rows)]
    asked = request.GET.get("task", "")
    task = EvaluationTask(asked) if asked in EvaluationTask.values else (tasks or [EvaluationTask.NLU])[0]
    form = form or _form(project, task=task)
    if file_error:
        form.refuse_file(file_error)
    page = page_of(request, rows.filter(task=task), 20)
    systems = _chosen(request, project, task)
    old = outdated([*page, *systems])
    apart = unlike(systems, old)
    context = {
        "project": project,
        "form": form,
        "gold": _gold_count(project),
        "examples": [(one, TASKS[one], text) for one, text in EXAMPLES.items()],
        "tasks": [(one, TASKS[one], sum(row.task == one for row in rows)) for one in tasks],
        "task": task,
        "page": page,
        "outdated": old,
        "systems": systems,
        "pairs": list(combinations(systems, 2)),
        "chosen": {one.pk for one in systems},
        "generation": task is EvaluationTask.NLG,
        "apart": apart,
    }
    if systems:
        context |= _tables(systems, apart)
    return render(request, "annotation/evaluations.html", context, status=status)


def _chosen(request: HttpRequest, project: Project, task: EvaluationTask) -> list[Evaluation]:
    """The systems that `?system=` names, or the newest; the oldest of them first, as they were made."""
    rows = Evaluation.objects.filter(project=project, task=task, status=JobStatus.DONE)
    named = set(request.GET.getlist("system"))
    wanted = [row for row in rows.defer("results") if str(row.pk) in named]
    keys = [row.pk for row in (wanted or rows.defer("results"))[:SIDE_BY_SIDE]]
    return list(rows.filter(pk__in=keys).select_related("project").order_by("created_at"))


def _tables(systems: list[Evaluation], apart: Unlike | None = None) -> dict[str, Any]:
    """The scores of systems of one task, and what is to be said of their intervals."""
    headlines = headline_tables(systems, apart)
    if systems[0].task == EvaluationTask.NLG:
        return {"headlines": headlines}
    by_slot, by_attribute = slot_rows(systems, apart), attribute_rows(systems, apart)
    return {
        "headlines": headlines,
        "by_slot": by_slot,
        "by_attribute": by_attribute,
        "interval_notes": interval_notes(systems),
        "no_interval": NO_INTERVAL if lacks_interval(headlines, by_slot, by_attribute) else "",
    }


def _gold_count(project: Project) -> int:
    try:
        return len(gold_sets(project=project, choice=GoldChoice()))
    except Refused:
        return 0


@require_GET
def evaluation(request: HttpRequest, slug: str, pk: uuid.UUID) -> HttpResponse:
    """One system: how far its scoring is, or its scores and the utterances where it errs."""
    found = get_evaluation(person_of(request), slug, pk)
    context = _progress_context(found)
    if found.status == JobStatus.DONE:
        problems = found.results["problems"]
        counts = found.results["predictions"]
        context |= errors_page(request, found)
        context |= {
            **_tables([found]),
            "systems": [found],
            "problems": problems[:PROBLEMS_SHOWN],
            "problem_count": counts["malformed"] + counts["repeated"] + counts["unknown"],
            "changed": gold_has_changed(found),
            "malformed": counts["malformed"],
            "gold_made": parse_datetime(found.gold.get("export", {}).get("created_at", "")),
            "left_out": found.results["utterances"]["left_out"],
            "unpredicted": found.results.get("dialogues", {}),
            "generation": found.task == EvaluationTask.NLG,
        }
    if context["may_run_again"]:
        context["again"] = _again_form(found)
    return render(request, "annotation/evaluation.html", context)


@require_GET
def progress(request: HttpRequest, slug: str, pk: uuid.UUID) -> HttpResponse:
    """How far it is; asked for again and again until it is over, when the whole page is loaded once more."""
    found = get_evaluation(person_of(request), slug, pk)
    response = render(request, "annotation/_evaluation_progress.html", _progress_context(found))
    if not JobStatus(found.status).active:
        response["HX-Refresh"] = "true"
    return response


def _progress_context(found: Evaluation) -> dict[str, Any]:
    active = JobStatus(found.status).active
    return {
        "project": found.project,
        "evaluation": found,
        "task_text": TASKS[EvaluationTask(found.task)],
        "active": active,
        "stalled": stalled(found),
        "may_run_again": may_run_again(found),
        "worker_missing": active and not worker_connected(),
    }


@require_safe
def predictions(request: HttpRequest, slug: str, pk: uuid.UUID) -> HttpResponseBase:
    """The file as it was sent."""
    found = get_evaluation(person_of(request), slug, pk)
    try:
        stream = predictions_path(found.pk).open("rb")
    except FileNotFoundError:
        messages.error(request, "The file is not on the portal any more.")
        return redirect("evaluation", slug=slug, pk=pk)
    return FileResponse(stream, as_attachment=True, filename=found.file_name, content_type="application/jsonl")


def _act(request: HttpRequest, slug: str, pk: uuid.UUID, action: Callable[[Evaluation], None]) -> HttpResponse:
    found = get_evaluation(person_of(request), slug, pk)
    try:
        action(found)
    except Refused as refusal:
        messages.error(request, refusal.message)
    return redirect("evaluation", slug=slug, pk=pk)


@require_POST
def again(request: HttpRequest, slug: str, pk: uuid.UUID) -> HttpResponse:
    """Score the file once more; with a choice in the request as that says, otherwise as before."""

    def act(found: Evaluation) -> None:
        if "gold" not in request.POST:
            return evaluation_again(evaluation=found)
        form = _again_form(found, request.POST)
        if not form.is_valid():
            said = [f"{form[name].label}: {' '.join(map(str, found))}" for name, found in form.errors.items()]
            raise Refused(" ".join(said))
        return evaluation_again(evaluation=found, **form.scoring())

    return _act(request, slug, pk, act)


def _again_form(found: Evaluation, data: Any = None) -> AgainForm:
    exports = exports_to_choose(found.project, found.options.get("export", ""))
    return AgainForm(data, evaluation=found, exports=exports)


@require_POST
def cancel(request: HttpRequest, slug: str, pk: uuid.UUID) -> HttpResponse:
    def stop(found: Evaluation) -> None:
        evaluation_cancel(evaluation=found)
        if found.status == JobStatus.DONE:
            messages.success(request, "The scoring was stopped; these are the scores from before.")

    return _act(request, slug, pk, stop)


@require_POST
def delete(request: HttpRequest, slug: str, pk: uuid.UUID) -> HttpResponse:
    found = get_evaluation(person_of(request), slug, pk)
    evaluation_delete(evaluation=found)
    messages.success(request, f"The predictions of “{found.system}” and their scores were deleted.")
    return redirect("evaluations", slug=slug)
