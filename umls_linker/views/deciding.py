"""The requests of the review page that write: decisions, their reversal, shortlists, questions.

Every answer has the number of the value that it was about (`form`) and a sentence for the page (`said`). `version` says
only that it is the portal who answers; a decision is guarded by the one that the page showed (`expected`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_POST
from rest_framework.exceptions import ParseError

from annotation.access import DOCTOR, LINKING, SHORTLISTING, get_project
from annotation.api.parsers import json_from
from annotation.domain.concepts import surface_key
from annotation.models import User
from annotation.services.errors import Refused
from annotation.views.requests import person_of
from umls_linker.access import get_decision, get_question, get_surface_form
from umls_linker.forms.review import Choice, choice_from_json, number_of, text_of, verdict_from_json
from umls_linker.models import Decision, DecisionKind, SurfaceForm
from umls_linker.services.decisions import (
    Overtaken,
    decision_for_label,
    decision_nil,
    decision_propose,
    decision_revert,
    decision_take,
    decision_undo,
    question_answer,
    question_ask,
    question_seen,
    shortlist_set,
)
from umls_linker.services.sight import sight_of
from umls_linker.views.shown import decision_in_words, taken_back_in_words


@require_POST
def decide(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """A doctor's decision about a value, or about one of its occurrences."""
    user = person_of(request)
    form = get_surface_form(user, slug, pk, DOCTOR)

    def write(data: Any) -> dict[str, Any]:
        choice = choice_from_json(data)
        try:
            decision = _decide(form, user, choice)
        except Overtaken as error:
            if error.standing is None or not _is_what_was_sent(error.standing, user, choice):
                raise
            decision = error.standing
        return {"form": form.pk, "decision": decision.pk, "said": decision_in_words(decision)}

    return _answer(request, write)


def _is_what_was_sent(standing: Decision, actor: User, choice: Choice) -> bool:
    """Whether a request had arrived before, and only its answer was lost on the way."""
    same = standing.decided_by_id == actor.pk and standing.kind == choice.kind and standing.origin == "review"
    named = standing.cui == choice.cui
    if choice.kind == DecisionKind.PROPOSED:  # which has the spaces and capitals of the first proposal of that name
        named = surface_key(standing.name) == surface_key(choice.name)
    shown = sight_of(actor, standing.surface_form.project).exceptions(standing)
    excluded = set(shown.values_list("label_id", flat=True))
    return same and named and excluded == set(choice.excluded)


def _decide(form: SurfaceForm, actor: User, choice: Choice) -> Decision:
    given: dict[str, Any] = {"form": form, "actor": actor, "expected": choice.expected}
    if choice.label_id is not None:
        if choice.kind == DecisionKind.PROPOSED:
            raise Refused("Propose the concept for the whole value, then take it for this one.", field="label")
        nil = choice.kind == DecisionKind.NIL
        return decision_for_label(**given, label_id=choice.label_id, cui=choice.cui, nil=nil, note=choice.note)
    given["except_labels"] = choice.excluded
    if choice.kind == DecisionKind.NIL:
        return decision_nil(**given, note=choice.note)
    if choice.kind == DecisionKind.PROPOSED:
        given |= {"semantic_type": choice.semantic_type, "definition": choice.definition}
        return decision_propose(**given, name=choice.name, note=choice.note)
    return decision_take(**given, cui=choice.cui, name=choice.name, note=choice.note)


@require_POST
def revert(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Take one decision back, everywhere."""
    user = person_of(request)
    decision = get_decision(user, slug, pk)

    def write(data: Any) -> dict[str, Any]:
        return _reverted(decision, decision_revert(decision=decision, actor=user, key=_key(data)), user)

    return _answer(request, write)


@require_POST
def undo(request: HttpRequest, slug: str) -> HttpResponse:
    """Take the person's own last decision in this project back, everywhere."""
    user = person_of(request)
    project = get_project(user, slug, DOCTOR)

    def write(data: Any) -> dict[str, Any]:
        return _reverted(*decision_undo(project=project, actor=user, key=_key(data)), user)

    return _answer(request, write)


def _key(data: Any) -> str:
    """Names the request, so that one whose answer was lost on the way can be sent again."""
    return text_of(data, "key", 64) if isinstance(data, dict) else ""


def _reverted(decision: Decision, stands: Decision | None, user: User) -> dict[str, Any]:
    return {
        "form": decision.surface_form_id,
        "decision": stands.pk if stands else None,
        "said": taken_back_in_words(decision, stands, sight_of(user, decision.surface_form.project)),
    }


@require_POST
def shortlist(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Keep or drop a candidate: `{cui, verdict}`, verdict "" for neither."""
    user = person_of(request)
    form = get_surface_form(user, slug, pk, SHORTLISTING)

    def write(data: Any) -> dict[str, Any]:
        cui, verdict = verdict_from_json(data)
        before = form.shortlistings.filter(cui=cui).first()
        row = shortlist_set(form=form, actor=user, cui=cui, verdict=verdict) or before
        name = f"“{row.name}”" if row else cui
        return {
            "form": form.pk,
            "said": f"{name} is {verdict.label}." if verdict else f"{name} is neither kept nor dropped.",
        }

    return _answer(request, write)


@require_POST
def ask(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Ask a colleague about a value: `{question, of}`, `of` the number of a person or null for all."""
    user = person_of(request)
    form = get_surface_form(user, slug, pk)

    def write(data: Any) -> dict[str, Any]:
        given = data if isinstance(data, dict) else {}
        question_ask(form=form, actor=user, question=text_of(given, "question"), of=_colleague(form, given))
        return {"form": form.pk, "said": "Asked. The answer will appear with the value."}

    return _answer(request, write)


def _colleague(form: SurfaceForm, given: dict[str, Any]) -> User | None:
    number = number_of(given, "of")
    if number is None:
        return None
    people = User.objects.filter(memberships__project=form.project, memberships__role__in=LINKING, is_active=True)
    person = people.filter(pk=number).first()
    if person is None:
        raise Refused("That person does not review concepts in this project.", field="of")
    return person


@require_POST
def answer(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    user = person_of(request)
    question = get_question(user, slug, pk)

    def write(data: Any) -> dict[str, Any]:
        given = data if isinstance(data, dict) else {}
        question_answer(question=question, actor=user, answer=text_of(given, "answer"))
        return {"form": question.surface_form_id, "said": "Answered."}

    return _answer(request, write)


@require_POST
def seen(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Whoever asked has the answer before their eyes."""
    user = person_of(request)
    question = get_question(user, slug, pk)

    def write(_: Any) -> dict[str, Any]:
        question_seen(question=question, actor=user)
        return {"form": question.surface_form_id, "said": ""}

    return _answer(request, write)


def _answer(request: HttpRequest, write: Callable[[Any], dict[str, Any]]) -> HttpResponse:
    try:
        said = write(json_from(request.body))
    except ParseError as error:
        return _refused("malformed", str(error.detail), 400)
    except Overtaken as error:
        return _refused("conflict", error.message, 409)
    except Refused as error:
        return _refused("refused", error.message, 400, error.field)
    return JsonResponse({"version": 1, **said})


def _refused(code: str, message: str, status: int, field: str = "") -> JsonResponse:
    return JsonResponse({"error": {"code": code, "message": message, "field": field}}, status=status)
