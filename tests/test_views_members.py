"""Members and their roles."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from annotation.models import Membership, User

URL = "/projects/chest-clinic/members/"


@pytest.fixture
def sam(client_for, people) -> Client:
    return client_for(people.supervisor)


def roles(user: User) -> set[str]:
    return set(Membership.objects.filter(user=user).values_list("role", flat=True))


def test_members_are_listed_and_nobody_else(sam):
    page = sam.get(URL).content.decode()
    assert ">alice<" in page
    assert "otto" not in page
    assert "root" not in page


def test_somebody_with_an_account_is_added_by_exact_name(sam, people):
    assert sam.post(URL + "add/", {"who": "otto", "roles": ["annotator", "doctor"]}).url == URL
    assert roles(people.outsider) == {"annotator", "doctor"}


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"who": "ott", "roles": ["annotator"]}, "who"),
        ({"who": "otto"}, "roles"),
        ({"who": "otto", "roles": ["x"]}, "roles"),
    ],
)
def test_a_bad_addition_is_explained_at_its_field(sam, people, data, field):
    page = sam.post(URL + "add/", data).content.decode()
    assert f'id="id_{field}_error"' in page
    assert roles(people.outsider) == set()


def test_a_new_account_comes_with_a_password_shown_once(sam):
    page = sam.post(URL + "new/", {"username": "eve", "roles": ["annotator"]}).content.decode()
    password = re.search(r'id="one-time-password">([^<]+)<', page).group(1)
    eve = User.objects.get(username="eve")
    assert eve.check_password(password)
    assert eve.must_change_password
    assert not eve.is_superuser
    assert roles(eve) == {"annotator"}
    assert password not in sam.get(URL).content.decode()


def test_a_refused_new_account_leaves_its_form_open(sam, people):
    page = sam.post(URL + "new/", {"username": "alice", "roles": ["annotator"], "is_superuser": "on"}).content.decode()
    assert '<details class="fold" open>' in page
    assert 'id="id_new_username_error">' in page


def test_roles_are_changed(sam, people):
    url = f"{URL}{people.annotator.pk}/"
    assert 'value="annotator"' in sam.get(url).content.decode()
    assert sam.post(url, {"roles": ["annotator", "doctor"]}).url == URL
    assert roles(people.annotator) == {"annotator", "doctor"}
    assert "Choose at least one role" in sam.post(url, {}).content.decode()


def test_the_last_supervisor_stays(sam, people):
    url = f"{URL}{people.supervisor.pk}/"
    assert "last supervisor" in sam.post(url, {"roles": ["annotator"]}).content.decode()
    assert "last supervisor" in sam.post(url + "remove/", follow=True).content.decode()
    assert roles(people.supervisor) == {"supervisor"}


def test_removing_a_member_keeps_their_work_and_says_so(sam, client_for, people, label_set):
    url = f"{URL}{people.annotator.pk}/"
    assert "1 label set remains" in sam.get(url).content.decode()
    page = sam.post(url + "remove/", follow=True).content.decode()
    assert "Their work stays: 1 label set." in page
    label_set.refresh_from_db()
    assert label_set.annotator == people.annotator
    assert client_for(people.annotator).get("/projects/chest-clinic/").status_code == 404


def test_supervisors_reach_nobody_outside_their_project(sam, people):
    for pk in (people.outsider.pk, people.superuser.pk, 999999):
        assert sam.get(f"{URL}{pk}/").status_code == 404
        assert sam.post(f"{URL}{pk}/remove/").status_code == 404


def test_who_removes_themselves_lands_at_home(sam, people):
    sam.post(URL + "add/", {"who": "bob", "roles": ["supervisor"]})
    assert sam.post(f"{URL}{people.supervisor.pk}/remove/").url == "/"
