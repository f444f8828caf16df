"""The adjudication screen: the page, and the requests it makes while somebody decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET, require_POST

from annotation.access import ANSWERING, SUPERVISOR, get_adjudicated
from annotation.domain.keymap import as_json, bindings_of, resolve
from annotation.models import Dialogue, Role, User
from annotation.services.adjudication import (
    gold_decide,
    gold_finish,
    gold_reopen,
    gold_reveal,
    gold_review_all,
    gold_undo,
    guideline_note_from_decision,
)
from annotation.services.adjudication_cases import case_of
from annotation.services.adjudication_payloads import ERROR_TYPES, choices_from_json
from annotation.services.errors import Refused
from annotation.services.gold import Decided
from annotation.services.payloads import Request, request_from_json
from annotation.services.readings import utterances_of
from annotation.views.adjudication_panels import names_as_json, revealed_to, shown_case
from annotation.views.news import notes_as_json
from annotation.views.requests import person_of
from annotation.views.writes import answer_write


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
            "bindings": as_json(bindings_of("adjudication", resolve(questionnaire, user.keymap))),
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
def review_all(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Go from the review of a sample to one of all utterances; how much is looked at is a supervisor's decision."""
    return _write(request, slug, pk, _plain(gold_review_all), SUPERVISOR)


@require_POST
def reveal(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Who A and B are, for a supervisor who asks; it is kept with the gold that they did."""
    user = person_of(request)
    dialogue = get_adjudicated(user, slug, pk, SUPERVISOR)

    def shown(_: Any) -> dict[str, Any]:
        names = gold_reveal(dialogue=dialogue, actor=user)
        return {"names": {str(position): list(both) for position, both in names.items()}}

    return answer_write(request, shown)


@require_POST
def guideline(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """A decision as an example in the project's guidelines."""
    user = person_of(request)
    dialogue = get_adjudicated(user, slug, pk)

    def write(data: Any) -> dict[str, Any]:
        given = data if isinstance(data, dict) else {}
        texts = {name: given.get(name, "") for name in ("intent", "slot", "text", "example")}
        if not all(isinstance(text, str) for text in texts.values()):
            raise Refused("“intent”, “slot”, “text” and “example” must be texts.")
        return {"note": guideline_note_from_decision(dialogue=dialogue, author=user, **texts).pk}

    return answer_write(request, write)


def _plain(service: Callable[..., Decided]) -> Writer:
    """A service that takes nothing but the envelope."""
    return lambda dialogue, user, envelope, _: service(
        dialogue=dialogue, actor=user, version=envelope.version, key=envelope.key
    )


def _write(
    request: HttpRequest, slug: str, pk: int, write: Writer, needed: frozenset[Role] = ANSWERING
) -> HttpResponse:
    """Carry out a write and say what the page now shows, or in which way it failed.

    What others did meanwhile is told as the new state only: the history speaks of the true sides.
    """
    user = person_of(request)
    dialogue = get_adjudicated(user, slug, pk, needed)

    def carried_out(data: Any) -> dict[str, Any]:
        decided = write(dialogue, user, request_from_json(data), data)
        touched = None if decided.replayed else decided.positions
        shown = shown_case(decided.case, user, touched) if decided.case else _now(dialogue, user, touched)
        return {**shown, "replayed": decided.replayed}

    return answer_write(request, carried_out, lambda _: {"now": _now(dialogue, user)})


def _now(dialogue: Dialogue, user: User, positions: tuple[int, ...] | None = None) -> dict[str, Any]:
    case = case_of(dialogue)
    assert case is not None
    return shown_case(case, user, positions)


def _mark(speaker: Any, name: str) -> str:
    return speaker.mark if speaker else name[:1].upper()
