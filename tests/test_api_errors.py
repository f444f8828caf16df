from __future__ import annotations

import json

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client, override_settings
from knox.models import AuthToken
from rest_framework.exceptions import Throttled, ValidationError

from annotation.api import people as people_api
from annotation.api.errors import answer_to
from annotation.domain.validation import InvalidLabel, Problem
from annotation.models import LabelSet
from annotation.services.errors import Conflict, HasWork, NotEditable, Refused
from tests.api import Api, error_of
from tests.conftest import People

ADDRESSES = ["me/", "projects/", "projects/chest-clinic/", "label-sets/", "questionnaires/", "label-sets/1/"]


@pytest.mark.parametrize("path", ADDRESSES)
def test_nobody_in_particular_is_told_to_sign_in(people: People, path: str) -> None:
    response = Client().get(f"/api/v1/{path}")
    error_of(response, 401, "not_authenticated")
    assert response["WWW-Authenticate"] == "Token"
    assert response["Content-Type"] == "application/json"


@pytest.mark.parametrize("token", ["0" * 64, "x", "a b", "", "\xff\xfe", "…"])
def test_a_token_that_is_none_is_refused(people: People, token: str) -> None:
    response = Client().get("/api/v1/me/", headers={"Authorization": f"Token {token}".encode().decode("latin-1")})
    error_of(response, 401, "invalid_token")


def test_the_token_of_an_archived_person_is_refused(people: People) -> None:
    _, token = AuthToken.objects.create(user=people.annotator)
    people.annotator.is_active = False
    people.annotator.save()
    error_of(Client().get("/api/v1/me/", headers={"Authorization": f"Token {token}"}), 401, "invalid_token")


def test_a_session_works_for_reading(client_for, people: People) -> None:
    assert client_for(people.annotator).get("/api/v1/me/").json()["username"] == "alice"


def test_a_write_by_session_needs_the_csrf_token(people: People, label_set: LabelSet) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.annotator)
    address = f"/api/v1/label-sets/{label_set.pk}/undo/"
    error = error_of(client.post(address, {"version": 0, "key": "a"}, "application/json"), 403, "forbidden")
    assert "CSRF" in error["message"]


@pytest.mark.parametrize("path", ["nowhere/", "v1/nowhere/", "v1/label-sets/x/", "v2/me/", "", "v1/"])
def test_an_unknown_address_answers_in_the_same_shape(people: People, path: str) -> None:
    client = Api(people.annotator).client
    error_of(client.get(f"/api/{path}"), 404, "not_found")
    error_of(client.delete(f"/api/{path}"), 404, "not_found")
    error_of(Client().get(f"/api/{path}"), 401, "not_authenticated")


def test_an_address_without_its_last_slash_is_sent_on(people: People) -> None:
    response = Api(people.annotator).client.get("/api/v1/me")
    assert response.status_code == 301
    assert response["Location"] == "/api/v1/me/"


@pytest.mark.parametrize("method", ["put", "patch", "delete", "options"])
def test_a_method_that_is_not_there_is_said_so(people: People, label_set: LabelSet, method: str) -> None:
    response = getattr(Api(people.annotator).client, method)(f"/api/v1/label-sets/{label_set.pk}/")
    error_of(response, 405, "method_not_allowed")
    assert "GET" in response["Allow"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "line 1"),
        (b'{"version": 0,\n "key": }', "line 2"),
        (b"\xff\xfe{}", "UTF-8"),
        (b'{"version": NaN}', "NaN"),
        (b'{"version": 1e999}', "too large"),
        (b'{"key": "\\ud800"}', "surrogate"),
        (b"[" * 100_000, "deeply"),
        (b"9" * 5_000, "number"),
    ],
)
def test_a_body_that_is_no_json_is_one_clear_sentence(
    people: People, label_set: LabelSet, body: bytes, said: str
) -> None:
    address = f"/api/v1/label-sets/{label_set.pk}/undo/"
    error = error_of(
        Api(people.annotator).client.post(address, body, content_type="application/json"), 400, "malformed"
    )
    assert said in error["message"]


@pytest.mark.parametrize("body", ["[]", "3", "null", '"x"', "true"])
def test_a_body_that_is_no_object_is_refused(people: People, label_set: LabelSet, body: str) -> None:
    api = Api(people.annotator)
    for step in ("changes", "undo", "redo", "finish", "reopen"):
        address = f"/api/v1/label-sets/{label_set.pk}/{step}/"
        error_of(api.client.post(address, body, content_type="application/json"), 400, "refused")


def test_another_media_type_is_refused(people: People, label_set: LabelSet) -> None:
    address = f"/api/v1/label-sets/{label_set.pk}/undo/"
    error_of(Api(people.annotator).client.post(address, "x", content_type="text/plain"), 415, "unsupported_media_type")


@override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=2**20)
def test_a_body_that_is_too_long_is_refused(people: People, label_set: LabelSet) -> None:
    body = json.dumps({"version": 0, "key": "a" * 2**20})
    address = f"/api/v1/label-sets/{label_set.pk}/undo/"
    error_of(Api(people.annotator).client.post(address, body, content_type="application/json"), 413, "too_large")


def test_an_unforeseen_fault_is_logged_and_answered_in_the_same_shape(
    people: People, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr(people_api, "user_of", broken)
    api = Api(people.annotator)
    api.client.raise_request_exception = False
    response = api.client.get("/api/v1/me/")
    error_of(response, 500, "internal")
    assert b"secret" not in response.content
    assert "a secret of the inside" in caplog.text


def test_a_wait_is_told_in_seconds() -> None:
    answer = answer_to(Throttled(wait=11.6))
    assert answer is not None
    assert (answer.status, answer.code, answer.extra, answer.headers) == (
        429,
        "throttled",
        {"retry_after": 12},
        {"Retry-After": "12"},
    )


def test_services_refusals_keep_their_words_and_name_the_field() -> None:
    cases = [
        (Refused("No.", field="name"), 400, "refused", {"name": ["No."]}),
        (HasWork("Has labels."), 400, "has_work", {}),
        (NotEditable("Is done."), 400, "not_editable", {}),
        (Conflict(3, []), 409, "conflict", {}),
        (
            InvalidLabel([Problem("onset", "One."), Problem("onset", "Two.")]),
            400,
            "invalid_label",
            {"onset": ["One.", "Two."]},
        ),
        (PermissionDenied("This needs a role."), 403, "forbidden", {}),
    ]
    for error, status, code, fields in cases:
        answer = answer_to(error)
        assert answer is not None
        assert (answer.status, answer.code, answer.fields) == (status, code, fields)
        assert answer.message == str(error)


def test_nested_faults_are_named_by_their_place() -> None:
    answer = answer_to(ValidationError({"changes": [{}, {"id": ["Bad."]}], "non_field_errors": ["All wrong."]}))
    assert answer is not None
    assert answer.fields == {"changes.1.id": ["Bad."]}
    assert answer.message == "All wrong. changes.1.id: Bad."
