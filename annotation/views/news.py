"""What the workbench is told while it is open: concerns and their answers, questions that came back, new guidelines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET, require_POST
from rest_framework.exceptions import ParseError

from annotation.access import get_label_set, get_own_label_set
from annotation.api.parsers import json_from
from annotation.models import Concern, ConcernStatus, GuidelineNote, LabelSet, Project
from annotation.services.concerns import concern_close, concern_raise
from annotation.services.errors import Refused
from annotation.services.returned_items import open_items
from annotation.views.requests import person_of


@require_GET
def news(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    return JsonResponse(news_of(get_label_set(person_of(request), pk, slug)))


def news_of(label_set: LabelSet) -> dict[str, Any]:
    """Only of this label set, and without anybody's name: who else asks, or who answers, is nobody's business."""
    return {
        "status": label_set.status,
        "concerns": _concerns(label_set),
        "returned": [
            {"position": item.utterance.position, "label": item.label_id, "question": item.question}
            for item in open_items(label_set).select_related("utterance")
        ],
        "notes": notes_as_json(label_set.dialogue.project),
    }


def notes_as_json(project: Project) -> list[dict[str, str]]:
    rows = GuidelineNote.objects.filter(project=project, withdrawn_at=None)
    return [{"intent": row.intent, "slot": row.slot, "text": row.text, "example": row.example} for row in rows]


def _concerns(label_set: LabelSet) -> list[dict[str, Any]]:
    rows: Iterable[Concern] = (
        Concern.objects.filter(label_set=label_set)
        .select_related("utterance")
        .prefetch_related("answers")
        .order_by("created_at", "pk")
    )
    return [
        {
            "id": row.pk,
            "position": row.utterance.position,
            "label": row.label_id,
            "text": row.text,
            "status": row.status,
            "answers": [answer.text for answer in row.answers.all()],
        }
        for row in rows
    ]


@require_POST
def raise_concern(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """`{key, position, label, text}`; `label` is "" for a question about the utterance. Answers with the news."""
    user = person_of(request)
    label_set = get_own_label_set(user, pk, slug)

    def write(data: dict[str, Any]) -> None:
        concern_raise(
            label_set=label_set,
            actor=user,
            position=_number(data, "position"),
            text=_text(data, "text"),
            label_id=_text(data, "label"),
            key=_text(data, "key"),
        )

    return _answer(request, label_set, write)


@require_POST
def close_concern(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """`{concern}`: the annotator has read the answer, or asks no more. Answers with the news."""
    label_set = get_own_label_set(person_of(request), pk, slug)
    return _answer(request, label_set, lambda data: _close(label_set, _number(data, "concern")))


def _close(label_set: LabelSet, number: int) -> None:
    found = Concern.objects.filter(label_set=label_set, pk=number).first()
    if found is None:
        raise Refused("This dialogue has no such question.", field="concern")
    found.label_set = label_set
    if found.status != ConcernStatus.CLOSED:
        concern_close(concern=found)


def _answer(request: HttpRequest, label_set: LabelSet, write: Callable[[dict[str, Any]], None]) -> HttpResponse:
    """Carry out a write and say the news, or in one sentence why not."""
    try:
        data = json_from(request.body)
        write(data if isinstance(data, dict) else {})
    except ParseError as error:
        return _refused(str(error.detail))
    except Refused as error:
        return _refused(error.message, error.field)
    return JsonResponse(news_of(label_set))


def _number(data: dict[str, Any], name: str) -> int:
    value = data.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise Refused(f"“{name}” must be a whole number.", field=name)
    return value


def _text(data: dict[str, Any], name: str) -> str:
    value = data.get(name, "")
    if not isinstance(value, str):
        raise Refused(f"“{name}” must be a text.", field=name)
    return value


def _refused(message: str, field: str = "") -> JsonResponse:
    return JsonResponse({"error": {"message": message, "field": field}}, status=400)
