from __future__ import annotations

import pytest

from annotation.models import Dialogue, LabelSet, Project, Role
from tests.api import Api, error_of
from tests.conftest import People
from tests.factory import make_dialogue, make_member, make_project
from tests.qualifying import make_test

PATH = "projects/chest-clinic/assignments/"


def body(**fields: object) -> dict[str, object]:
    return {"dialogues": ["RES-TEST"], "annotator": "alice", **fields}


def test_a_supervisor_assigns_dialogues(people: People, project: Project, dialogue: Dialogue) -> None:
    make_dialogue(project, "CAR-1")
    done = Api(people.supervisor).post(PATH, body(dialogues=["RES-TEST", "CAR-1"])).json()
    assert {(row["dialogue"], row["annotator"], row["status"]) for row in done["created"]} == {
        ("RES-TEST", "alice", "todo"),
        ("CAR-1", "alice", "todo"),
    }
    assert LabelSet.objects.filter(assigned_by=people.supervisor, purpose="work").count() == 2
    assert Api(people.annotator).get(f"label-sets/{done['created'][0]['id']}/").status_code == 200


def test_assigning_again_changes_nothing_and_says_so(people: People, dialogue: Dialogue) -> None:
    api = Api(people.supervisor)
    api.post(PATH, body())
    assert api.post(PATH, body()).json() == {"created": [], "existing": 1}
    assert len(api.post(PATH, body(purpose="training")).json()["created"]) == 1
    assert LabelSet.objects.count() == 2


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"dialogues": ["RES-TEST", "NO-SUCH"]}, "dialogues"),
        ({"dialogues": []}, "dialogues"),
        ({"dialogues": "RES-TEST"}, "dialogues"),
        ({"purpose": "fun"}, "purpose"),
        ({"purpose": "test"}, "purpose"),
        ({"annotator": "dora"}, "annotators"),
        ({"annotator": ""}, "annotator"),
        ({"annotator": None}, "annotator"),
    ],
)
def test_what_cannot_be_assigned_is_named(
    people: People, dialogue: Dialogue, fields: dict[str, object], field: str
) -> None:
    response = Api(people.supervisor).post(PATH, body(**fields))
    assert response.status_code == 400
    assert field in response.json()["error"]["fields"]
    assert not LabelSet.objects.exists()


def test_dialogues_of_another_project_cannot_be_assigned(people: People, dialogue: Dialogue) -> None:
    other = make_project("Elsewhere")
    make_member(other, people.supervisor, Role.SUPERVISOR)
    make_member(other, people.annotator, Role.ANNOTATOR)
    response = Api(people.supervisor).post("projects/elsewhere/assignments/", body())
    assert "RES-TEST" in error_of(response, 400, "invalid")["fields"]["dialogues"][0]
    assert not LabelSet.objects.exists()


def test_who_has_not_passed_the_test_is_named(people: People, project: Project, dialogue: Dialogue) -> None:
    make_test(project, people.supervisor)
    error = error_of(Api(people.supervisor).post(PATH, body()), 400, "refused")
    assert "alice has not passed the test of Chest clinic yet" in error["fields"]["annotators"][0]
    assert not LabelSet.objects.real_work().exists()


def test_only_supervisors_assign(people: People, dialogue: Dialogue) -> None:
    for person in (people.annotator, people.doctor):
        error_of(Api(person).post(PATH, body()), 403, "forbidden")
    error_of(Api(people.outsider).post(PATH, body()), 404, "not_found")
    error_of(Api(people.supervisor).post(PATH, body(annotator="otto")), 404, "not_found")
    error_of(Api().post(PATH, body()), 401, "not_authenticated")
    assert not LabelSet.objects.exists()
