"""What people read when something goes wrong."""

from __future__ import annotations

from django.template.loader import render_to_string
from django.test import Client

from annotation.urls import urlpatterns
from tests.factory import PASSWORD


def test_a_page_that_is_not_there_says_what_may_be_the_reason(client_for, people):
    response = client_for(people.outsider).get("/projects/chest-clinic/")
    assert response.status_code == 404
    page = response.content.decode()
    assert "not a member of the project" in page
    assert "Chest clinic" not in page


def test_a_refusal_names_the_role_that_is_needed(client_for, people):
    response = client_for(people.annotator).get("/projects/chest-clinic/members/")
    assert response.status_code == 403
    assert "This needs the role of supervisor in this project." in response.content.decode()


def test_a_form_without_its_secret_is_explained(people):
    response = Client(enforce_csrf_checks=True).post("/sign-in/", {"username": "alice", "password": PASSWORD})
    assert response.status_code == 403
    assert "This form is too old" in response.content.decode()


def test_the_pages_shown_without_a_request_can_be_made(db):
    for name in ("400.html", "500.html"):
        assert "<h1>" in render_to_string(name)


def test_every_page_has_a_name_of_its_own():
    names = [pattern.name for pattern in urlpatterns]
    assert all(names)
    assert len(set(names)) == len(names)
