"""The one shape in which the API says that something went wrong: `{"error": {"code", "message", "fields"?, …}}`.

`code` is for programs, `message` one sentence for people, `fields` names the inputs it is about. A conflict also
carries the newest `version` and the `events` since the one that was named.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

from django.core import exceptions as django_errors
from django.core.signals import got_request_exception
from django.http import Http404
from rest_framework import exceptions as rest_errors
from rest_framework.response import Response
from rest_framework.views import set_rollback

from annotation.domain.validation import InvalidLabel
from annotation.services.errors import Conflict, HasWork, NotEditable, Refused
from annotation.services.label_imports import HasLabels, UnreadableLabels
from annotation.services.label_sets import Unlabelled

logger = logging.getLogger(__name__)

SHOWN = 100  # sentences about one file, at most
NOT_FOUND = "There is nothing here, or nothing that you may see."


@dataclass(frozen=True, slots=True)
class Answer:
    """An error as it is answered. `extra` stands beside code and message."""

    status: int
    code: str
    message: str
    fields: dict[str, list[str]] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        fields = {"fields": self.fields} if self.fields else {}
        return {"error": {"code": self.code, "message": self.message, **fields, **self.extra}}


class TooLarge(rest_errors.APIException):
    """The request's body is longer than the portal reads."""

    status_code = 413
    default_code = "too_large"


def handle(error: Exception, context: dict[str, Any]) -> Response:
    """Every error of an API view, as a response. Called by REST framework (setting EXCEPTION_HANDLER)."""
    answer = answer_to(error)
    if answer is None:
        # What nobody foresaw is reported the way Django reports it; only the page is replaced by the API's shape.
        request = getattr(context.get("request"), "_request", None)
        got_request_exception.send(sender=None, request=request)
        logger.error("Unforeseen error in the API", exc_info=error)
        answer = Answer(500, "internal", "Something went wrong in the portal; the request was not carried out.")
    set_rollback()
    return Response(answer.as_json(), status=answer.status, headers=answer.headers)


@singledispatch
def answer_to(_error: Exception) -> Answer | None:
    """What an error is answered with; None for one that nobody foresaw."""
    return None


@answer_to.register
def _(error: Refused) -> Answer:
    fields = {error.field: [error.message]} if error.field else {}
    return Answer(400, "refused", error.message, fields)


@answer_to.register
def _(error: Conflict) -> Answer:
    return Answer(409, "conflict", error.message, extra={"version": error.version, "events": error.events})


@answer_to.register
def _(error: NotEditable) -> Answer:
    return Answer(400, "not_editable", error.message)


@answer_to.register
def _(error: HasWork) -> Answer:
    return Answer(400, "has_work", error.message)


@answer_to.register
def _(error: InvalidLabel) -> Answer:
    fields: dict[str, list[str]] = {}
    for problem in error.problems:
        fields.setdefault(problem.field, []).append(problem.message)
    return Answer(400, "invalid_label", str(error), fields)


@answer_to.register(Http404)
def _not_found(error: Http404) -> Answer:
    return Answer(404, "not_found", str(error) or NOT_FOUND)


@answer_to.register
def _(error: django_errors.PermissionDenied) -> Answer:
    return Answer(403, "forbidden", str(error) or "You may not do this.")


@answer_to.register
def _(_error: django_errors.RequestDataTooBig) -> Answer:
    return Answer(413, "too_large", "The request is too large.")


@answer_to.register
def _(error: django_errors.SuspiciousOperation) -> Answer:
    return Answer(400, "malformed", str(error) or "The request cannot be read.")


@answer_to.register
def _(error: rest_errors.APIException) -> Answer:
    return Answer(error.status_code, _code(error), str(error.detail))


@answer_to.register
def _(error: rest_errors.ValidationError) -> Answer:
    fields: dict[str, list[str]] = {}
    for place, sentence in _sentences(error.detail):
        fields.setdefault(place, []).append(sentence)
    whole = fields.pop("", [])
    told = whole + [f"{place}: {' '.join(sentences)}" for place, sentences in fields.items()]
    return Answer(400, "invalid", " ".join(told), fields)


@answer_to.register
def _(error: rest_errors.NotAuthenticated) -> Answer:
    message = "Sign in, or send a token in the header “Authorization: Token …”."
    return Answer(401, "not_authenticated", message, headers=_challenge(error))


@answer_to.register
def _(error: rest_errors.AuthenticationFailed) -> Answer:
    message = "This token is not valid; make a new one on the page of your tokens."
    return Answer(401, "invalid_token", message, headers=_challenge(error))


@answer_to.register
def _(error: rest_errors.Throttled) -> Answer:
    seconds = max(1, round(getattr(error, "wait", None) or 1))
    message = f"There were too many requests; go on in {seconds} s."
    return Answer(429, "throttled", message, extra={"retry_after": seconds}, headers={"Retry-After": str(seconds)})


@answer_to.register
def _(error: HasLabels) -> Answer:
    return Answer(400, "has_labels", error.message)


@answer_to.register
def _(error: UnreadableLabels) -> Answer:
    return Answer(400, "unreadable", error.message, {"file": [str(notice) for notice in error.notices[:SHOWN]]})


@answer_to.register
def _(error: Unlabelled) -> Answer:
    return Answer(400, "unlabelled", error.message, extra={"positions": error.positions})


CODES = {400: "malformed", 403: "forbidden", 404: "not_found", 405: "method_not_allowed", 406: "not_acceptable"}
CODES |= {413: "too_large", 415: "unsupported_media_type"}


def _code(error: rest_errors.APIException) -> str:
    return CODES.get(error.status_code, str(error.default_code))


def _challenge(error: rest_errors.APIException) -> dict[str, str]:
    challenge = getattr(error, "auth_header", "")
    return {"WWW-Authenticate": challenge} if challenge else {}


def _sentences(detail: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """(place, sentence) of a nested detail: `{"changes": {0: {"id": ["…"]}}}` gives ("changes.0.id", "…")."""
    if isinstance(detail, dict):
        for key, inner in detail.items():
            name = "" if key == "non_field_errors" else str(key)
            yield from _sentences(inner, ".".join(part for part in (place, name) if part))
    elif isinstance(detail, list):
        for position, inner in enumerate(detail):
            nested = isinstance(inner, dict | list)
            yield from _sentences(inner, f"{place}.{position}".strip(".") if nested else place)
    else:
        yield place, str(detail)
