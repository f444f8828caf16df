"""Projects: list, new, overview, settings."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotation.models import Project
from tests import factory

SUPERVISOR_ONLY = ["settings/", "members/", "assign/"]
POSTS = [
    "settings/archive/",
    "settings/restore/",
    "settings/delete/",
    "members/add/",
    "members/new/",
    "dialogues/bulk/",
]


@pytest.mark.parametrize("path", SUPERVISOR_ONLY)
@pytest.mark.parametrize(
    ("who", "status"),
    [("annotator", 403), ("doctor", 403), ("supervisor", 200), ("superuser", 200), ("outsider", 404)],
)
def test_supervisors_pages_by_role(client_for, people, path, who, status):
    assert client_for(getattr(people, who)).get(f"/projects/chest-clinic/{path}").status_code == status


@pytest.mark.parametrize("path", POSTS)
def test_actions_need_the_supervisor_and_a_post(client_for, people, path):
    url = f"/projects/chest-clinic/{path}"
    assert client_for(people.annotator).post(url).status_code == 403
    assert client_for(people.doctor).post(url).status_code == 403
    assert client_for(people.outsider).post(url).status_code == 404
    assert client_for(people.supervisor).get(url).status_code == 405
    assert Project.objects.get().archived_at is None


@pytest.mark.parametrize("who", ["annotator", "doctor", "supervisor", "superuser"])
def test_every_member_sees_the_overview(client_for, people, who):
    assert client_for(getattr(people, who)).get("/projects/chest-clinic/").status_code == 200


def test_an_outsider_cannot_tell_a_project_from_none(client_for, people):
    client = client_for(people.outsider)
    assert client.get("/projects/chest-clinic/").status_code == 404
    assert client.get("/projects/nothing/").status_code == 404
    assert "Chest clinic" not in client.get("/projects/").content.decode()


def test_the_list_shows_ones_own_projects_and_all_to_administrators(client_for, people):
    factory.make_project("Elsewhere")
    factory.make_project("Old", archived_at=timezone.now())
    mine = client_for(people.annotator).get("/projects/").content.decode()
    assert "Chest clinic" in mine
    assert "Elsewhere" not in mine
    page = client_for(people.superuser).get("/projects/").content.decode()
    assert "Elsewhere" in page
    assert ">Old<" not in page
    assert ">Old<" in client_for(people.superuser).get("/projects/?show=archived").content.decode()
    assert "No project's name contains" in client_for(people.superuser).get("/projects/?q=zzz").content.decode()


def test_supervisors_and_administrators_create_projects(client_for, people):
    for who in (people.annotator, people.doctor, people.outsider):
        assert client_for(who).get("/projects/new/").status_code == 403
        assert client_for(who).post("/projects/new/", {"name": "X", "questionnaire": "cmas"}).status_code == 403
    response = client_for(people.supervisor).post("/projects/new/", {"name": "Heart", "questionnaire": "cmas"})
    assert response.url == "/projects/heart/"
    assert Project.objects.get(slug="heart").memberships.get().user == people.supervisor
    assert client_for(people.superuser).get("/projects/new/").status_code == 200


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"name": "", "questionnaire": "cmas"}, "name"),
        ({"name": "chest CLINIC", "questionnaire": "cmas"}, "name"),
        ({"name": "Heart", "questionnaire": "../cmas"}, "questionnaire"),
    ],
)
def test_a_bad_new_project_is_explained_at_its_field(client_for, people, data, field):
    page = client_for(people.supervisor).post("/projects/new/", data).content.decode()
    assert f'id="id_{field}_error"' in page
    assert Project.objects.count() == 1


def test_the_overview_leads_the_supervisor_from_step_to_step(client_for, people, project):
    client = client_for(people.supervisor)
    assert "First, the dialogues" in client.get("/projects/chest-clinic/").content.decode()
    dialogue = factory.make_dialogue(project)
    page = client.get("/projects/chest-clinic/").content.decode()
    assert "1 dialogue is</strong> assigned to nobody" in page
    label_set = factory.make_label_set(dialogue, people.annotator)
    factory.make_labels(label_set, factory.inform(1, "symptom", "cough", status="yes"))
    page = client.get("/projects/chest-clinic/").content.decode()
    assert "assigned to nobody" not in page
    row = page[page.index(">alice<") :]
    assert "0 of 1" in row[: row.index("</tr>")]
    assert ">9<" in row[: row.index("</tr>")]
    label_set.status = "done"
    label_set.save()
    assert "Every assignment is done" in client.get("/projects/chest-clinic/").content.decode()
    people.annotator.memberships.all().delete()
    people.second.memberships.all().delete()
    assert ">alice<" in client.get("/projects/chest-clinic/").content.decode()


def test_others_progress_is_for_supervisors(client_for, people, label_set):
    for who in (people.second, people.doctor):
        assert "alice" not in client_for(who).get("/projects/chest-clinic/").content.decode()


def test_renaming_archiving_and_restoring(client_for, people):
    client = client_for(people.supervisor)
    url = "/projects/chest-clinic/settings/"
    assert client.post(url, {"name": "Lung clinic"}).url == url
    assert Project.objects.get().name == "Lung clinic"
    assert client.post(url + "archive/").url == url
    assert "was archived on" in client.get("/projects/chest-clinic/").content.decode()
    assert "is archived; restore it" in client.get("/projects/chest-clinic/assign/").content.decode()
    client.post(url + "restore/")
    assert Project.objects.get().archived_at is None


def test_a_taken_name_is_refused_and_the_page_keeps_the_old_one(client_for, people):
    factory.make_project("Other")
    page = client_for(people.supervisor).post("/projects/chest-clinic/settings/", {"name": "other"}).content.decode()
    assert 'id="id_name_error">There is a project named “other”' in page
    assert 'title="Chest clinic">Chest clinic</strong>' in page


def test_only_a_project_that_never_held_anything_is_deleted(client_for, people, project):
    client = client_for(people.supervisor)
    dialogue = factory.make_dialogue(project)
    page = client.post("/projects/chest-clinic/settings/delete/", follow=True).content.decode()
    assert "Archive it instead" in page
    assert "Delete the project" not in page
    dialogue.utterances.all().delete()
    dialogue.delete()
    assert client.post("/projects/chest-clinic/settings/delete/").url == "/projects/"
    assert not Project.objects.exists()


def test_the_overview_of_a_large_project_takes_few_queries(client_for, people, project, django_assert_max_num_queries):
    for _ in range(40):
        dialogue = factory.make_dialogue(project)
        for who in (people.annotator, people.second):
            factory.make_label_set(dialogue, who)
    client = client_for(people.supervisor)
    with django_assert_max_num_queries(14):
        client.get("/projects/chest-clinic/")
