"""The annotator's way to real work: training, the test, and what came of it. Attempts as supervisors read them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.access import ANNOTATOR, SUPERVISOR, get_attempt, get_project
from annotation.domain.wording import label_text
from annotation.models import Feedback, LabelSet, Role, TestAttempt
from annotation.services.errors import Refused
from annotation.services.qualification import (
    attempt_hand_in,
    attempt_label_sets,
    attempt_start,
    feedback_write,
    gold_of,
    training_start,
)
from annotation.services.readings import reading_of
from annotation.views.qualified import add_attempt_progress, steps_of, with_figures
from annotation.views.requests import numbered_texts, person_of, whole_numbers


@require_safe
def qualification(request: HttpRequest, slug: str) -> HttpResponse:
    """What there is to do before real work, and how far one is."""
    user = person_of(request)
    project = get_project(user, slug, ANNOTATOR)
    steps = steps_of(project, user)
    for attempt in steps.attempts:
        with_figures(attempt)
    return render(request, "annotation/qualification.html", {"project": project, "steps": steps})


@require_POST
def training_start_view(request: HttpRequest, slug: str) -> HttpResponse:
    user = person_of(request)
    project = get_project(user, slug, ANNOTATOR)
    try:
        rows = training_start(project=project, annotator=user)
    except Refused as refusal:
        messages.error(request, refusal.message)
        return redirect("qualification", slug)
    return redirect("workbench", slug, rows[0].pk) if len(rows) == 1 else redirect("qualification", slug)


@require_POST
def test_start_view(request: HttpRequest, slug: str) -> HttpResponse:
    user = person_of(request)
    project = get_project(user, slug, ANNOTATOR)
    try:
        attempt = attempt_start(project=project, annotator=user)
    except Refused as refusal:
        messages.error(request, refusal.message)
    else:
        messages.info(request, f"Attempt {attempt.number} has begun. Label its dialogues, then hand it in.")
    return redirect("qualification", slug)


@require_POST
def attempt_hand_in_view(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The end of a test, by the person who takes it."""
    user = person_of(request)
    attempt = get_attempt(user, slug, pk)
    if attempt.annotator_id != user.pk:
        raise PermissionDenied("Only the person who takes a test can hand it in.")
    try:
        attempt_hand_in(attempt=attempt)
    except Refused as refusal:
        messages.error(request, refusal.message)
        return redirect("qualification", slug)
    return redirect("attempt", slug, pk)


@require_safe
def attempt(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """A test that was handed in. Supervisors see it beside the gold; the person who took it never sees the gold, since
    the test may be taken again and by others."""
    user = person_of(request)
    found = with_figures(get_attempt(user, slug, pk))
    reads_gold = Role.SUPERVISOR in found.project.roles and found.annotator_id != user.pk  # type: ignore[attr-defined]
    if found.submitted_at is None and not reads_gold:
        return redirect("qualification", slug)
    context = {"project": found.project, "attempt": found, "reviews": reads_gold, "show": request.GET.get("show", "")}
    if found.submitted_at is None:
        context["sets"] = add_attempt_progress(found)
    elif reads_gold:
        context["dialogues"] = [_review(found, row, person_of(request).pk) for row in attempt_label_sets(found)]
        context["left_out"] = found.scores["total"] - found.scores["answered"]
    else:
        context["dialogues"] = [_result(row) for row in attempt_label_sets(found)]
        context["said"] = Feedback.objects.filter(label_set__in=attempt_label_sets(found)).exists()
    return render(request, "annotation/attempt.html", context)


def _said(label_set: LabelSet) -> dict[int, list[Feedback]]:
    """What supervisors say, by position."""
    found: dict[int, list[Feedback]] = {}
    for row in Feedback.objects.filter(label_set=label_set).select_related("author", "utterance"):
        found.setdefault(row.utterance.position, []).append(row)
    return found


def _result(label_set: LabelSet) -> dict[str, Any]:
    """A dialogue as the person who took the test sees it: their own labels, and what was said about them."""
    questionnaire = label_set.dialogue.project.questionnaire
    reading = reading_of(label_set)
    labels, said = reading.by_position(), _said(label_set)
    rows = [
        {
            "turn": turn,
            "labels": [label_text(questionnaire, label) for label in labels[turn.position]],
            "said": said.get(turn.position, []),
        }
        for turn in reading.utterances
    ]
    return {"label_set": label_set, "rows": rows}


def _review(attempt: TestAttempt, label_set: LabelSet, author: int) -> dict[str, Any]:
    """A dialogue as a supervisor sees it: gold and labels in step, with the differences as they were scored."""
    questionnaire = label_set.dialogue.project.questionnaire
    reading, gold = reading_of(label_set), gold_of(label_set.dialogue_id, label_set.purpose)
    theirs, golds = reading.by_position(), reading_of(gold).by_position() if gold else {}
    name = label_set.dialogue.external_id
    scored = {item["position"]: item for item in attempt.scores["feedback"] if item["dialogue"] == name}
    said = _said(label_set)
    rows = [
        {
            "turn": turn,
            "gold": [label_text(questionnaire, label) for label in golds.get(turn.position, ())],
            "labels": [label_text(questionnaire, label) for label in theirs[turn.position]],
            "scored": scored.get(turn.position),
            "mine": next((row.text for row in said.get(turn.position, []) if row.author_id == author), ""),
            "others": [row for row in said.get(turn.position, []) if row.author_id != author],
        }
        for turn in reading.utterances
    ]
    changed = bool(gold and attempt.submitted_at and gold.changed_at > attempt.submitted_at)
    return {"label_set": label_set, "rows": rows, "gold_changed": changed}


@require_POST
def attempt_feedback(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """What a supervisor says about utterances of one dialogue: `f<position>`, and `set` names the dialogue."""
    user = person_of(request)
    found = get_attempt(user, slug, pk)
    if not SUPERVISOR & found.project.roles:  # type: ignore[attr-defined]
        raise PermissionDenied("Only a supervisor of this project can give feedback on a test.")
    chosen = whole_numbers(request.POST.getlist("set"))
    label_set = next((row for row in attempt_label_sets(found) if row.pk in chosen), None)
    if label_set is None:
        raise Http404
    texts = numbered_texts(request, "f")
    try:
        changed = feedback_write(attempt=found, label_set=label_set, author=user, texts=texts)
    except Refused as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(
            request, f"Feedback on {changed} utterance{'' if changed == 1 else 's'} of {label_set.dialogue} saved."
        )
    return redirect("attempt", slug, pk)
