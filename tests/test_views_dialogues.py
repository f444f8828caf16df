"""The dialogues of a project."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Dialogue, LabelSet, Owner
from tests import factory

URL = "/projects/chest-clinic/dialogues/"


@pytest.fixture
def sam(client_for, people) -> Client:
    return client_for(people.supervisor)


def page_of(client: Client, path: str = "", **query) -> str:
    return client.get(URL + path, query).content.decode()


@pytest.mark.parametrize(
    ("who", "status"),
    [("annotator", 403), ("doctor", 200), ("supervisor", 200), ("superuser", 200), ("outsider", 404)],
)
def test_dialogues_by_role(client_for, people, dialogue, who, status):
    client = client_for(getattr(people, who))
    assert client.get(URL).status_code == status
    assert client.get(f"{URL}{dialogue.pk}/").status_code == status


@pytest.mark.parametrize("action", ["assign", "archive", "restore", "delete"])
@pytest.mark.parametrize(("who", "status"), [("annotator", 403), ("doctor", 403), ("outsider", 404)])
def test_only_supervisors_change_dialogues(client_for, people, dialogue, action, who, status):
    response = client_for(getattr(people, who)).post(f"{URL}{dialogue.pk}/{action}/")
    assert response.status_code == status
    assert Dialogue.objects.get().archived_at is None


def test_a_dialogue_of_another_project_is_not_found(sam):
    elsewhere = factory.make_dialogue(factory.make_project("Elsewhere"))
    assert sam.get(f"{URL}{elsewhere.pk}/").status_code == 404
    for action in ("assign", "archive", "restore", "delete"):
        assert sam.post(f"{URL}{elsewhere.pk}/{action}/").status_code == 404
    sam.post(URL + "bulk/", {"dialogue": [elsewhere.pk], "action": "archive"})
    assert Dialogue.objects.get().archived_at is None


def test_dialogues_are_found_by_id_text_specialty_and_state(sam, project, people):
    factory.make_dialogue(project, "RES1", specialty="respiratory")
    cardiac = factory.make_dialogue(project, "CAR1", [("doctor", "Any palpitations?")], specialty="cardiac")
    factory.make_label_set(cardiac, people.annotator)
    odd = factory.make_dialogue(project, "ODD1")
    odd.utterances.filter(position=3).update(warning="Line 7: the colon is missing.")
    factory.make_dialogue(project, "OLD1", archived_at=timezone.now())

    def found(**query) -> set[str]:
        page = page_of(sam, **query)
        return {name for name in ("RES1", "CAR1", "ODD1", "OLD1") if f">{name}<" in page}

    assert found() == {"RES1", "CAR1", "ODD1"}
    assert found(q="res") == {"RES1"}
    assert found(q="PALPIT any") == {"CAR1"}
    assert found(specialty="respiratory") == {"RES1"}
    assert found(show="odd") == {"ODD1"}
    assert found(show="unassigned") == {"RES1", "ODD1"}
    assert found(show="archived") == {"OLD1"}
    assert found(q="zzz") == set()
    assert "No dialogue matches this search" in page_of(sam, q="zzz")


def test_the_list_says_who_is_how_far_to_supervisors_only(sam, client_for, people, label_set):
    factory.make_labels(label_set, factory.inform(1, "symptom", "cough", status="yes"))
    page = page_of(sam)
    assert ">alice<" in page
    assert "1 of 10" in page
    doctors = page_of(client_for(people.doctor))
    assert ">RES-TEST<" in doctors
    assert "alice" not in doctors
    assert "Archive" not in doctors


def test_a_page_of_fifty_takes_few_queries(sam, project, people, django_assert_max_num_queries):
    for _ in range(60):
        dialogue = factory.make_dialogue(project)
        for who in (people.annotator, people.second):
            factory.make_label_set(dialogue, who)
    with django_assert_max_num_queries(11):
        page = page_of(sam)
    assert "1–50 of 60 dialogues" in page
    with django_assert_max_num_queries(9):
        fragment = sam.get(URL, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in fragment
    assert "page 1 of 2" in fragment
    assert "page 2 of 2" in page_of(sam, page="2", q="D")
    assert "?q=D&amp;page=1" in page_of(sam, page="2", q="D")


def test_an_empty_project_says_what_comes_next(sam, client_for, people):
    assert "Upload transcripts" in page_of(sam)
    assert "has not imported any" in page_of(client_for(people.doctor))


def test_ticked_dialogues_are_archived(sam, project):
    first, second, third = (factory.make_dialogue(project) for _ in range(3))
    response = sam.post(URL + "bulk/", {"dialogue": [first.pk, second.pk, "x"], "action": "archive"}, follow=True)
    assert "2 dialogues are archived" in response.content.decode()
    assert list(Dialogue.objects.open()) == [third]


def test_ticked_dialogues_are_taken_along_to_assigning(sam, project):
    first, second = (factory.make_dialogue(project) for _ in range(2))
    response = sam.post(URL + "bulk/", {"dialogue": [first.pk], "action": "assign"})
    assert response.url == f"/projects/chest-clinic/assign/?dialogue={first.pk}"
    page = sam.get(response.url).content.decode()
    assert f'name="dialogue" value="{first.pk}" checked' in page
    assert f'name="dialogue" value="{second.pk}">' in page


def test_nothing_ticked_is_said(sam, people):
    assert "tick at least one" in sam.post(URL + "bulk/", {"action": "archive"}, follow=True).content.decode()


def test_a_dialogue_shows_turns_warnings_and_where_it_comes_from(sam, dialogue):
    dialogue.source_name = "RES-TEST.txt"
    dialogue.metadata = {"encoding": "utf-16"}
    dialogue.save()
    dialogue.utterances.filter(position=0).update(text="<b>Hello</b>", warning="Line 1: odd mark.")
    page = page_of(sam, f"{dialogue.pk}/")
    assert "&lt;b&gt;Hello&lt;/b&gt;" in page
    assert "Line 1: odd mark." in page
    assert "10 utterances · 1 read with a warning" in page
    assert "utf-16" in page


def test_doctors_see_the_gold_labels_only(client_for, people, label_set):
    LabelSet.objects.create(dialogue=label_set.dialogue, owner=Owner.GOLD, annotator=None)
    page = page_of(client_for(people.doctor), f"{label_set.dialogue_id}/")
    assert "Gold labels" in page
    assert ">gold<" in page
    assert "alice" not in page
    assert "Delete" not in page


def test_one_dialogue_is_assigned_and_taken_back_from_its_page(sam, people, dialogue):
    url = f"{URL}{dialogue.pk}/"
    sam.post(url + "assign/", {"annotator": [people.annotator.pk, people.doctor.pk]})
    label_set = LabelSet.objects.get()
    assert (label_set.annotator, label_set.assigned_by) == (people.annotator, people.supervisor)
    assert sam.post(f"/projects/chest-clinic/work/{label_set.pk}/unassign/").url == url
    assert not LabelSet.objects.exists()
    assert "tick at least one" in sam.post(url + "assign/", follow=True).content.decode()


def test_archive_restore_and_delete(sam, label_set):
    url = f"{URL}{label_set.dialogue_id}/"
    assert sam.post(url + "archive/").url == url
    page = page_of(sam, f"{label_set.dialogue_id}/")
    assert "Restore the dialogue" in page
    sam.post(url + "restore/")
    assert Dialogue.objects.get().archived_at is None
    factory.make_labels(label_set, factory.inform(1, "symptom", "cough", status="yes"))
    page = sam.post(url + "delete/", follow=True).content.decode()
    assert "Archive it instead" in page
    assert "delete-dialogue" not in page
    spare = factory.make_dialogue(label_set.dialogue.project)
    assert sam.post(f"{URL}{spare.pk}/delete/").url == URL
    assert list(Dialogue.objects.all()) == [label_set.dialogue]


@pytest.mark.parametrize("address", ["{pk}/archive/", "{pk}/restore/", "{pk}/delete/", "bulk/"])
def test_what_an_archived_project_refuses_is_said(sam, project, dialogue, address):
    project.archived_at = timezone.now()
    project.save()
    data = {"dialogue": [dialogue.pk], "action": "archive"}
    page = sam.post(URL + address.format(pk=dialogue.pk), data, follow=True).content.decode()
    assert "This project is archived; restore it" in page
    assert Dialogue.objects.get().archived_at is None
