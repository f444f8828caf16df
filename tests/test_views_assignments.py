"""Choosing who labels what."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Dialogue, LabelSet
from tests import factory

URL = "/projects/chest-clinic/assign/"


@pytest.fixture
def sam(client_for, people) -> Client:
    return client_for(people.supervisor)


@pytest.fixture
def five(project) -> list[Dialogue]:
    return [factory.make_dialogue(project, f"D-{number}") for number in range(5)]


def choice(dialogues, *people, **more) -> dict:
    return {"dialogue": [row.pk for row in dialogues], "annotator": [person.pk for person in people], **more}


def given(person) -> set[str]:
    return set(LabelSet.objects.filter(annotator=person).values_list("dialogue__external_id", flat=True))


def test_nothing_is_written_before_it_was_looked_at(sam, people, five):
    factory.make_label_set(five[0], people.annotator)
    page = sam.post(URL, choice(five, people.annotator, people.second, action="preview")).content.decode()
    assert "Make 9 assignments?" in page
    assert LabelSet.objects.count() == 1


def test_everybody_gets_everything(sam, people, five):
    response = sam.post(URL, choice(five, people.annotator, people.second, action="assign"), follow=True)
    assert "10 assignments made" in response.content.decode()
    assert given(people.annotator) == given(people.second) == {f"D-{number}" for number in range(5)}
    page = sam.post(URL, choice(five, people.annotator, action="assign"), follow=True).content.decode()
    assert "Nothing changed" in page
    assert LabelSet.objects.count() == 10


def test_dialogues_are_shared_out_in_turn(sam, people, five):
    sam.post(URL, choice(five, people.annotator, people.second, action="assign", how="each"))
    assert given(people.annotator) == {"D-0", "D-2", "D-4"}
    assert given(people.second) == {"D-1", "D-3"}


@pytest.mark.parametrize("missing", ["dialogue", "annotator"])
def test_an_incomplete_choice_is_explained_and_kept(sam, people, five, missing):
    data = choice(five[:1], people.annotator, action="preview")
    del data[missing]
    page = sam.post(URL, data).content.decode()
    assert "Tick at least one annotator and one dialogue" in page
    assert page.count(" checked") == 2  # what was ticked, and how


def test_going_back_keeps_the_choice(sam, people, five):
    page = sam.post(URL, choice(five[:2], people.annotator, action="back", how="each")).content.decode()
    assert page.count(" checked") == 4
    assert not LabelSet.objects.exists()


def test_only_what_belongs_to_the_project_can_be_chosen(sam, people, five):
    elsewhere = factory.make_dialogue(factory.make_project("Elsewhere"))
    sam.post(URL, choice([elsewhere, five[0]], people.annotator, people.doctor, people.outsider, action="assign"))
    assert [(row.annotator, row.dialogue) for row in LabelSet.objects.all()] == [(people.annotator, five[0])]


def test_odd_numbers_are_passed_over(sam, people, five):
    data = {"dialogue": ["x", "-1", "9" * 30, "²"], "annotator": [people.annotator.pk], "action": "assign"}
    assert sam.post(URL, data).status_code == 200
    assert not LabelSet.objects.exists()


def test_the_list_can_be_cut_to_what_nobody_has(sam, people, five):
    factory.make_label_set(five[0], people.annotator)
    page = sam.get(URL + "?show=unassigned").content.decode()
    assert ">D-0<" not in page
    assert ">D-1<" in page
    assert ">D-0<" in sam.get(URL).content.decode()


def test_what_is_missing_is_said(sam, people, project):
    assert "Import dialogues first" in sam.get(URL).content.decode()
    factory.make_dialogue(project)
    people.annotator.memberships.all().delete()
    people.second.memberships.all().delete()
    assert "No annotator yet" in sam.get(URL).content.decode()


@pytest.mark.parametrize(("who", "status"), [("annotator", 403), ("second", 403), ("doctor", 403), ("outsider", 404)])
def test_taking_back_is_for_supervisors(client_for, people, label_set, who, status):
    url = f"/projects/chest-clinic/work/{label_set.pk}/unassign/"
    assert client_for(getattr(people, who)).post(url).status_code == status
    assert LabelSet.objects.exists()


def test_what_was_begun_is_not_taken_back(sam, label_set):
    factory.make_labels(label_set, factory.inform(1, "symptom", "cough", status="yes"))
    page = sam.post(f"/projects/chest-clinic/work/{label_set.pk}/unassign/", follow=True).content.decode()
    assert "alice has begun RES-TEST" in page
    assert LabelSet.objects.exists()


def test_many_dialogues_take_few_queries(sam, people, project, django_assert_max_num_queries):
    for _ in range(60):
        factory.make_label_set(factory.make_dialogue(project), people.annotator)
    with django_assert_max_num_queries(10):
        sam.get(URL)
