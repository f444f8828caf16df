"""Concerns: the list that updates by itself, and one concern with its answers and what was published of it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import BooleanField, Count, Max, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.access import ANSWERING, get_concern, get_guideline_note, get_project, labels_dialogue
from annotation.domain.wording import label_text
from annotation.forms.concerns import AnswerForm, PublishForm
from annotation.models import Concern, ConcernMessage, ConcernStatus, Label, Project, Role, User
from annotation.services.concerns import concern_answer, concern_close, concern_publish
from annotation.services.errors import Refused
from annotation.services.guideline_notes import guideline_note_withdraw
from annotation.services.readings import reading_of
from annotation.views.guidelines import note_anchor
from annotation.views.requests import page_of, person_of, whole_numbers

_SHOWN = {**{status.value: [status] for status in ConcernStatus}, "all": list(ConcernStatus)}
_AROUND = 3  # utterances shown before and after the one a concern is about


@require_safe
def concerns(request: HttpRequest, slug: str) -> HttpResponse:
    """The list. Asked with the stamp of what is shown, it answers 204 when nothing has changed."""
    user = person_of(request)
    project = get_project(user, slug, ANSWERING)
    rows = Concern.objects.filter(label_set__dialogue__project=project).readable_by(user, project.roles)  # type: ignore[attr-defined]
    stamp = _stamp(rows)
    if request.GET.get("stamp") == stamp:
        return HttpResponse(status=204)
    show = request.GET.get("show", "open")
    show = show if show in _SHOWN else "open"
    found = rows.filter(status__in=_SHOWN[show]).select_related("label_set__dialogue", "utterance", "raised_by")
    page = page_of(request, _with_messages(found).order_by("-created_at", "-pk"))
    page.query = f"show={show}"  # type: ignore[attr-defined]
    context = {
        "project": project,
        "page": page,
        "show": show,
        "stamp": stamp,
        "counts": _counts(rows),
        "supervises": Role.SUPERVISOR in project.roles,  # type: ignore[attr-defined]
    }
    template = "_concerns" if request.htmx else "concerns"  # type: ignore[attr-defined]
    return render(request, f"annotation/{template}.html", context)


def _with_messages(rows: QuerySet[Concern]) -> QuerySet[Concern]:
    """Adds `message_count`, and `replied`: whether its annotator had the last word."""
    newest = ConcernMessage.objects.filter(concern=OuterRef("pk")).order_by("-created_at", "-pk")
    return rows.annotate(
        message_count=Count("messages"), replied=Subquery(newest.values("is_reply")[:1], output_field=BooleanField())
    )


def _stamp(rows: QuerySet[Concern]) -> str:
    """Other whenever a concern is raised, answered, replied to, closed or published."""
    found = rows.aggregate(number=Count("pk"), newest=Max("changed_at"))
    newest = found["newest"]
    return f"{found['number']}-{newest.timestamp() if newest else 0}"


def _counts(rows: QuerySet[Concern]) -> list[tuple[str, int]]:
    by_status = dict(rows.order_by().values_list("status").annotate(Count("pk")))
    counts = [(status.value, by_status.get(status.value, 0)) for status in ConcernStatus]
    return [*counts, ("all", sum(number for _, number in counts))]


@require_safe
def concern(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The page. Its thread updates by itself: asked with the stamp of what is shown, it answers 204 without news."""
    found = get_concern(person_of(request), slug, pk)
    if not request.htmx:  # type: ignore[attr-defined]
        return _page(request, found)
    if request.GET.get("stamp") == _thread_stamp(found):
        return HttpResponse(status=204)
    return render(request, "annotation/_concern_thread.html", {**_thread(found), "live": True})


def _thread(found: Concern) -> dict[str, Any]:
    project = found.label_set.dialogue.project
    return {
        "project": project,
        "concern": found,
        "stamp": _thread_stamp(found),
        "thread": list(found.messages.select_related("author")),
        "supervises": Role.SUPERVISOR in project.roles,  # type: ignore[attr-defined]
        "archived": bool(project.archived_at or found.label_set.dialogue.archived_at),
    }


def _thread_stamp(found: Concern) -> str:
    return f"{found.status}-{found.changed_at.timestamp()}"


def _page(
    request: HttpRequest, found: Concern, *, answer: AnswerForm | None = None, publish: PublishForm | None = None
) -> HttpResponse:
    project = found.label_set.dialogue.project
    label = _label_of(found)
    shown = _thread(found)
    answers = [message for message in shown["thread"] if not message.is_reply]
    note = found.notes.filter(withdrawn_at=None).select_related("author").first()
    start = {"guideline": answers[-1].text if answers else ""}
    if label:
        start |= {"intent": label.intent, "slot": label.slot}
    context = {
        **shown,
        "label": label_text(project.questionnaire, label.as_data(found.utterance.position)) if label else "",
        "labels": _labels_there(found, person_of(request)),
        "turns": _turns(project, found),
        "answers": answers,
        "note": note,
        "note_at": note_anchor(note.intent, note.slot) if note else "",
        "answer_form": answer or AnswerForm(),
        "publish_form": publish or PublishForm(project.questionnaire, initial=start),
    }
    return render(request, "annotation/concern.html", context, status=422 if answer or publish else 200)


def _label_of(found: Concern) -> Label | None:
    return Label.objects.filter(pk=found.label_id, label_set=found.label_set_id).first() if found.label_id else None


def _labels_there(found: Concern, user: User) -> list[str] | None:
    """The asker's labels of the utterance in words, for a supervisor, who may open them all; None for everybody else,
    and for one who labels the dialogue too."""
    dialogue = found.label_set.dialogue
    supervises = Role.SUPERVISOR in dialogue.project.roles  # type: ignore[attr-defined]
    if not supervises or labels_dialogue(user).filter(dialogue=dialogue).exists():
        return None
    labels = reading_of(found.label_set).labels_at(found.utterance.position)
    return [label_text(dialogue.project.questionnaire, label) for label in labels]


def _turns(project: Project, found: Concern) -> list[dict[str, Any]]:
    """The utterance with what was said before and after it."""
    position = found.utterance.position
    rows = found.label_set.dialogue.utterances.filter(
        position__gte=position - _AROUND, position__lte=position + _AROUND
    ).order_by("position")
    return [
        {"row": row, "speaker": project.questionnaire.speaker(row.speaker), "here": row.position == position}
        for row in rows
    ]


@require_POST
def concern_answer_view(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    user = person_of(request)
    found = get_concern(user, slug, pk)
    form = AnswerForm(request.POST)
    if form.is_valid():
        try:
            concern_answer(concern=found, actor=user, text=form.cleaned_data["text"])
        except Refused as refusal:
            form.refuse(refusal)
        else:
            messages.success(request, "Answered. The annotator sees it under the utterance.")
            return redirect("concern", slug, pk)
    return _page(request, found, answer=form)


@require_POST
def concern_close_view(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = get_concern(person_of(request), slug, pk)
    try:
        concern_close(concern=found, seen=next(iter(whole_numbers(request.POST.getlist("seen"))), None))
    except Refused as refusal:
        messages.error(request, refusal.message)
        return redirect("concern", slug, pk)
    messages.success(request, "Closed. An answer opens it again.")
    return redirect("concerns", slug)


@require_POST
def concern_publish_view(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    user = person_of(request)
    found = get_concern(user, slug, pk)
    form = PublishForm(found.label_set.dialogue.project.questionnaire, request.POST)
    if form.is_valid():
        given = form.cleaned_data
        try:
            concern_publish(
                concern=found,
                actor=user,
                text=given["guideline"],
                intent=given["intent"],
                slot=given["slot"],
                example=given["example"],
            )
        except Refused as refusal:
            form.refuse(refusal)
        else:
            messages.success(request, "Published: it stands in the guidelines and in every workbench of the project.")
            return redirect("concern", slug, pk)
    return _page(request, found, publish=form)


@require_POST
def guideline_note_withdraw_view(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    note = get_guideline_note(person_of(request), slug, pk)
    guideline_note_withdraw(note=note)
    messages.success(request, "The note is out of the guidelines.")
    return redirect("guidelines", slug)
