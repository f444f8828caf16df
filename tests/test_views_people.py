"""The accounts, for administrators only."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from annotation.models import User
from tests import factory


@pytest.fixture
def admin(client_for, people) -> Client:
    return client_for(people.superuser)


@pytest.mark.parametrize("who", ["annotator", "doctor", "supervisor", "outsider"])
def test_everybody_else_is_refused(client_for, people, who):
    client, pk = client_for(getattr(people, who)), people.annotator.pk
    assert client.get("/people/").status_code == 403
    assert client.get("/people/new/").status_code == 403
    assert client.get(f"/people/{pk}/").status_code == 403
    assert client.get("/people/999999/").status_code == 403
    for action in ("", "password/", "archive/", "restore/", "delete/"):
        assert client.post(f"/people/{pk}/{action}").status_code == 403
    assert User.objects.get(pk=pk).is_active


def test_the_list_finds_by_all_words_and_parts_the_archived(admin, people):
    User.objects.filter(username="alice").update(first_name="Alice", last_name="Nwosu", email="nw@example.org")
    User.objects.filter(username="bob").update(is_active=False)
    page = admin.get("/people/").content.decode()
    assert ">alice<" in page
    assert ">bob<" not in page
    found = admin.get("/people/", {"q": "alice nw@"}).content.decode()
    assert ">alice<" in found
    assert ">dora<" not in found
    assert ">bob<" in admin.get("/people/", {"show": "archived"}).content.decode()
    assert "Nobody's name or address" in admin.get("/people/", {"q": "zzz"}).content.decode()


def test_the_list_takes_as_many_queries_for_many_people(admin, people, django_assert_max_num_queries):
    for number in range(60):
        factory.make_user(f"many{number}")
    with django_assert_max_num_queries(6):
        page = admin.get("/people/").content.decode()
    assert "page 1 of 2" in page
    assert ">sam<" in admin.get("/people/", {"page": "2"}).content.decode()


def test_a_new_account_comes_with_a_password_that_works(admin, client):
    data = {"username": "eve", "first_name": "Eve", "last_name": "", "email": ""}
    page = admin.post("/people/new/", data).content.decode()
    password = re.search(r'id="one-time-password">([^<]+)<', page).group(1)
    eve = User.objects.get(username="eve")
    assert eve.check_password(password)
    assert password not in admin.get(f"/people/{eve.pk}/").content.decode()


def test_a_taken_name_is_explained_at_its_field(admin):
    page = admin.post("/people/new/", {"username": "alice"}).content.decode()
    assert 'id="id_username_error">The user name “alice” is taken.' in page
    assert User.objects.filter(username="alice").count() == 1


def test_names_and_administrators_are_changed(admin, people):
    url = f"/people/{people.annotator.pk}/"
    assert admin.post(url, {"first_name": "Alice", "is_superuser": "on"}).url == url
    assert User.objects.values_list("first_name", "is_superuser").get(username="alice") == ("Alice", True)


def test_the_last_administrator_is_told_so_at_the_field(admin, people):
    page = admin.post(f"/people/{people.superuser.pk}/", {"first_name": "R"}).content.decode()
    assert 'id="id_is_superuser_error">root is the only administrator left' in page
    assert User.objects.get(username="root").is_superuser


def test_archive_and_restore(admin, people):
    url = f"/people/{people.annotator.pk}/"
    assert admin.post(url + "archive/").url == url
    assert not User.objects.get(username="alice").is_active
    assert "Restore the account" in admin.get(url).content.decode()
    admin.post(url + "restore/")
    assert User.objects.get(username="alice").is_active


def test_a_person_with_work_is_not_deleted_but_one_without_is(admin, people, label_set):
    page = admin.post(f"/people/{people.annotator.pk}/delete/", follow=True).content.decode()
    assert "Archive it instead" in page
    assert "Delete the account" not in page
    assert admin.post(f"/people/{people.outsider.pk}/delete/").url == "/people/"
    assert set(User.objects.filter(username__in=["alice", "otto"])) == {people.annotator}


def test_a_new_one_time_password_is_shown_once(admin, people):
    page = admin.post(f"/people/{people.annotator.pk}/password/").content.decode()
    password = re.search(r'id="one-time-password">([^<]+)<', page).group(1)
    alice = User.objects.get(username="alice")
    assert alice.check_password(password)
    assert alice.must_change_password


def test_an_account_that_does_not_exist_is_not_found(admin):
    assert admin.get("/people/999999/").status_code == 404
