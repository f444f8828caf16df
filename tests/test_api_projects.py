from __future__ import annotations

import pytest

from annotation.models import Dialogue, Project, Role
from tests.api import Api, error_of
from tests.conftest import People
from tests.factory import make_dialogue, make_member, make_project


def test_me_names_the_person_and_their_roles(people: People, project: Project) -> None:
    make_member(project, people.annotator, Role.DOCTOR)
    made = Api(people.annotator).get("me/").json()
    assert made["username"] == "alice"
    assert [(row["slug"], row["roles"]) for row in made["projects"]] == [("chest-clinic", ["annotator", "doctor"])]
    assert Api(people.outsider).get("me/").json()["projects"] == []


def test_projects_are_listed_to_their_members_only(people: People, project: Project) -> None:
    make_project("Elsewhere")
    rows = Api(people.annotator).get("projects/").json()
    assert (rows["count"], [row["slug"] for row in rows["results"]]) == (1, ["chest-clinic"])
    assert Api(people.outsider).get("projects/").json()["count"] == 0
    everything = Api(people.superuser).get("projects/").json()["results"]
    assert [(row["slug"], row["roles"]) for row in everything] == [
        ("chest-clinic", ["supervisor"]),
        ("elsewhere", ["supervisor"]),
    ]


def test_archived_projects_are_listed_when_asked_for(people: People, project: Project) -> None:
    old = make_project("Old", archived_at="2026-01-01T00:00:00Z")
    make_member(old, people.annotator, Role.ANNOTATOR)
    api = Api(people.annotator)
    assert [row["slug"] for row in api.get("projects/").json()["results"]] == ["chest-clinic"]
    assert [row["slug"] for row in api.get("projects/", archived=True).json()["results"]] == ["old"]


def test_a_misspelt_parameter_is_refused(people: People) -> None:
    error = error_of(Api(people.annotator).get("projects/", archive="true"), 400, "invalid")
    assert "archived" in error["fields"]["archive"][0]
    error_of(Api(people.annotator).get("projects/", archived="perhaps"), 400, "invalid")


def test_fifty_projects_need_few_queries(people: People, django_assert_max_num_queries) -> None:
    for _ in range(50):
        make_member(make_project(), people.annotator, Role.ANNOTATOR)
    api = Api(people.annotator)
    with django_assert_max_num_queries(6):
        assert len(api.get("projects/").json()["results"]) == 50


def test_a_project_is_shown_to_members_and_hidden_from_others(people: People) -> None:
    shown = Api(people.doctor).get("projects/chest-clinic/").json()
    assert shown["questionnaire"]["name"] == "cmas"
    assert shown["roles"] == ["doctor"]
    error_of(Api(people.outsider).get("projects/chest-clinic/"), 404, "not_found")
    error_of(Api(people.outsider).get("projects/no-such/"), 404, "not_found")


def test_a_supervisor_creates_a_project_and_supervises_it(people: People) -> None:
    response = Api(people.supervisor).post("projects/", {"name": "Heart  clinic", "questionnaire": "cmas"})
    assert response.status_code == 201
    assert response.json()["slug"] == "heart-clinic"
    assert response.json()["roles"] == ["supervisor"]
    assert Project.objects.get(slug="heart-clinic").created_by == people.supervisor


def test_whoever_supervises_nothing_creates_no_project(people: People) -> None:
    for person in (people.annotator, people.doctor, people.outsider):
        error_of(Api(person).post("projects/", {"name": "Mine"}), 403, "forbidden")
    assert Project.objects.count() == 1


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({}, "name"),
        ({"name": "  "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": 3.5e3 * 1j.imag, "questionnaire": ["cmas"]}, "questionnaire"),
        ({"name": "a\u0000b"}, "name"),
        ({"name": "CHEST CLINIC"}, "name"),
        ({"name": "New", "questionnaire": "nope"}, "questionnaire"),
        ([], ""),
    ],
)
def test_a_project_needs_a_free_name_and_a_known_questionnaire(people: People, data: object, field: str) -> None:
    response = Api(people.supervisor).post("projects/", data)
    assert response.status_code == 400
    assert field in response.json()["error"].get("fields", {"": []})
    assert Project.objects.count() == 1


def test_dialogues_are_for_supervisors_and_doctors(people: People, dialogue: Dialogue) -> None:
    for person in (people.supervisor, people.doctor, people.superuser):
        rows = Api(person).get("projects/chest-clinic/dialogues/").json()["results"]
        assert [row["external_id"] for row in rows] == ["RES-TEST"]
    error_of(Api(people.annotator).get("projects/chest-clinic/dialogues/"), 403, "forbidden")
    error_of(Api(people.outsider).get("projects/chest-clinic/dialogues/"), 404, "not_found")


def test_dialogues_are_filtered_and_paged(people: People, project: Project, dialogue: Dialogue) -> None:
    make_dialogue(project, "CAR-1", specialty="cardiac")
    make_dialogue(project, "GONE", archived_at="2026-01-01T00:00:00Z")
    api = Api(people.supervisor)

    def ids(**query: object) -> list[str]:
        found = api.get("projects/chest-clinic/dialogues/", **query).json()["results"]
        return [row["external_id"] for row in found]

    assert ids() == ["CAR-1", "RES-TEST"]
    assert ids(specialty="cardiac") == ["CAR-1"]
    assert ids(external_id="RES-TEST") == ["RES-TEST"]
    assert ids(archived="true") == ["GONE"]
    assert ids(page_size=1, page=2) == ["RES-TEST"]
    error_of(api.get("projects/chest-clinic/dialogues/", page=99), 404, "not_found")
    error_of(api.get("projects/chest-clinic/dialogues/", id="RES-TEST"), 400, "invalid")


def test_a_dialogue_comes_with_its_turns(people: People, dialogue: Dialogue) -> None:
    shown = Api(people.doctor).get(f"projects/chest-clinic/dialogues/{dialogue.pk}/").json()
    assert len(shown["utterances"]) == shown["utterance_count"] == 10
    assert shown["utterances"][3] == {
        "position": 3,
        "speaker": "patient",
        "text": "No.",
        "keywords": [],
        "warning": "",
    }


def test_a_dialogue_is_hidden_from_outsiders_and_other_projects(people: People, dialogue: Dialogue) -> None:
    path = f"projects/chest-clinic/dialogues/{dialogue.pk}/"
    error_of(Api(people.annotator).get(path), 403, "forbidden")
    error_of(Api(people.outsider).get(path), 404, "not_found")
    other = make_project("Elsewhere")
    make_member(other, people.supervisor, Role.SUPERVISOR)
    error_of(Api(people.supervisor).get(f"projects/elsewhere/dialogues/{dialogue.pk}/"), 404, "not_found")
    error_of(Api(people.supervisor).get(f"projects/chest-clinic/dialogues/{10**30}/"), 404, "not_found")


def test_questionnaires_are_given_whole(people: People) -> None:
    api = Api(people.outsider)
    rows = api.get("questionnaires/").json()
    assert "cmas" in [row["name"] for row in rows]
    shown = api.get("questionnaires/cmas/").json()
    symptom = next(slot for slot in shown["slots"] if slot["name"] == "symptom")
    assert symptom["head"] == "value"
    assert {choice["name"] for choice in symptom["fields"][1]["choices"]} == {"yes", "no", "not sure"}
    assert api.get("questionnaires/cmas/", version=shown["version"]).json() == shown


def test_a_questionnaire_that_is_not_there_is_said_so(people: People) -> None:
    api = Api(people.annotator)
    assert "nope" in error_of(api.get("questionnaires/nope/"), 404, "not_found")["message"]
    assert "0.0" in error_of(api.get("questionnaires/cmas/", version="0.0"), 404, "not_found")["message"]
