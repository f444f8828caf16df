"""What all views of the API share. Objects come from `annotation.access` only; writes are calls of services."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.generics import ListAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from annotation.api.authentication import Token
from annotation.api.errors import NOT_FOUND
from annotation.api.parsers import BoundedJSONParser
from annotation.api.schema import PortalSchema
from annotation.models import User

PAGING = {"page", "page_size"}
UNKNOWN_SHOWN = 20  # keys of a body that are named where they are refused


class PortalView(APIView):
    """One resource, or one write."""

    authentication_classes = [Token, SessionAuthentication]
    permission_classes = [IsAuthenticated]
    parser_classes = [BoundedJSONParser]
    schema = PortalSchema()
    # The OpenAPI document says what can be done; an OPTIONS request would say it of objects one may not see.
    metadata_class = None


class PortalList(PortalView, ListAPIView[Any]):
    """A list in pages."""


class NothingHere(PortalView):
    """Every address below /api/ that has no view of its own: the same shape of error as everywhere."""

    schema = None  # type: ignore[assignment]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise NotFound(NOT_FOUND)


def user_of(request: Request) -> User:
    """Who asks; the permission classes let nobody through who is not signed in."""
    return cast(User, request.user)


def query_of(request: Request, shape: type[Serializer[Any]]) -> dict[str, Any]:
    """The query as `shape` describes it. A parameter that is not in it is refused: a misspelt filter must not
    look like one that let everything through."""
    query = shape(data=request.query_params)
    unknown = sorted(set(request.query_params) - set(query.fields) - PAGING)
    if unknown:
        known = ", ".join([*query.fields, *sorted(PAGING)])
        raise ValidationError({name: [f"There is no such parameter; known are {known}."] for name in unknown})
    query.is_valid(raise_exception=True)
    return cast(dict[str, Any], query.validated_data)


def body_of(request: Request, shape: type[Serializer[Any]]) -> dict[str, Any]:
    """The body as `shape` describes it. Raises ValidationError naming the fields that are not right. A key that is not
    in it is refused: a misspelt option must not look like one that was left out."""
    body = shape(data=request.data)
    given = request.data if isinstance(request.data, Mapping) else {}
    unknown = sorted(set(given) - set(body.fields))
    if unknown:
        known = f"known are {', '.join(body.fields)}" if body.fields else "nothing can be said here"
        raise ValidationError({name: [f"There is no such key; {known}."] for name in unknown[:UNKNOWN_SHOWN]})
    body.is_valid(raise_exception=True)
    return cast(dict[str, Any], body.validated_data)
