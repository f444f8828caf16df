"""The adjudication screen: the page, and the requests it makes while somebody decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET, require_POST
from rest_framework.exceptions import ParseError

from annotation.access import SUPERVISOR, get_adjudicated
from annotation.api.parsers import json_from
from annotation.domain.validation import InvalidLabel
from annotation.models import Dialogue, Role, User
from annotation.services.adjudication import (
    gold_decide,
    gold_finish,
    gold_reopen,
    gold_reveal,
    gold_undo,
    guideline_note_from_decision,
)
from annotation.services.adjudication_cases import case_of
from annotation.services.adjudication_payloads import ERROR_TYPES, choices_from_json
from annotation.services.errors import Conflict, NotEditable, Refused
from annotation.services.gold import Decided
from annotation.services.payloads import Request, request_from_json
from annotation.services.readings import utterances_of
from annotation.views.adjudication_panels import names_as_json, revealed_to, shown_case
from annotation.views.news import notes_as_json
from annotation.views.requests import person_of


@require_GET
@gzip_page
def adjudicate(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The page. While the annotators are still at work it says so, and shows nothing of theirs."""
    user = person_of(request)
    dialogue = get_adjudicated(user, slug, pk)
    project = dialogue.project
    case = case_of(dialogue)
    context: dict[str, Any] = {"dialogue": dialogue, "project": project}
    if case is None or (case.is_review and not case.gold):
        return render(request, "annotation/adjudicate_waiting.html", {**context, "review": case is not None})
    questionnaire = project.questionnaire
    turns = utterances_of(dialogue.pk, dialogue.fingerprint)
    context |= {
        "review": case.is_review,
        "share": round(case.share * 100),
        "supervises": Role.SUPERVISOR in project.roles,  # type: ignore[attr-defined]
        "turns": [{"turn": turn, "mark": _mark(questionnaire.speaker(turn.speaker), turn.speaker)} for turn in turns],
        "data": {
            **shown_case(case, user),
            "user": user.pk,
            "dialogue": dialogue.pk,
            "review": case.is_review,
            "names": names_as_json(case) if revealed_to(case, user) else None,
            "errorTypes": ERROR_TYPES,
            "notes": notes_as_json(project),
            "questionnaire": questionnaire.as_json(),
            "turns": [{"position": turn.position, "speaker": turn.speaker, "text": turn.text} for turn in turns],
        },
    }
    return render(request, "annotation/adjudicate.html", context)


Writer = Callable[[Dialogue, User, Request, Any], Decided]


@require_POST
def decide(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One or several decisions."""

    def write(dialogue: Dialogue, user: User, envelope: Request, data: Any) -> Decided:
        return gold_decide(
            dialogue=dialogue,
            actor=user,
            version=envelope.version,
            key=envelope.key,
            seconds=envelope.seconds,
            choices=choices_from_json(data),
        )

    return _write(request, slug, pk, write)


@require_POST
def undo(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    return _write(request, slug, pk, _plain(gold_undo))


@require_POST
def finish(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    return _write(request, slug, pk, _plain(gold_finish))


@require_POST
def reopen(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    return _write(request, slug, pk, _plain(gold_reopen))


@require_POST
def reveal(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Who A and B are, for a supervisor who asks; it is kept with the gold that they did."""
    user = person_of(request)
    dialogue = get_adjudicated(user, slug, pk, SUPERVISOR)
    try:
        names = gold_reveal(dialogue=dialogue, actor=user)
    except Conflict as error:
        return _refused("conflict", error.message, 409)
    except Refused as error:
        return _refused("refused", error.message, 400)
    return JsonResponse({"names": {str(position): list(both) for position, both in names.items()}})


@require_POST
def guideline(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """A decision as an example in the project's guidelines."""
    user = person_of(request)
    dialogue = get_adjudicated(user, slug, pk)
    try:
        data = json_from(request.body)
        given = data if isinstance(data, dict) else {}
        texts = {name: given.get(name, "") for name in ("intent", "slot", "text", "example")}
        if not all(isinstance(text, str) for text in texts.values()):
            return _refused("refused", "“intent”, “slot”, “text” and “example” must be texts.", 400)
        note = guideline_note_from_decision(project=dialogue.project, author=user, **texts)
    except ParseError as error:
        return _refused("malformed", str(error.detail), 400)
    except Refused as error:
        return _refused("refused", error.message, 400, fields=[{"field": error.field, "message": error.message}])
    return JsonResponse({"note": note.pk})


def _plain(service: Callable[..., Decided]) -> Writer:
    """A service that takes nothing but the envelope."""
    return lambda dialogue, user, envelope, _: service(
        dialogue=dialogue, actor=user, version=envelope.version, key=envelope.key
    )


def _write(request: HttpRequest, slug: str, pk: int, write: Writer) -> HttpResponse:
    """Carry out a write and say what the page now shows, or in which way it failed.

    What others did meanwhile is told as the new state only: the history speaks of the true sides.
    """
    user = person_of(request)
    dialogue = get_adjudicated(user, slug, pk)
    try:
        data = json_from(request.body)
        decided = write(dialogue, user, request_from_json(data), data)
    except ParseError as error:
        return _refused("malformed", str(error.detail), 400)
    except InvalidLabel as error:
        fields = [{"field": problem.field, "message": problem.message} for problem in error.problems]
        return _refused("invalid", str(error), 400, fields=fields)
    except Conflict as error:
        return _refused("conflict", error.message, 409, version=error.version, now=_now(dialogue, user))
    except NotEditable as error:
        return _refused("not-editable", error.message, 409)
    except Refused as error:
        return _refused("refused", error.message, 400, fields=[{"field": error.field, "message": error.message}])
    touched = None if decided.replayed else decided.positions
    shown = shown_case(decided.case, user, touched) if decided.case else _now(dialogue, user, touched)
    return JsonResponse({**shown, "replayed": decided.replayed})


def _now(dialogue: Dialogue, user: User, positions: tuple[int, ...] | None = None) -> dict[str, Any]:
    case = case_of(dialogue)
    assert case is not None
    return shown_case(case, user, positions)


def _refused(code: str, message: str, status: int, **more: Any) -> JsonResponse:
    return JsonResponse({"error": {"code": code, "message": message, **more}}, status=status)


def _mark(speaker: Any, name: str) -> str:
    return speaker.mark if speaker else name[:1].upper()
