"""Fetching an object is checking the role: who gets it, who is refused, and for whom it does not exist."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation import access
from annotation.models import Dialogue, ImportJob, LabelSet, Project, Role, User
from annotation.services.adjudication import agreed_accept
from annotation.services.concerns import concern_raise
from annotation.services.exams import exam_add, exam_gold_copy
from tests import factory
from tests.adjudicating import make_pair
from tests.conftest import People

EVERYBODY = ["annotator", "second", "doctor", "supervisor", "outsider", "superuser"]
GETS, REFUSED, NOTHING = "gets it", "is refused", "finds nothing"


def outcome(fetch: Callable[[], Any]) -> str:
    try:
        fetch()
    except PermissionDenied as error:
        return REFUSED if str(error) else "is refused without a reason"
    except Http404:
        return NOTHING
    return GETS


def outcomes(people: People, fetch: Callable[[User], Any]) -> dict[str, str]:
    return {name: outcome(lambda name=name: fetch(getattr(people, name))) for name in EVERYBODY}


def expected(**said: str) -> dict[str, str]:
    """Nothing for the outsider, everything for superuser and supervisor, unless said otherwise."""
    usual = {"supervisor": GETS, "superuser": GETS, "outsider": NOTHING}
    return {name: {**usual, **said}[name] for name in EVERYBODY}


MEMBERS_ONLY = expected(annotator=GETS, second=GETS, doctor=GETS)
SUPERVISORS_ONLY = expected(annotator=REFUSED, second=REFUSED, doctor=REFUSED)


def test_a_project(project: Project, people: People):
    assert outcomes(people, lambda user: access.get_project(user, project.slug)) == MEMBERS_ONLY
    assert outcomes(people, lambda user: access.get_project(user, project.slug, access.SUPERVISOR)) == SUPERVISORS_ONLY
    assert outcomes(people, lambda user: access.get_project(user, "no-such")) == dict.fromkeys(EVERYBODY, NOTHING)


def test_a_project_carries_the_roles_one_has_in_it(project: Project, people: People):
    factory.make_member(project, people.annotator, Role.DOCTOR)
    assert access.get_project(people.annotator, project.slug).roles == {Role.ANNOTATOR, Role.DOCTOR}
    assert access.get_project(people.superuser, project.slug).roles == {Role.SUPERVISOR}


def test_a_refusal_names_the_role_that_is_needed(project: Project, people: People):
    with pytest.raises(PermissionDenied, match="role of supervisor in this project"):
        access.get_project(people.annotator, project.slug, access.SUPERVISOR)
    with pytest.raises(PermissionDenied, match="role of doctor or supervisor"):
        access.get_project(people.annotator, project.slug, frozenset({Role.SUPERVISOR, Role.DOCTOR}))


def test_a_dialogue_is_the_supervisors(dialogue: Dialogue, people: People):
    slug = dialogue.project.slug
    assert outcomes(people, lambda user: access.get_dialogue(user, slug, dialogue.pk)) == SUPERVISORS_ONLY
    readers = frozenset({Role.SUPERVISOR, Role.DOCTOR})
    found = outcomes(people, lambda user: access.get_dialogue(user, slug, dialogue.pk, readers))
    assert found == expected(annotator=REFUSED, second=REFUSED, doctor=GETS)


def test_a_label_set_is_its_annotators_and_the_supervisors(label_set: LabelSet, people: People):
    found = outcomes(people, lambda user: access.get_label_set(user, label_set.pk, label_set.dialogue.project.slug))
    assert found == expected(annotator=GETS, second=NOTHING, doctor=NOTHING)
    assert outcomes(people, lambda user: access.get_label_set(user, label_set.pk)) == found


def test_only_ones_own_label_set_can_be_changed(label_set: LabelSet, people: People):
    found = outcomes(people, lambda user: access.get_own_label_set(user, label_set.pk))
    assert found == expected(annotator=GETS, second=NOTHING, doctor=NOTHING, supervisor=REFUSED, superuser=REFUSED)


def test_a_gold_label_set_is_for_supervisors(dialogue: Dialogue, people: People):
    gold = LabelSet.objects.create(dialogue=dialogue, owner="gold")
    found = outcomes(people, lambda user: access.get_label_set(user, gold.pk))
    assert found == expected(annotator=NOTHING, second=NOTHING, doctor=NOTHING)
    assert outcome(lambda: access.get_own_label_set(people.supervisor, gold.pk)) == REFUSED


def test_an_import_is_the_supervisors(project: Project, people: People):
    job = ImportJob.objects.create(project=project, created_by=people.supervisor)
    assert outcomes(people, lambda user: access.get_import_job(user, project.slug, job.pk)) == SUPERVISORS_ONLY
    nobody = outcomes(people, lambda user: access.get_import_job(user, project.slug, uuid.uuid4()))
    assert nobody == dict.fromkeys(EVERYBODY, NOTHING)


def test_the_address_must_name_the_project_that_the_object_is_in(project: Project, label_set: LabelSet, people: People):
    other = factory.make_project()
    for name in EVERYBODY:
        factory.make_member(other, getattr(people, name), *Role)
    job = ImportJob.objects.create(project=project, created_by=people.supervisor)
    for fetch in (
        lambda user: access.get_dialogue(user, other.slug, label_set.dialogue_id),
        lambda user: access.get_label_set(user, label_set.pk, other.slug),
        lambda user: access.get_import_job(user, other.slug, job.pk),
    ):
        assert outcomes(people, fetch) == dict.fromkeys(EVERYBODY, NOTHING)


def test_a_role_in_one_project_is_none_in_another(label_set: LabelSet, people: People):
    other = factory.make_project()
    factory.make_member(other, people.outsider, *Role)
    slug = label_set.dialogue.project.slug
    assert outcome(lambda: access.get_project(people.outsider, slug)) == NOTHING
    assert outcome(lambda: access.get_dialogue(people.outsider, slug, label_set.dialogue_id)) == NOTHING
    assert outcome(lambda: access.get_label_set(people.outsider, label_set.pk)) == NOTHING


def test_who_left_a_project_finds_nothing_there(label_set: LabelSet, people: People):
    people.annotator.memberships.all().delete()
    assert outcome(lambda: access.get_label_set(people.annotator, label_set.pk)) == NOTHING
    assert outcome(lambda: access.get_own_label_set(people.annotator, label_set.pk)) == NOTHING


def test_whose_labels_may_be_asked_for(project: Project, label_set: LabelSet, people: People):
    def ask(user: User, username: str) -> str:
        return outcome(lambda: access.get_annotator(user, access.get_project(user, project.slug), username))

    for person in (people.annotator, people.doctor, people.supervisor, people.superuser):
        assert ask(person, person.username) == GETS
    assert ask(people.annotator, "bob") == REFUSED
    assert ask(people.annotator, "nobody") == REFUSED  # the refusal does not tell who exists
    assert ask(people.doctor, "alice") == REFUSED
    assert ask(people.supervisor, "bob") == GETS
    assert ask(people.supervisor, "otto") == NOTHING
    assert ask(people.supervisor, "nobody") == NOTHING
    people.annotator.memberships.all().delete()
    assert ask(people.supervisor, "alice") == GETS  # the work of who left can still be exported


def test_a_person_with_several_roles_and_label_sets_is_found_once(
    project: Project, label_set: LabelSet, people: People
):
    factory.make_member(project, people.annotator, *Role)
    factory.make_label_set(factory.make_dialogue(project), people.annotator)
    found = access.get_annotator(people.supervisor, access.get_project(people.supervisor, project.slug), "alice")
    assert found == people.annotator


def test_accounts_are_for_administrators(people: People):
    found = outcomes(people, lambda user: access.get_person(user, people.annotator.pk))
    assert found == {name: GETS if name == "superuser" else REFUSED for name in EVERYBODY}
    assert outcomes(people, access.require_superuser) == found
    assert outcome(lambda: access.get_person(people.superuser, 10**9)) == NOTHING


def test_a_member_is_one_of_this_project(project: Project, people: People):
    assert access.get_member(project, people.annotator.pk) == people.annotator
    factory.make_member(project, people.annotator, *Role)
    assert access.get_member(project, people.annotator.pk) == people.annotator
    for stranger in (people.outsider.pk, people.superuser.pk, 10**9):
        assert outcome(lambda stranger=stranger: access.get_member(project, stranger)) == NOTHING


def test_ones_roles_in_many_projects_take_one_query(
    project: Project, people: People, django_assert_num_queries: DjangoAssertNumQueries
):
    projects = [project, *(factory.make_project() for _ in range(5))]
    factory.make_member(projects[1], people.annotator, Role.DOCTOR, Role.ANNOTATOR)
    with django_assert_num_queries(1):
        access.set_own_roles(people.annotator, projects)
    assert [row.own_roles for row in projects[:3]] == [["annotator"], ["annotator", "doctor"], []]
    access.set_own_roles(people.superuser, projects)
    assert all(row.own_roles == ["supervisor"] for row in projects)


def test_a_fetch_takes_two_queries(
    label_set: LabelSet, people: People, django_assert_num_queries: DjangoAssertNumQueries
):
    slug = label_set.dialogue.project.slug
    for fetch in (
        lambda: access.get_project(people.supervisor, slug),
        lambda: access.get_dialogue(people.supervisor, slug, label_set.dialogue_id).project.name,
        lambda: access.get_label_set(people.annotator, label_set.pk).dialogue.project.name,
    ):
        with django_assert_num_queries(2):
            fetch()


def test_a_doctor_who_is_tested_sees_no_gold_of_what_they_are_tested_with(
    project: Project, people: People, dialogue: Dialogue, client_for: Callable[[User], Client]
) -> None:
    """The gold of a test may be a copy of what two others and an adjudicator made of the same dialogue."""
    dan = factory.make_member(project, factory.make_user("dan"), Role.ANNOTATOR, Role.DOCTOR)
    pair = make_pair(dialogue, people.annotator, people.second)
    agreed_accept(project=project)
    exam = exam_add(dialogue=dialogue, kind="test", actor=people.supervisor)
    exam_gold_copy(exam=exam, source=pair.gold, actor=people.supervisor, key="copy")
    asked = concern_raise(label_set=pair.a, actor=people.annotator, position=1, text="Cough?", key="ask")
    screen = reverse("adjudicate", args=[project.slug, dialogue.pk])
    queue = reverse("adjudication", args=[project.slug])
    for person, allowed in ((dan, False), (people.doctor, True), (people.supervisor, True)):
        client = client_for(person)
        assert client.get(screen).status_code == (200 if allowed else 403)
        assert (dialogue.external_id in client.get(queue).content.decode()) is allowed
        concern = client.get(reverse("concern", args=[project.slug, asked.pk]))
        assert concern.status_code == (200 if allowed else 404)
        page = client.get(reverse("dialogue", args=[project.slug, dialogue.pk])).content.decode()
        assert ("There is no gold reading" not in page) is allowed
