from __future__ import annotations

import uuid

import pytest

from annotation.models import Dialogue, LabelSet, Project, Role
from tests.api import Api, error_of
from tests.conftest import People
from tests.factory import inform, make_dialogue, make_label_set, make_labels, make_member, make_project


@pytest.fixture
def labelled(label_set: LabelSet) -> LabelSet:
    """Cough affirmed at 1 and its onset given twice, fever denied at 3 and affirmed at 5."""
    make_labels(
        label_set,
        inform(1, "symptom", "cough", status="yes", onset="two weeks"),
        inform(3, "symptom", "fever", status="no"),
    )
    make_labels(
        label_set,
        inform(5, "symptom", "cough", status="yes", onset="15 days ago", location=["chest"]),
        inform(5, "symptom", "fever", status="yes"),
    )
    return label_set


def test_annotators_see_their_own_label_sets_and_supervisors_all(
    people: People, dialogue: Dialogue, label_set: LabelSet
) -> None:
    theirs = make_label_set(dialogue, people.second)

    def seen(person) -> list[int]:
        return [row["id"] for row in Api(person).get("label-sets/").json()["results"]]

    assert seen(people.annotator) == [label_set.pk]
    assert seen(people.second) == [theirs.pk]
    assert seen(people.supervisor) == seen(people.superuser) == [label_set.pk, theirs.pk]
    assert seen(people.doctor) == seen(people.outsider) == []


def test_a_row_says_whose_it_is_and_how_far(people: People, labelled: LabelSet) -> None:
    row = Api(people.annotator).get("label-sets/").json()["results"][0]
    expected = {
        "id": labelled.pk,
        "project": "chest-clinic",
        "dialogue": "RES-TEST",
        "annotator": "alice",
        "owner": "annotator",
        "purpose": "work",
        "status": "in_progress",
        "version": 2,
        "utterance_count": 10,
        "labelled_count": 3,
    }
    assert {key: row[key] for key in expected} == expected


def test_label_sets_are_filtered(people: People, project: Project, label_set: LabelSet) -> None:
    make_label_set(make_dialogue(project, "CAR-1"), people.second, status="done")
    make_label_set(make_dialogue(project, "OLD", archived_at="2026-01-01T00:00:00Z"), people.second)
    api = Api(people.supervisor)

    def found(**query: str) -> list[str]:
        return [row["dialogue"] for row in api.get("label-sets/", **query).json()["results"]]

    assert found() == found(project="chest-clinic") == ["CAR-1", "RES-TEST"]
    assert found(status="done") == found(annotator="bob") == found(dialogue="CAR-1") == ["CAR-1"]
    assert found(status="done", annotator="alice") == found(project="elsewhere") == []
    assert found(archived="true") == ["OLD"]
    assert set(error_of(api.get("label-sets/", status="finished"), 400, "invalid")["fields"]) == {"status"}
    assert set(error_of(api.get("label-sets/", anotator="bob"), 400, "invalid")["fields"]) == {"anotator"}


def test_a_filter_does_not_open_what_is_not_visible(people: People, label_set: LabelSet) -> None:
    assert Api(people.second).get("label-sets/", annotator="alice").json()["count"] == 0
    assert Api(people.outsider).get("label-sets/", project="chest-clinic").json()["count"] == 0


@pytest.mark.parametrize("who", ["annotator", "supervisor", "superuser"])
def test_fifty_label_sets_need_few_queries(
    people: People, project: Project, who: str, django_assert_max_num_queries
) -> None:
    for _ in range(55):
        make_labels(make_label_set(make_dialogue(project), people.annotator), inform(1, "symptom", "cough"))
    api = Api(getattr(people, who))
    with django_assert_max_num_queries(8):
        answer = api.get("label-sets/").json()
    assert (answer["count"], len(answer["results"])) == (55, 50)
    assert {row["labelled_count"] for row in answer["results"]} == {1}
    assert len(Api(people.supervisor).get("label-sets/", page=2).json()["results"]) == 5


def test_a_label_set_comes_with_turns_and_labels(people: People, labelled: LabelSet) -> None:
    shown = Api(people.annotator).get(f"label-sets/{labelled.pk}/").json()
    assert [(label["position"], label["answers"]["value"]) for label in shown["labels"]] == [
        (1, ["cough"]),
        (3, ["fever"]),
        (5, ["cough"]),
        (5, ["fever"]),
    ]
    assert shown["utterances"][7]["text"] == "Half a pack of cigarettes per day."
    assert (shown["version"], shown["labelled_count"], shown["can_undo"], shown["can_redo"]) == (2, 3, True, False)
    assert Api(people.supervisor).get(f"label-sets/{labelled.pk}/").json() == shown


def test_a_long_label_set_needs_few_queries(people: People, project: Project, django_assert_max_num_queries) -> None:
    turns = [("doctor" if number % 2 == 0 else "patient", f"Turn {number}.") for number in range(150)]
    label_set = make_label_set(make_dialogue(project, "LONG", turns), people.annotator)
    make_labels(label_set, *[inform(2 * number + 1, "symptom", f"s{number}", status="yes") for number in range(75)])
    api = Api(people.annotator)
    for path in ("", "state/", "findings/", "history/"):
        with django_assert_max_num_queries(9):
            api.get(f"label-sets/{label_set.pk}/{path}")


READS = ["", "state/", "findings/", "history/"]


@pytest.mark.parametrize("path", READS)
def test_another_persons_label_set_is_as_if_it_were_not_there(people: People, labelled: LabelSet, path: str) -> None:
    for person in (people.second, people.doctor, people.outsider):
        error_of(Api(person).get(f"label-sets/{labelled.pk}/{path}"), 404, "not_found")
    error_of(Api(people.superuser).get(f"label-sets/{labelled.pk + 1000}/{path}"), 404, "not_found")
    error_of(Api(people.superuser).get(f"label-sets/{10**25}/{path}"), 404, "not_found")


@pytest.mark.parametrize("path", READS)
def test_a_supervisor_of_another_project_sees_nothing(people: People, labelled: LabelSet, path: str) -> None:
    make_member(make_project("Elsewhere"), people.outsider, Role.SUPERVISOR)
    error_of(Api(people.outsider).get(f"label-sets/{labelled.pk}/{path}"), 404, "not_found")


def test_the_state_says_what_set_and_what_overrode_each_value(people: People, labelled: LabelSet) -> None:
    shown = Api(people.annotator).get(f"label-sets/{labelled.pk}/state/").json()
    assert (shown["at"], shown["version"]) == (9, 2)
    cough, fever = shown["entries"]
    assert cough["attributes"] == {
        "onset": [
            {"position": 1, "value": "two weeks", "overridden_at": 5},
            {"position": 5, "value": "15 days ago", "overridden_at": None},
        ],
        "location": [{"position": 5, "value": ["chest"], "overridden_at": None}],
    }
    assert fever["status"] == "yes"
    assert fever["statuses"] == [
        {"position": 3, "value": "no", "overridden_at": 5},
        {"position": 5, "value": "yes", "overridden_at": None},
    ]


def test_the_state_can_be_had_after_any_utterance(people: People, labelled: LabelSet) -> None:
    api, path = Api(people.annotator), f"label-sets/{labelled.pk}/state/"

    def statuses(at: int) -> dict[str, str]:
        return {entry["value"]: entry["status"] for entry in api.get(path, at=at).json()["entries"]}

    assert [statuses(at) for at in (0, 1, 3, 5)] == [
        {},
        {"cough": "yes"},
        {"cough": "yes", "fever": "no"},
        {"cough": "yes", "fever": "yes"},
    ]
    denied = api.get(path, at=3).json()["dialog_state"]
    assert denied["negative_symptom"] == [{"value": "fever"}]
    assert denied["positive_symptom"] == [{"value": "cough", "onset": "two weeks"}]
    assert [entry["value"] for entry in api.get(path).json()["dialog_state"]["positive_symptom"]] == ["cough", "fever"]
    for at in ("10", "-1", "x", str(10**30)):
        assert "at" in error_of(api.get(path, at=at), 400, "invalid")["fields"]


def test_findings_name_contradictions_and_gaps(people: People, labelled: LabelSet) -> None:
    make_labels(labelled, inform(7, "habit", "smoking"))
    found = Api(people.supervisor).get(f"label-sets/{labelled.pk}/findings/").json()
    assert [(item["earlier"], item["position"], item["value"]) for item in found["contradictions"]] == [
        (1, 5, "cough"),
        (3, 5, "fever"),
    ]
    assert [gap["position"] for gap in found["gaps"] if gap["rule"] == "unlabelled"] == [0, 2, 4, 6, 8, 9]
    assert [(gap["rule"], gap["position"]) for gap in found["gaps"] if gap["label"]] == [("status", 7)]


def test_the_history_is_newest_first_and_names_what_an_undo_took_back(people: People, labelled: LabelSet) -> None:
    api = Api(people.annotator)
    api.post(f"label-sets/{labelled.pk}/undo/", {"version": 2, "key": str(uuid.uuid4())})
    shown = api.get(f"label-sets/{labelled.pk}/history/").json()
    assert [(event["sequence"], event["kind"], event["reverts"], event["by"]) for event in shown["results"]] == [
        (3, "undo", 2, "alice"),
        (2, "change", None, "alice"),
        (1, "change", None, "alice"),
    ]
    assert shown["results"][2]["changes"][0]["after"]["answers"]["value"] == ["cough"]
    assert api.get(f"label-sets/{labelled.pk}/history/", page_size=1, page=3).json()["results"][0]["sequence"] == 1
