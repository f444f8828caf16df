"""A client of the REST interface that holds every answer against the OpenAPI document.

A status or a key that the document does not know, or one that it promises and the answer lacks, fails the test.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator
from knox.models import AuthToken
from rest_framework.test import APIClient

from annotation.models import User


class Api:
    """Speaks as one person by token; as nobody without one."""

    def __init__(self, user: User | None = None) -> None:
        self.client = APIClient()
        if user:
            self.client.credentials(HTTP_AUTHORIZATION=f"Token {AuthToken.objects.create(user=user)[1]}")

    def get(self, path: str, **query: Any) -> Any:
        return checked("get", path, self.client.get(f"/api/v1/{path}", query))

    def post(self, path: str, data: Any = None) -> Any:
        return checked("post", path, self.client.post(f"/api/v1/{path}", data, format="json"))

    def send_file(self, path: str, data: bytes | str, **query: Any) -> Any:
        """A JSON file as the body, as it is."""
        address = f"/api/v1/{path}" + (f"?{urlencode(query)}" if query else "")
        return checked("post", path, self.client.post(address, data, content_type="application/json"))

    def upload(self, path: str, **data: Any) -> Any:
        return checked("post", path, self.client.post(f"/api/v1/{path}", data, format="multipart"))


def error_of(response: Any, status: int, code: str) -> dict[str, Any]:
    """The error of an answer, which must have this status and code, and say a sentence."""
    assert response.status_code == status, response.content
    error: dict[str, Any] = response.json()["error"]
    assert error["code"] == code, error
    assert error["message"]
    return error


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document, its schemas turned into plain JSON Schema that allows no undocumented key."""
    made: dict[str, Any] = json.loads(json.dumps(SchemaGenerator().get_schema(request=None, public=True)))
    plain: dict[str, Any] = _strict(made)
    return plain


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    result = {key: _strict(value) for key, value in node.items()}
    if isinstance(node.get("properties"), dict) and node.get("type") == "object":
        result.setdefault("additionalProperties", False)
    return {"anyOf": [result, {"type": "null"}]} if result.pop("nullable", False) is True else result


def checked(method: str, path: str, response: HttpResponse) -> Any:
    """The response, once it was found to be as documented."""
    answers = _operation(f"/api/v1/{path}")[method]["responses"]
    status = str(response.status_code)
    assert status in answers, f"{method} {path} answered {status}, which is not documented: {response!r}"
    if response.streaming:
        body = response.body = response.getvalue()
    else:
        body = response.content
    content = answers[status].get("content", {}).get("application/json")
    if content:
        root = {**content["schema"], "components": document()["components"]}
        errors = [error.message for error in Draft202012Validator(root).iter_errors(json.loads(body))]
        assert not errors, f"{method} {path} {status}: {errors}"
    return response


def _operation(path: str) -> dict[str, Any]:
    for template, operations in document()["paths"].items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
            return operations
    raise AssertionError(f"{path} is not in the OpenAPI document")
