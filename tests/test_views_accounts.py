"""Signing in and out, passwords, tokens."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.test import Client
from knox.models import AuthToken

from annotation.models import User
from annotation.services.accounts import person_archive, person_reset_password
from tests.factory import PASSWORD


@pytest.fixture(autouse=True)
def _no_failures_before():
    cache.clear()
    yield
    cache.clear()


def sign_in(client: Client, username: str = "alice", password: str = PASSWORD, **extra):
    return client.post("/sign-in/", {"username": username, "password": password, **extra})


def signed_in(client: Client) -> bool:
    return client.get("/").status_code == 200


def test_everything_but_signing_in_leads_there(client, db):
    response = client.get("/projects/")
    assert (response.status_code, response.url) == (302, "/sign-in/?next=/projects/")
    assert client.get("/sign-in/").status_code == 200


def test_the_right_password_leads_to_the_page_asked_for(client, people):
    response = sign_in(client, next="/projects/chest-clinic/")
    assert (response.status_code, response.url) == (302, "/projects/chest-clinic/")
    assert signed_in(client)
    assert client.get("/sign-in/").url == "/"


@pytest.mark.parametrize("target", ["https://elsewhere.example/", "//elsewhere.example", "javascript:alert(1)"])
def test_signing_in_never_leads_to_another_site(client, people, target):
    assert sign_in(client, next=target).url == "/"


@pytest.mark.parametrize(("username", "password"), [("alice", "wrong"), ("nobody", PASSWORD)])
def test_a_wrong_name_and_a_wrong_password_get_the_same_answer(client, people, username, password):
    response = sign_in(client, username, password)
    assert response.status_code == 200
    assert "User name and password do not match." in response.content.decode()
    assert not signed_in(client)


def test_empty_fields_are_named_where_they_are(client, db):
    page = sign_in(client, "", "").content.decode()
    assert 'id="id_username_error"' in page
    assert 'id="id_password_error"' in page


def test_an_archived_account_cannot_sign_in_and_its_session_ends(client, people):
    sign_in(client)
    person_archive(person=people.annotator, actor=people.superuser)
    assert not signed_in(client)
    sign_in(client)
    assert not signed_in(client)


def test_after_ten_failures_even_the_right_password_has_to_wait(client, people):
    for _ in range(10):
        assert sign_in(client, password="wrong").status_code == 200
    response = sign_in(client)
    assert response.status_code == 429
    assert "Wait ten minutes" in response.content.decode()
    assert not signed_in(client)
    sign_in(client, "bob")
    assert signed_in(client)


def test_signing_out_needs_a_post(client, people):
    sign_in(client)
    assert client.get("/sign-out/").status_code == 405
    assert client.post("/sign-out/", follow=True).redirect_chain[-1][0] == "/sign-in/"
    assert not signed_in(client)


def test_a_one_time_password_lets_in_only_after_it_was_replaced(client, people):
    one_time = person_reset_password(person=people.annotator)
    assert sign_in(client, password=one_time, next="/projects/").url == "/me/password/"
    assert not signed_in(client)
    page = client.get("/me/password/").content.decode()
    assert "Choose your own password" in page
    assert "Present password" not in page
    response = client.post("/me/password/", {"new": "four words are easy", "again": "four words are easy"})
    assert response.url == "/projects/"
    assert signed_in(client)
    assert not User.objects.get(username="alice").must_change_password
    assert "Present password" in client.get("/me/password/").content.decode()


def test_a_one_time_password_made_anew_ends_the_first_visit(client, people):
    one_time = person_reset_password(person=people.annotator)
    sign_in(client, password=one_time)
    person_reset_password(person=people.annotator)
    response = client.post("/me/password/", {"new": "four words are easy", "again": "four words are easy"})
    assert response.url == "/sign-in/"
    assert not signed_in(client)


def test_the_first_visit_does_not_last(client, people, monkeypatch):
    sign_in(client, password=person_reset_password(person=people.annotator))
    monkeypatch.setattr("annotation.views.accounts.PENDING_SECONDS", -1)
    assert client.get("/me/password/").url == "/sign-in/"


def test_nobody_changes_a_password_without_being_somebody(client, db):
    assert client.get("/me/password/").url == "/sign-in/"


def test_a_changed_password_keeps_this_session_and_ends_the_others(client, people):
    other = Client()
    sign_in(client)
    sign_in(other)
    response = client.post(
        "/me/password/", {"present": PASSWORD, "new": "four words are easy", "again": "four words are easy"}
    )
    assert response.url == "/"
    assert signed_in(client)
    assert not signed_in(other)


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"present": "wrong"}, "present"),
        ({"again": "another one entirely"}, "again"),
        ({"new": "short", "again": "short"}, "new"),
        ({"new": ""}, "new"),
    ],
)
def test_a_refused_password_is_explained_at_its_field(client, people, fields, wrong):
    sign_in(client)
    data = {"present": PASSWORD, "new": "four words are easy", "again": "four words are easy", **fields}
    page = client.post("/me/password/", data).content.decode()
    assert f'id="id_{wrong}_error"' in page
    assert User.objects.get(username="alice").check_password(PASSWORD)


def test_a_token_is_shown_once_and_can_be_revoked(client_for, people):
    client = client_for(people.annotator)
    assert "No tokens yet" in client.get("/me/tokens/").content.decode()
    page = client.post("/me/tokens/").content.decode()
    row = AuthToken.objects.get(user=people.annotator)
    token = page.split('id="new-token">')[1].split("<")[0]
    assert token.startswith(row.token_key)
    again = client.get("/me/tokens/").content.decode()
    assert token not in again
    assert row.token_key[:8] in again
    assert client.post(f"/me/tokens/{row.digest}/revoke/").url == "/me/tokens/"
    assert not AuthToken.objects.exists()


def test_nobody_sees_or_revokes_the_tokens_of_others(client_for, people):
    client_for(people.annotator).post("/me/tokens/")
    row = AuthToken.objects.get()
    client = client_for(people.superuser)
    assert row.token_key[:8] not in client.get("/me/tokens/").content.decode()
    client.post(f"/me/tokens/{row.digest}/revoke/")
    assert AuthToken.objects.exists()


def test_pages_with_secrets_are_not_kept_by_the_browser(client_for, people):
    response = client_for(people.annotator).post("/me/tokens/")
    assert "no-store" in response.headers["Cache-Control"]
