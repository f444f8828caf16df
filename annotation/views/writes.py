"""What every page of JSON requests does with a write: reads it, has it carried out, says in which way it failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, JsonResponse
from rest_framework.exceptions import ParseError

from annotation.api.parsers import json_from
from annotation.domain.validation import InvalidLabel
from annotation.services.errors import Conflict, NotEditable, Refused
from annotation.services.label_sets import Unlabelled


def answer_write(
    request: HttpRequest,
    write: Callable[[Any], dict[str, Any]],
    on_conflict: Callable[[Conflict], dict[str, Any]] = lambda _: {},
) -> JsonResponse:
    """Answer with what `write` makes of the JSON that came, or with `{"error": {"code", "message", …}}`.

    400 for what cannot be read or is refused (with the `fields` it is about), 409 for what is not possible any more.
    `on_conflict` adds what the page should now show to the news that somebody was quicker.
    """
    try:
        return JsonResponse(write(json_from(request.body)))
    except ParseError as error:
        return refused("malformed", str(error.detail), 400)
    except InvalidLabel as error:
        fields = [{"field": problem.field, "message": problem.message} for problem in error.problems]
        return refused("invalid", str(error), 400, fields=fields)
    except Conflict as error:
        return refused("conflict", error.message, 409, version=error.version, **on_conflict(error))
    except NotEditable as error:
        return refused("not-editable", error.message, 409)
    except Unlabelled as error:
        return refused("unlabelled", error.message, 400, positions=error.positions)
    except Refused as error:
        return refused("refused", error.message, 400, fields=[{"field": error.field, "message": error.message}])


def refused(code: str, message: str, status: int, **more: Any) -> JsonResponse:
    return JsonResponse({"error": {"code": code, "message": message, **more}}, status=status)
