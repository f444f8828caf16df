"""What the workbench is told while it is open: concerns and their answers, questions that came back, new guidelines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET, require_POST

from annotation.access import get_label_set, get_own_label_set
from annotation.models import Concern, ConcernStatus, GuidelineNote, LabelSet, Project
from annotation.services.concerns import concern_close, concern_raise, concern_reply
from annotation.services.errors import Refused
from annotation.services.returned_items import open_items
from annotation.views.requests import person_of
from annotation.views.writes import answer_write


@require_GET
def news(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    return JsonResponse(news_of(get_label_set(person_of(request), pk, slug)))


def news_of(label_set: LabelSet) -> dict[str, Any]:
    """Only of this label set, and without anybody's name: who else asks, or who answers, is nobody's business."""
    return {
        "status": label_set.status,
        "concerns": _concerns(label_set),
        "returned": [
            {
                "position": item.utterance.position,
                "label": item.label_id,
                "rule": item.rule,
                "question": item.question,
            }
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
        .prefetch_related("messages")
        .order_by("created_at", "pk")
    )
    return [
        {
            "id": row.pk,
            "position": row.utterance.position,
            "label": row.label_id,
            "text": row.text,
            "status": row.status,
            "messages": [{"own": message.is_reply, "text": message.text} for message in row.messages.all()],
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
    """`{concern, seen}`: the annotator has read its `seen` messages, or asks no more. Answers with the news."""
    label_set = get_own_label_set(person_of(request), pk, slug)
    return _answer(request, label_set, lambda data: _close(label_set, data))


def _close(label_set: LabelSet, data: dict[str, Any]) -> None:
    found = _concern(label_set, _number(data, "concern"))
    if found.status != ConcernStatus.CLOSED:
        concern_close(concern=found, seen=_number(data, "seen") if "seen" in data else None)


@require_POST
def reply_concern(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """`{key, concern, text}`: what the annotator says to the answer, or to a concern that was closed. Answers with the
    news."""
    user = person_of(request)
    label_set = get_own_label_set(user, pk, slug)

    def write(data: dict[str, Any]) -> None:
        concern_reply(
            concern=_concern(label_set, _number(data, "concern")),
            actor=user,
            text=_text(data, "text"),
            key=_text(data, "key"),
        )

    return _answer(request, label_set, write)


def _concern(label_set: LabelSet, number: int) -> Concern:
    found = Concern.objects.filter(label_set=label_set, pk=number).first()
    if found is None:
        raise Refused("This dialogue has no such question.", field="concern")
    found.label_set = label_set
    return found


def _answer(request: HttpRequest, label_set: LabelSet, write: Callable[[dict[str, Any]], None]) -> HttpResponse:
    """Carry out a write and say the news, or in one sentence why not."""

    def carried_out(data: Any) -> dict[str, Any]:
        write(data if isinstance(data, dict) else {})
        return news_of(label_set)

    return answer_write(request, carried_out)


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
