from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotation.models import Dialogue, EventKind, Label, LabelEvent, LabelSet, Membership, Project, Role, Status
from annotation.services.exports import dataset_file, portal_file
from tests.api import Api, error_of
from tests.conftest import People
from tests.factory import inform, inquire, make_dialogue, make_label_set, make_labels, make_member, make_project

DATASET = "projects/chest-clinic/exports/dataset/"
FILE = [
    {"uid": "0", "intent": "salutations"},
    {"uid": "1", "intent": "inform", "slot": "symptom", "value": "cough", "status": "Yes", "when": "two weeks"},
]


@pytest.fixture
def labelled(label_set: LabelSet) -> LabelSet:
    make_labels(
        label_set,
        inform(1, "symptom", "cough", status="yes", onset="two weeks"),
        inquire(2, "symptom", "fever"),
    )
    return label_set


@pytest.fixture
def address(label_set: LabelSet) -> str:
    return f"label-sets/{label_set.pk}/portal-file/"


def test_a_portal_file_is_what_the_page_gives(people: People, labelled: LabelSet, address: str) -> None:
    for person in (people.annotator, people.supervisor, people.superuser):
        response = Api(person).get(address)
        assert response.content.decode() == portal_file(label_set=labelled)
        assert response["X-Portal-Dialogue"] == "RES-TEST"
        assert 'filename="RES-TEST.alice.labels.json"' in response["Content-Disposition"]
    assert [item["uid"] for item in response.json()] == ["1", "2"]


def test_a_portal_file_is_imported_and_comes_back(people: People, label_set: LabelSet, address: str) -> None:
    api = Api(people.annotator)
    done = api.send_file(address, json.dumps(FILE), key="first").json()
    assert (done["labels"], done["added"], done["removed"], done["version"], done["unknown"]) == (2, 2, 0, 1, [])
    assert [(event.kind, event.key) for event in LabelEvent.objects.all()] == [(EventKind.IMPORT, "first")]
    sent_back = api.get(address).content
    assert json.loads(sent_back) == FILE
    assert api.send_file(address, sent_back).json()["added"] == 0


def test_the_same_file_again_changes_nothing_and_says_so(people: People, address: str) -> None:
    api = Api(people.supervisor)
    api.send_file(address, json.dumps(FILE))
    again = api.send_file(address, json.dumps(FILE)).json()
    assert (again["added"], again["removed"], again["version"]) == (0, 0, 1)
    assert "nothing was changed" in again["summary"]
    assert Label.objects.count() == 2


def test_other_labels_stay_unless_they_are_to_be_replaced(people: People, labelled: LabelSet, address: str) -> None:
    api = Api(people.annotator)
    error_of(api.send_file(address, json.dumps(FILE)), 400, "has_labels")
    assert Label.objects.count() == 2
    done = api.send_file(address, json.dumps(FILE), replace="true").json()
    assert (done["added"], done["removed"], done["version"]) == (1, 1, 2)
    assert [label.intent for label in Label.objects.all()] == ["salutations", "inform"]


def test_what_is_not_understood_is_reported_and_kept(people: People, address: str) -> None:
    api = Api(people.annotator)
    odd = [{**FILE[1], "colour of hat": "red"}]
    done = api.send_file(address, json.dumps(odd)).json()
    assert [(item["label"], item["uid"], item["key"], item["value"]) for item in done["unknown"]] == [
        (1, "1", "colour of hat", "red")
    ]
    assert api.get(address).json() == odd


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "unreadable"),
        (b"{", "unreadable"),
        (b'{"uid": "1"}', "unreadable"),
        (b"[1]", "unreadable"),
        (b'[{"uid": "99", "intent": "inform", "slot": "symptom"}]', "unreadable"),
        (b'[{"intent": "inform"}]', "unreadable"),
        (b"[" * 100_000, "unreadable"),
        (b"\x89PNG\r\n" + bytes(50), "unreadable"),
    ],
)
def test_a_file_that_is_no_portal_file_of_this_dialogue_is_refused(
    people: People, label_set: LabelSet, address: str, body: bytes, code: str
) -> None:
    error = error_of(Api(people.annotator).send_file(address, body), 400, code)
    assert error["fields"]["file"]
    assert not LabelEvent.objects.exists()


@pytest.mark.parametrize("intent", ["\\ud800", "x\\u0000y", "x" * 300, "🩺"])
def test_odd_text_in_a_file_never_breaks_the_portal(people: People, address: str, intent: str) -> None:
    body = f'[{{"uid": "1", "intent": "{intent}", "slot": "symptom", "value": "cough"}}]'
    response = Api(people.annotator).send_file(address, body)
    assert response.status_code in (200, 400)


def test_too_large_a_file_or_another_type_is_refused(people: People, address: str) -> None:
    api = Api(people.annotator)
    error_of(api.send_file(address, b" " * (5 * 2**20 + 1)), 413, "too_large")
    error_of(api.upload(address, file="x"), 415, "unsupported_media_type")
    assert set(error_of(api.send_file(address, b"[]", replace="perhaps"), 400, "invalid")["fields"]) == {"replace"}
    assert set(error_of(api.send_file(address, b"[]", replaces="true"), 400, "invalid")["fields"]) == {"replaces"}


def test_portal_files_of_others_are_out_of_reach(people: People, labelled: LabelSet, address: str) -> None:
    for person in (people.second, people.doctor, people.outsider):
        error_of(Api(person).get(address), 404, "not_found")
        error_of(Api(person).send_file(address, json.dumps(FILE), replace="true"), 404, "not_found")
    error_of(Api().get(address), 401, "not_authenticated")
    assert LabelEvent.objects.count() == 1


def test_a_finished_dialogue_takes_no_file(people: People, label_set: LabelSet, address: str) -> None:
    LabelSet.objects.update(status=Status.DONE)
    error_of(Api(people.annotator).send_file(address, json.dumps(FILE)), 400, "not_editable")


def test_a_dataset_is_one_persons_labels(people: People, project: Project, labelled: LabelSet) -> None:
    expected = "".join(dataset_file(project=project, annotator=people.annotator))
    for person in (people.supervisor, people.annotator):
        response = Api(person).get(DATASET, annotator="alice")
        assert response.body.decode() == expected
        assert 'filename="chest-clinic.alice.dialogs.json"' in response["Content-Disposition"]
    turns = json.loads(expected)["RES-TEST"]["utterances"]
    assert turns[1]["dialog_state"] == {"positive_symptom": [{"value": "cough", "onset": "two weeks"}]}
    assert turns[2]["actions"][0]["action"] == "inquire"
    assert Api(people.supervisor).get(DATASET, annotator="alice", done_only="true").body == b"{}\n"


def test_only_supervisors_export_other_peoples_labels(people: People, labelled: LabelSet) -> None:
    for person in (people.second, people.doctor):
        error_of(Api(person).get(DATASET, annotator="alice"), 403, "forbidden")
        error_of(Api(person).get(DATASET, annotator="nobody"), 403, "forbidden")
    error_of(Api(people.outsider).get(DATASET, annotator="otto"), 404, "not_found")
    error_of(Api().get(DATASET, annotator="alice"), 401, "not_authenticated")


def test_a_dataset_is_ones_own_if_nobody_is_named(people: People, labelled: LabelSet) -> None:
    assert b"RES-TEST" in Api(people.annotator).get(DATASET).body
    assert Api(people.supervisor).get(DATASET).body == b"{}\n"
    error_of(Api(people.annotator).get(DATASET, done="1"), 400, "invalid")


def test_the_annotator_of_a_dataset_must_belong_to_the_project(people: People) -> None:
    api = Api(people.supervisor)
    error_of(api.get(DATASET, annotator="otto"), 404, "not_found")
    error_of(api.get(DATASET, annotator="nobody"), 404, "not_found")


def test_the_labels_of_somebody_who_left_can_still_be_exported(people: People, labelled: LabelSet) -> None:
    Membership.objects.filter(user=people.annotator).delete()
    assert b"RES-TEST" in Api(people.supervisor).get(DATASET, annotator="alice").body
    error_of(Api(people.annotator).get(DATASET, annotator="alice"), 404, "not_found")


def test_what_can_be_exported_is_listed(
    people: People, project: Project, dialogue: Dialogue, labelled: LabelSet
) -> None:
    second = make_label_set(make_dialogue(project), people.second)
    make_labels(second, inform(1, "symptom", "cough"))
    LabelSet.objects.filter(pk=second.pk).update(status=Status.DONE)
    path = "projects/chest-clinic/exports/"
    alice = {"annotator": "alice", "dialogues": 1, "done": 0, "labels": 2}
    bob = {"annotator": "bob", "dialogues": 1, "done": 1, "labels": 1}
    assert Api(people.supervisor).get(path).json() == [alice, bob]
    assert Api(people.second).get(path).json() == [bob]
    assert Api(people.doctor).get(path).json() == []
    error_of(Api(people.outsider).get(path), 404, "not_found")


def test_another_projects_supervisor_exports_nothing(people: People, labelled: LabelSet, address: str) -> None:
    make_member(make_project("Elsewhere"), people.outsider, Role.SUPERVISOR)
    api = Api(people.outsider)
    error_of(api.get(address), 404, "not_found")
    error_of(api.get(DATASET, annotator="alice"), 404, "not_found")
    error_of(api.get("projects/elsewhere/exports/dataset/", annotator="alice"), 404, "not_found")


def test_published_labels_go_in_and_come_out_unchanged(people: People, real_data: Path) -> None:
    """RES0001: the dialogue, then its 115 labels, all through the interface."""
    folder = real_data / "meditod"
    supervisor, annotator = Api(people.supervisor), Api(people.annotator)
    with (folder / "RES0001.dialogue.json").open("rb") as stream:
        shown = supervisor.upload("projects/chest-clinic/imports/", files=[stream]).json()
    assert shown["result"]["utterances"] == 112
    made = make_label_set(Dialogue.objects.get(external_id="RES0001"), people.annotator)
    address = f"label-sets/{made.pk}/portal-file/"
    done = annotator.send_file(address, (folder / "RES0001.labels.json").read_bytes()).json()
    assert (done["labels"], done["unknown"]) == (115, [])
    out = annotator.get(address).content
    assert annotator.send_file(address, out).json()["added"] == 0
    assert annotator.get(address).content == out
    state = annotator.get(f"label-sets/{made.pk}/state/").json()
    exported = json.loads(annotator.get("projects/chest-clinic/exports/dataset/", annotator="alice").body)
    turns = exported["RES0001"]["utterances"]
    assert [turn for turn in turns if turn["speaker"] == "patient"][-1]["dialog_state"] == state["dialog_state"]
