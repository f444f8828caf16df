"""Training and test dialogues, their gold, and who may work: the supervisors' pages."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.access import SUPERVISOR, get_exam, get_project
from annotation.domain.wording import label_text
from annotation.forms.qualification import DecisionForm, ExamAddForm, ExamSettingsForm, WaiverForm
from annotation.models import ExamDialogue, ExamKind, Explanation, LabelSet, Owner, Project, User
from annotation.services.errors import Refused
from annotation.services.exams import (
    exam_add,
    exam_gold_copy,
    exam_gold_import,
    exam_move,
    exam_remove,
    exam_settings,
    explanations_import,
    explanations_of,
    explanations_write,
    gold_candidates,
)
from annotation.services.label_imports import MAX_BYTES, ImportedLabels, UnreadableLabels
from annotation.services.qualification import gold_of
from annotation.services.readings import reading_of
from annotation.services.work_gate import gate_of
from annotation.uploads import size_limit
from annotation.views.qualified import Qualified, annotators_of, decisions_of
from annotation.views.requests import numbered_texts, person_of, whole_numbers

UNPROCESSABLE = 422
ERRORS_SHOWN = 50
WARNINGS_SHOWN = 5


@require_safe
def exams(request: HttpRequest, slug: str) -> HttpResponse:
    return exams_page(request, get_project(person_of(request), slug, SUPERVISOR))


def exams_page(request: HttpRequest, project: Project, *, status: int = 200, **forms: Any) -> HttpResponse:
    """The overview; `forms` are those that were refused and show why."""
    settings = {"pass_mark": project.pass_mark, "attempt_limit": project.attempt_limit}
    rows = _exam_rows(project)
    annotators = annotators_of(project)
    context = {
        "project": project,
        "kinds": [
            {"kind": kind, "title": title, "rows": [row for row in rows if row.kind == kind]}
            for kind, title in ((ExamKind.TRAINING, "Training"), (ExamKind.TEST, "Test"))
        ],
        "settings_form": ExamSettingsForm(initial=settings),
        "add_form": ExamAddForm(project),
        "gate": gate_of(project),
        "training": sum(row.kind == ExamKind.TRAINING and row.takes_part for row in rows),
        "waiver_form": WaiverForm(auto_id="waiver_%s"),
        "override_form": DecisionForm(those_to_let_through(annotators)),
        "attempt_form": DecisionForm(those_without_attempts(annotators), auto_id="attempt_%s"),
        "annotators": annotators,
        "decisions": decisions_of(project),
        "dialogues": project.dialogues.open().exists(),
        **forms,
    }
    return render(request, "annotation/exams.html", context, status=status)


def _exam_rows(project: Project) -> list[Any]:
    """The exams with the numbers `gold_labels`, `gold_left` (utterances without any) and `explained`, and with
    `takes_part`, whether people are given them; in three queries."""
    rows: list[Any] = list(ExamDialogue.objects.filter(dialogue__project=project).select_related("dialogue"))
    gold = LabelSet.objects.filter(dialogue__project=project, owner=Owner.GOLD, purpose__in=ExamKind.values)
    counted: list[Any] = list(gold.annotate(label_count=Count("labels")).with_progress())
    labels = {(row.dialogue_id, row.purpose): row.label_count for row in counted}
    covered = {(row.dialogue_id, row.purpose): row.labelled_count for row in counted}
    texts = Explanation.objects.filter(utterance__dialogue__project=project).order_by()
    explained = dict(
        texts.values("utterance__dialogue").annotate(n=Count("pk")).values_list("utterance__dialogue", "n")
    )
    for row in rows:
        row.gold_labels = labels.get((row.dialogue_id, row.kind), 0)
        row.gold_left = row.dialogue.utterance_count - covered.get((row.dialogue_id, row.kind), 0)
        row.takes_part = bool(row.gold_labels and row.dialogue.archived_at is None)
        row.explained = explained.get(row.dialogue_id, 0)
    return rows


def those_to_let_through(annotators: list[Qualified]) -> list[User]:
    return [row.annotator for row in annotators if row.is_member and not row.passed and not row.override]


def those_without_attempts(annotators: list[Qualified]) -> list[User]:
    return [row.annotator for row in annotators if row.is_member and row.used_up]


@require_POST
def exams_settings(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project(person_of(request), slug, SUPERVISOR)
    form = ExamSettingsForm(request.POST)
    if form.is_valid():
        try:
            exam_settings(project=project, **form.cleaned_data)
        except Refused as refusal:
            form.refuse(refusal)
        else:
            messages.success(request, "Saved.")
            return redirect("exams", slug)
    return exams_page(request, project, status=UNPROCESSABLE, settings_form=form)


@require_POST
def exams_add(request: HttpRequest, slug: str) -> HttpResponse:
    user = person_of(request)
    project = get_project(user, slug, SUPERVISOR)
    form = ExamAddForm(project, request.POST)
    if form.is_valid():
        try:
            exam = exam_add(dialogue=form.cleaned_data["dialogue"], kind=form.cleaned_data["kind"], actor=user)
        except Refused as refusal:
            form.refuse(refusal)
        else:
            messages.success(request, f"{exam.dialogue} is a {exam.kind} dialogue now; give it its gold here.")
            return redirect("exam", slug, exam.pk)
    return exams_page(request, project, status=UNPROCESSABLE, add_form=form)


@require_POST
def exam_remove_view(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    exam = get_exam(person_of(request), slug, pk)
    try:
        exam_remove(exam=exam)
    except Refused as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, f"{exam.dialogue} is no {exam.kind} dialogue any more.")
    return redirect("exams", slug)


@require_POST
def exam_move_view(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    exam_move(exam=get_exam(person_of(request), slug, pk), by=-1 if request.POST.get("to") == "up" else 1)
    return redirect("exams", slug)


@require_safe
def exam(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    return _exam_page(request, get_exam(person_of(request), slug, pk))


def _exam_page(request: HttpRequest, exam: ExamDialogue, *, status: int = 200, **shown: Any) -> HttpResponse:
    """One dialogue: where its gold comes from, and why it is as it is."""
    project = exam.dialogue.project
    gold = gold_of(exam.dialogue_id, exam.kind)
    labels = reading_of(gold).by_position() if gold else {}
    texts = {**explanations_of(exam.dialogue), **shown.pop("typed", {})}
    context = {
        "project": project,
        "exam": exam,
        "gold": gold,
        "gold_count": sum(map(len, labels.values())),
        "gold_turns": sum(bool(found) for found in labels.values()),
        "unlabelled": [position for position, found in labels.items() if not found],
        "rows": [
            {
                "turn": turn,
                "gold": [label_text(project.questionnaire, label) for label in labels.get(turn.position, ())],
                "text": texts.get(turn.position, ""),
            }
            for turn in exam.dialogue.utterances.order_by("position")
        ],
        "explained": len(texts),
        "candidates": list(gold_candidates(exam)),
        "limit": size_limit(MAX_BYTES),
        **shown,
    }
    return render(request, "annotation/exam.html", context, status=status)


@require_POST
def exam_gold(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The gold from a portal file, or from another label set on the dialogue."""
    found = get_exam(person_of(request), slug, pk)
    field = "file" if "file" in request.FILES or "source" not in request.POST else "source"
    try:
        done = _import(request, found) if field == "file" else _copy(request, found)
    except UnreadableLabels as refusal:
        notices = refusal.notices
        shown = {"notices": notices[:ERRORS_SHOWN], "more": len(notices), "file_error": "The file was not imported."}
        return _exam_page(request, found, status=UNPROCESSABLE, **shown)
    except Refused as refusal:
        return _exam_page(request, found, status=UNPROCESSABLE, **{f"{field}_error": refusal.message})
    messages.success(request, f"The gold has {done.labels} label{'' if done.labels == 1 else 's'} now. {done.summary}")
    for sentence in [*done.unusual, *(unknown.message for unknown in done.unknown)][:WARNINGS_SHOWN]:
        messages.warning(request, sentence)
    return redirect("exam", slug, pk)


def _import(request: HttpRequest, exam: ExamDialogue) -> ImportedLabels:
    data, name = _uploaded(request)
    return exam_gold_import(exam=exam, actor=person_of(request), data=data, file=name, key=str(uuid.uuid4()))


def _copy(request: HttpRequest, exam: ExamDialogue) -> ImportedLabels:
    chosen = whole_numbers(request.POST.getlist("source"))
    source = gold_candidates(exam).filter(pk__in=chosen).first()
    if source is None:
        raise Refused("Choose one of the listed label sets.", field="source")
    return exam_gold_copy(exam=exam, source=source, actor=person_of(request), key=str(uuid.uuid4()))


def _uploaded(request: HttpRequest) -> tuple[bytes, str]:
    """The file that was sent, and what its sender calls it. Raises Refused where there is none, or it is too large."""
    upload: Any = request.FILES.get("file")
    if upload is None:
        raise Refused("Choose a file.", field="file")
    if upload.size > MAX_BYTES:
        raise Refused(f"The file is larger than {size_limit(MAX_BYTES)}.", field="file")
    return upload.read(), upload.name or "the file"


@require_POST
def exam_explanations(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Explanations as they were typed in (`u<position>`), or from a JSON file."""
    found = get_exam(person_of(request), slug, pk)
    typed = numbered_texts(request, "u")
    try:
        changed = _write_explanations(request, found, typed)
    except Refused as refusal:
        error = "why_error" if typed else "why_file_error"
        return _exam_page(request, found, status=UNPROCESSABLE, typed=typed, **{error: refusal.message})
    messages.success(request, f"{changed} explanation{'' if changed == 1 else 's'} changed.")
    return redirect("exam", slug, pk)


def _write_explanations(request: HttpRequest, exam: ExamDialogue, typed: dict[int, str]) -> int:
    if typed:
        return explanations_write(dialogue=exam.dialogue, texts=typed)
    data, name = _uploaded(request)
    return explanations_import(dialogue=exam.dialogue, data=data, file=name)
