from __future__ import annotations

import uuid
from typing import Any

import pytest

from annotation.models import Dialogue, Label, LabelEvent, LabelSet, Status
from tests.api import Api, error_of
from tests.conftest import People
from tests.factory import inform, make_labels

COUGH = {"position": 1, "intent": "inform", "slot": "symptom", "answers": {"value": ["cough"], "status": "yes"}}
STEPS = ["changes", "undo", "redo", "finish", "reopen"]


def key() -> str:
    return str(uuid.uuid4())


def change(label: dict[str, Any] | None, pk: str = "", version: int = 0, **more: Any) -> dict[str, Any]:
    return {"version": version, "key": key(), "changes": [{"id": pk or key(), "label": label}], **more}


@pytest.fixture
def api(people: People) -> Api:
    return Api(people.annotator)


@pytest.fixture
def address(label_set: LabelSet) -> str:
    return f"label-sets/{label_set.pk}/"


def test_a_label_is_made_changed_and_deleted(api: Api, address: str) -> None:
    pk = key()
    made = api.post(address + "changes/", change(COUGH, pk, seconds=30)).json()
    assert (made["version"], made["status"], made["replayed"]) == (1, "in_progress", False)
    assert made["event"]["changes"][0]["before"] is None
    assert made["event"]["changes"][0]["after"]["answers"] == {"value": ["cough"], "status": "yes"}
    edited = {**COUGH, "answers": {"value": ["cough"], "status": "yes", "onset": "two  weeks "}}
    assert api.post(address + "changes/", change(edited, pk, 1)).json()["version"] == 2
    assert Label.objects.get().answers["onset"] == "two weeks"
    assert api.post(address + "changes/", change(None, pk, 2)).json()["event"]["changes"][0]["after"] is None
    assert not Label.objects.exists()
    assert LabelSet.objects.get().active_seconds == 30


def test_what_is_read_can_be_sent_back(api: Api, address: str) -> None:
    api.post(address + "changes/", change(COUGH))
    label = api.get(address).json()["labels"][0]
    saved = api.post(address + "changes/", change(label, label["id"], 1)).json()
    assert saved["event"]["changes"][0]["before"] == saved["event"]["changes"][0]["after"] == label


def test_undo_and_redo_go_back_and_forth(api: Api, address: str) -> None:
    api.post(address + "changes/", change(COUGH))
    assert api.post(address + "undo/", {"version": 1, "key": key()}).json()["event"]["kind"] == "undo"
    assert not Label.objects.exists()
    assert api.get(address).json()["can_redo"] is True
    assert api.post(address + "redo/", {"version": 2, "key": key()}).json()["version"] == 3
    assert Label.objects.get().slot == "symptom"
    error_of(api.post(address + "redo/", {"version": 3, "key": key()}), 400, "refused")
    assert LabelSet.objects.get().version == 3


def test_the_same_request_again_does_nothing_again(api: Api, address: str) -> None:
    request = change(COUGH)
    first = api.post(address + "changes/", request).json()
    again = api.post(address + "changes/", request).json()
    assert again == {**first, "replayed": True}
    assert (Label.objects.count(), LabelEvent.objects.count()) == (1, 1)


def test_an_older_version_is_a_conflict_that_says_what_happened(api: Api, address: str) -> None:
    api.post(address + "changes/", change(COUGH))
    error = error_of(api.post(address + "changes/", change(COUGH)), 409, "conflict")
    assert error["version"] == 1
    assert error["events"][0]["by"] == "alice"
    assert error["events"][0]["changes"][0]["after"]["answers"]["value"] == ["cough"]
    for step in ("undo", "redo"):
        error_of(api.post(f"{address}{step}/", {"version": 0, "key": key()}), 409, "conflict")
    assert Label.objects.count() == 1


def test_a_label_that_the_questionnaire_does_not_allow_is_refused(api: Api, address: str) -> None:
    wrong = {**COUGH, "answers": {"value": ["cough"], "severity": "eleven", "colour": "red"}}
    error = error_of(api.post(address + "changes/", change(wrong)), 400, "invalid_label")
    assert set(error["fields"]) == {"severity", "colour"}
    for bad in ({"slot": "nothing"}, {"intent": "sing"}, {"position": 99}, {"position": -1}, {"answers": []}):
        assert api.post(address + "changes/", change({**COUGH, **bad})).status_code == 400
    assert not LabelEvent.objects.exists()


def test_all_changes_of_a_request_are_made_or_none(api: Api, address: str) -> None:
    request = change(COUGH)
    request["changes"].append({"id": key(), "label": {**COUGH, "slot": "nothing"}})
    error_of(api.post(address + "changes/", request), 400, "invalid_label")
    assert not Label.objects.exists()
    assert LabelSet.objects.get().version == 0


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"version": "0", "key": "k", "changes": [{"id": "x", "label": COUGH}]},
        {"version": -1, "key": "k", "changes": [{"label": COUGH}]},
        {"version": 10**40, "key": "k", "changes": [{"label": COUGH}]},
        {"version": True, "key": "k", "changes": [{"label": COUGH}]},
        {"version": 0, "key": "", "changes": [{"label": COUGH}]},
        {"version": 0, "key": "k" * 65, "changes": [{"label": COUGH}]},
        {"version": 0, "key": "k", "changes": []},
        {"version": 0, "key": "k", "changes": {}},
        {"version": 0, "key": "k", "changes": [{"id": "no uuid", "label": COUGH}]},
        {"version": 0, "key": "k", "changes": [{"id": key(), "label": None}]},
        {"version": 0, "key": "k", "changes": [{"label": {**COUGH, "colour": "red"}}]},
        {"version": 0, "key": "k", "changes": [{"label": COUGH}] * 201},
    ],
)
def test_a_request_of_another_shape_is_refused_in_words(api: Api, address: str, request_: dict[str, Any]) -> None:
    error_of(api.post(address + "changes/", request_), 400, "refused")
    assert LabelSet.objects.get().version == 0


def test_somebody_elses_label_cannot_be_reached(people: People, dialogue: Dialogue, api: Api, address: str) -> None:
    theirs = LabelSet.objects.create(dialogue=dialogue, annotator=people.second)
    make_labels(theirs, inform(1, "symptom", "fever", status="yes"))
    pk = str(Label.objects.get().pk)
    error_of(api.post(address + "changes/", change(COUGH, pk)), 400, "refused")
    error_of(api.post(address + "changes/", change(None, pk)), 400, "refused")
    assert Label.objects.get().answers["value"] == ["fever"]


@pytest.mark.parametrize("step", STEPS)
def test_only_the_annotator_writes(people: People, label_set: LabelSet, address: str, step: str) -> None:
    body = change(COUGH)
    for person in (people.second, people.doctor, people.outsider):
        error_of(Api(person).post(f"{address}{step}/", body), 404, "not_found")
    for person in (people.supervisor, people.superuser):
        error_of(Api(person).post(f"{address}{step}/", body), 403, "forbidden")
    error_of(Api().post(f"{address}{step}/", body), 401, "not_authenticated")
    label_set.refresh_from_db()
    assert (label_set.version, label_set.status) == (0, "todo")


def test_finishing_needs_a_label_or_a_reason_for_every_turn(api: Api, address: str, label_set: LabelSet) -> None:
    api.post(address + "changes/", change(COUGH))
    body = {"version": 1, "key": key()}
    error = error_of(api.post(address + "finish/", body), 400, "unlabelled")
    assert error["positions"] == [0, 2, 3, 4, 5, 6, 7, 8, 9]
    reason = label_set.dialogue.project.questionnaire.unlabelled_reasons[0]
    reasons = {str(position): reason for position in error["positions"]}
    done = api.post(address + "finish/", {**body, "reasons": reasons}).json()
    assert (done["version"], done["status"]) == (2, "done")
    assert done["event"]["changes"] == [{"before": "in_progress", "after": "done"}]
    shown = api.get(address).json()
    assert shown["unlabelled_reasons"] == reasons
    assert [gap for gap in api.get(address + "findings/").json()["gaps"] if gap["rule"] == "unlabelled"] == []


@pytest.mark.parametrize("reasons", [[], "x", {"a": "to be discussed"}, {"-1": "x"}, {"0": 3}, {"0": "no reason"}])
def test_reasons_must_be_listed_ones_by_position(api: Api, address: str, reasons: Any) -> None:
    body = {"version": 0, "key": key(), "reasons": reasons}
    assert "reasons" in error_of(api.post(address + "finish/", body), 400, "refused")["fields"]


def test_what_is_done_is_reopened_before_it_changes(api: Api, address: str, label_set: LabelSet) -> None:
    error_of(api.post(address + "reopen/", {"version": 0, "key": key()}), 400, "not_editable")
    LabelSet.objects.update(status=Status.DONE)
    error_of(api.post(address + "changes/", change(COUGH)), 400, "not_editable")
    assert api.post(address + "reopen/", {"version": 0, "key": key()}).json()["status"] == "in_progress"
    assert api.post(address + "changes/", change(COUGH, version=1)).status_code == 200


@pytest.mark.parametrize("step", STEPS)
def test_a_locked_or_archived_dialogue_stays_as_it_is(api: Api, address: str, label_set: LabelSet, step: str) -> None:
    LabelSet.objects.update(status=Status.LOCKED)
    body = change(COUGH)
    assert api.post(f"{address}{step}/", body).status_code == 400
    Dialogue.objects.update(archived_at="2026-01-01T00:00:00Z")
    assert api.post(f"{address}{step}/", body).status_code == 400
    label_set.refresh_from_db()
    assert (label_set.version, label_set.status) == (0, "locked")


def test_a_key_of_an_earlier_request_never_breaks_a_later_one(api: Api, address: str) -> None:
    """Whatever is made of a key that is used twice by mistake, it is not an error of the portal."""
    request = change(COUGH)
    api.post(address + "changes/", request)
    response = api.post(address + "changes/", {**change(COUGH, version=1), "key": request["key"]})
    assert response.status_code in (200, 400, 409)
    assert LabelSet.objects.get().version == LabelEvent.objects.count()
