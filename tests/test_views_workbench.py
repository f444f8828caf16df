"""The workbench: the page, and the requests it makes while somebody labels."""

from __future__ import annotations

import html
import json
import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.models import Dialogue, Label, LabelEvent, LabelSet, Project, Role, Status, User
from annotation.services import recent_readings
from annotation.services.readings import utterances_of
from tests import factory
from tests.conftest import People
from tests.factory import TURNS, inform, inquire

WRITES = ["changes", "undo", "redo", "finish", "reopen", "lock"]
# A page must not ask the database more often the longer the dialogue is.
PAGE_QUERIES = 8  # measured; 12 is the most that is allowed
SAVE_QUERIES = 8  # measured, savepoints included


def address(label_set: LabelSet, name: str = "") -> str:
    route = f"workbench-{name}" if name else "workbench"
    return reverse(route, args=[label_set.dialogue.project.slug, label_set.pk])


class Page:
    """Somebody's open workbench."""

    def __init__(self, client: Client, label_set: LabelSet) -> None:
        self.client = client
        self.label_set = label_set

    def open(self) -> HttpResponse:
        return self.client.get(address(self.label_set))

    def send(self, name: str, version: int, **body: Any) -> HttpResponse:
        return self.send_raw(name, json.dumps({"version": version, "key": str(uuid.uuid4()), **body}))

    def send_raw(self, name: str, body: str | bytes) -> HttpResponse:
        return self.client.post(address(self.label_set, name), body, content_type="application/json")

    def add(self, version: int, position: int = 1, value: str = "cough", **more: Any) -> HttpResponse:
        return self.send("changes", version, changes=[change(position, value)], **more)


def change(position: int, value: str, pk: str = "", **answers: Any) -> dict[str, Any]:
    label = {"position": position, "intent": "inform", "slot": "symptom"}
    label["answers"] = {"value": [value], "status": "yes", **answers}
    return {"id": pk or str(uuid.uuid4()), "label": label}


@pytest.fixture
def page(client_for: Callable[[User], Client], label_set: LabelSet, people: People) -> Page:
    return Page(client_for(people.annotator), label_set)


def error_of(response: HttpResponse, status: int, code: str) -> dict[str, Any]:
    assert response.status_code == status, response.content
    error: dict[str, Any] = response.json()["error"]
    assert error["code"] == code
    assert error["message"]
    return error


def data_of(response: HttpResponse) -> dict[str, Any]:
    """The plain data that the page hands to its module."""
    found = re.search(r'<script id="[^"]*" type="application/json">(.*?)</script>', response.content.decode(), re.S)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


# The page


def test_the_page_shows_the_turns_the_labels_and_everything_its_module_needs(page: Page):
    factory.make_labels(page.label_set, inform(1, "symptom", "cough", status="yes", onset="two weeks"))
    response = page.open()
    assert response.status_code == 200
    text = html.unescape(response.content.decode())
    assert all(turn in text for _, turn in TURNS)
    data = data_of(response)
    assert (data["version"], data["status"], data["editable"]) == (1, "in_progress", True)
    assert (data["undo"], data["redo"]) == (True, False)
    assert (data["labelled"], data["total"]) == (1, len(TURNS))
    assert data["labels"]["1"][0]["data"]["answers"]["onset"] == "two weeks"
    assert data["labels"]["0"] == []
    assert data["state"][0]["entries"][0]["value"] == "cough"
    assert data["questionnaire"]["name"] == "cmas"
    assert data["bindings"]


def test_the_page_uses_the_persons_own_keys(page: Page, people: People):
    people.annotator.keymap = {"next": "Ctrl+ArrowDown", "no such": "x"}
    people.annotator.save()
    keys = {row["action"]: row["keys"] for row in data_of(page.open())["bindings"]}
    assert keys["next"] == ["Ctrl+ArrowDown"]
    assert keys["undo"] == ["z", "Ctrl+z"]


def test_markup_in_a_transcript_or_a_value_is_text_on_the_page(
    client_for: Callable[[User], Client], project: Project, people: People
):
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    dialogue = factory.make_dialogue(project, turns=[("doctor", evil), ("patient", evil)])
    label_set = factory.make_label_set(dialogue, people.annotator)
    factory.make_labels(label_set, inform(1, "symptom", evil, status="yes", other=evil))
    response = Page(client_for(people.annotator), label_set).open()
    text = response.content.decode()
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert data_of(response)["labels"]["1"][0]["data"]["answers"]["value"] == [evil]


def test_the_page_of_a_long_dialogue_takes_few_queries(
    project: Project,
    people: People,
    client_for: Callable[[User], Client],
    django_assert_num_queries: DjangoAssertNumQueries,
):
    client = client_for(people.annotator)
    long = _long_label_set(project, people)
    utterances_of.cache_clear()
    recent_readings.forget()
    client.get("/")
    with django_assert_num_queries(PAGE_QUERIES):
        assert client.get(address(long)).status_code == 200


def test_a_save_takes_the_same_few_queries_however_long_the_dialogue_is(
    project: Project,
    people: People,
    page: Page,
    client_for: Callable[[User], Client],
    django_assert_num_queries: DjangoAssertNumQueries,
    transactional_db: None,  # what was saved is only remembered when it is committed
):
    for one, version in ((page, 0), (Page(client_for(people.annotator), _long_label_set(project, people)), 1)):
        one.open()
        assert one.add(version).status_code == 200
        with django_assert_num_queries(SAVE_QUERIES):
            assert one.add(version + 1).status_code == 200


def _long_label_set(project: Project, people: People) -> LabelSet:
    """150 utterances with 200 labels."""
    turns = [(("doctor", "patient")[number % 2], f"Turn {number}") for number in range(150)]
    label_set = factory.make_label_set(factory.make_dialogue(project, turns=turns), people.annotator)
    labels = [
        inform(position, "symptom", f"value {number % 40}", status=("yes", "no")[number % 2], onset=f"{number} days")
        if position % 2
        else inquire(position, "symptom", f"value {number % 40}", checks=["onset"])
        for number, position in enumerate([*range(150), *range(50)])
    ]
    factory.make_labels(label_set, *labels)
    return label_set


# Saving


def test_a_save_answers_with_what_the_page_now_shows(page: Page):
    response = page.add(0, 3, "fever", seconds=7)
    assert response.status_code == 200
    answer = response.json()
    assert (answer["version"], answer["status"], answer["replayed"]) == (1, "in_progress", False)
    assert (answer["undo"], answer["redo"], answer["editable"]) == (True, False, True)
    (label,) = answer["labels"]["3"]
    assert (label["values"], label["sign"], label["gaps"]) == (["fever"], "+", [])
    assert answer["state"][0]["entries"][0]["value"] == "fever"
    assert Label.objects.get().answers == {"value": ["fever"], "status": "yes"}
    page.label_set.refresh_from_db()
    assert page.label_set.active_seconds == 7


def test_a_save_says_contradictions_and_incomplete_labels_as_they_arise(page: Page):
    page.add(0, 1, "fever")
    denied = {**change(3, "fever"), "id": str(uuid.uuid4())}
    denied["label"]["answers"] = {"value": ["fever"], "status": "no"}
    answer = page.send("changes", 1, changes=[denied]).json()
    assert [row["message"] for row in answer["problems"]] == ["fever: affirmed at u1, denied at u3"]
    headless = {"position": 5, "intent": "inform", "slot": "symptom", "answers": {"onset": "15 days"}}
    answer = page.send("changes", 2, changes=[{"label": headless}]).json()
    assert "symptom has no status" in [row["message"] for row in answer["problems"]]
    assert len(answer["labels"]["5"][0]["gaps"]) == 2


def test_what_a_save_touches_is_what_the_whole_page_would_show(page: Page):
    """The page puts the parts in their places; every part must be the one that a reload gives."""
    page.add(0, 1, "fever")
    page.add(1, 1, "cough")
    answer = page.send("changes", 2, changes=[change(5, "fever", onset="a week")]).json()
    whole = data_of(page.open())
    assert answer["labels"] == {"5": whole["labels"]["5"]}
    everything = {(group["slot"], row["value"]): row for group in whole["state"] for row in group["entries"]}
    touched = {(group["slot"], row["value"]): row for group in answer["state"] for row in group["entries"]}
    assert touched == {("symptom", "fever"): everything["symptom", "fever"]}
    assert answer["touched"]["entries"] == [["symptom", "fever"]]
    assert answer["labelled"] == whole["labelled"] == 2


def test_an_edit_touches_the_entry_that_it_leaves_too(page: Page):
    pk = str(uuid.uuid4())
    page.send("changes", 0, changes=[change(1, "fever", pk)])
    answer = page.send("changes", 1, changes=[change(3, "cough", pk)]).json()
    assert sorted(answer["touched"]["entries"]) == [["symptom", "cough"], ["symptom", "fever"]]
    assert sorted(answer["touched"]["positions"]) == [1, 3]
    assert answer["labels"]["1"] == []


def test_undo_and_redo_work_across_reloads(page: Page):
    page.add(0)
    page.add(1, 3, "fever")
    assert data_of(page.open())["undo"]
    answer = page.send("undo", 2).json()
    assert (answer["labels"], answer["undo"], answer["redo"]) == ({"3": []}, True, True)
    assert (data_of(page.open())["undo"], data_of(page.open())["redo"]) == (True, True)
    answer = page.send("undo", 3).json()
    assert (answer["undo"], answer["redo"]) == (False, True)
    answer = page.send("redo", 4).json()
    assert answer["labels"]["1"][0]["values"] == ["cough"]
    page.add(5, 5, "ache")
    error_of(page.send("redo", 6), 400, "refused")
    assert sorted(label.answers["value"][0] for label in Label.objects.all()) == ["ache", "cough"]


@pytest.mark.parametrize("reloaded", [False, True])
def test_a_request_whose_answer_got_lost_may_be_sent_again(page: Page, reloaded: bool):
    pk = str(uuid.uuid4())
    page.send("changes", 0, changes=[change(1, "cough", pk)])
    deleting = {"key": "one", "changes": [{"id": pk, "label": None}]}
    first = page.send("changes", 1, **deleting).json()
    again = page.send("changes", 2 if reloaded else 1, **deleting)
    assert again.status_code == 200
    answer = again.json()
    assert (answer["replayed"], answer["version"]) == (True, first["version"])
    assert LabelEvent.objects.count() == 2


def test_a_request_that_comes_again_late_gets_the_page_as_it_is_now(page: Page):
    page.add(0, key="one")
    page.send("undo", 1)
    answer = page.add(0, key="one").json()
    assert (answer["replayed"], answer["version"]) == (True, 2)
    assert (answer["undo"], answer["redo"]) == (False, True)
    assert answer["touched"] is None
    assert answer["labels"]["1"] == []


def test_a_change_made_elsewhere_is_shown_beside_ones_own_and_overwrites_nothing(page: Page, people: People):
    page.add(0, 1, "cough")
    response = page.add(0, 1, "dry cough")
    error = error_of(response, 409, "conflict")
    assert error["version"] == 1
    (event,) = error["events"]
    assert event["by"] == people.annotator.display_name
    assert event["changes"][0]["after"]["answers"]["value"] == ["cough"]
    assert error["now"]["labels"]["1"][0]["values"] == ["cough"]
    assert error["now"]["version"] == 1
    assert set(error["now"]["labels"]) == {str(position) for position in range(len(TURNS))}
    assert Label.objects.get().answers["value"] == ["cough"]


@pytest.mark.parametrize("name", ["changes", "undo", "redo", "finish", "reopen", "lock"])
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "malformed"),
        (b"{", "malformed"),
        (b"\xff\xfe{}", "malformed"),
        (b'{"version": NaN, "key": "k"}', "malformed"),
        (b'{"version": 1, "key": "\\ud800"}', "malformed"),
        (b"[" * 20_000, "malformed"),
        (b'{"version": ' + b"9" * 5000 + b"}", "malformed"),
        (b"null", "refused"),
        (b"[]", "refused"),
        (b'"x"', "refused"),
        (b"{}", "refused"),
        (b'{"version": "0", "key": "k"}', "refused"),
        (b'{"version": 0}', "refused"),
        (b'{"version": 0, "key": ""}', "refused"),
        (b'{"version": 0, "key": "k", "seconds": "x"}', "refused"),
    ],
)
def test_a_malformed_request_is_refused_in_words(
    page: Page, name: str, body: bytes, code: str, client_for: Callable[[User], Client], people: People
):
    if name == "lock":
        page.client = client_for(people.supervisor)
    error_of(page.send_raw(name, body), 400, code)
    assert not LabelEvent.objects.exists()


@pytest.mark.parametrize(
    "changes",
    [
        None,
        [],
        {},
        "x",
        [None],
        [{"id": "not a uuid", "label": None}],
        [{"id": str(uuid.uuid4()), "label": None}],
        [{"label": []}],
        [{"label": {"position": "1", "intent": "inform"}}],
        [{"label": {"position": 1, "intent": ["inform"]}}],
        [{"label": {"position": 1, "intent": "inform", "origin": ["typed"]}}],
    ],
)
def test_malformed_changes_are_refused_and_name_their_place(page: Page, changes: Any):
    error = error_of(page.send("changes", 0, changes=changes), 400, "refused")
    assert error["fields"][0]["message"] == error["message"]
    assert not LabelEvent.objects.exists()


@pytest.mark.parametrize(
    ("label", "field"),
    [
        ({"position": 99, "intent": "inform"}, "position"),
        ({"position": 1, "intent": "sing"}, "intent"),
        ({"position": 1, "intent": "other", "kept": {"a": [[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]}}, "kept"),
        ({"position": 1, "intent": "diagnosis"}, "intent"),
        ({"position": 1, "intent": "inform", "slot": "mood"}, "slot"),
        ({"position": 1, "intent": "inform", "slot": "symptom", "answers": {"severity": 99}}, "severity"),
        ({"position": 1, "intent": "inform", "slot": "symptom", "answers": {"mood": "x"}}, "mood"),
        ({"position": 1, "intent": "inform", "slot": "symptom", "answers": {"severity.criterion": [1]}}, "severity"),
        ({"position": 1, "intent": "other", "intent_name": "a\x00b"}, "intent"),
    ],
)
def test_a_label_that_cannot_be_names_the_question(page: Page, label: dict[str, Any], field: str):
    error = error_of(page.send("changes", 0, changes=[{"label": label}]), 400, "invalid")
    assert [row["field"] for row in error["fields"]] == [field]
    assert not Label.objects.exists()


def test_an_edit_that_is_refused_leaves_the_label_as_it_was(page: Page):
    pk = str(uuid.uuid4())
    page.send("changes", 0, changes=[change(1, "cough", pk)])
    error_of(page.send("changes", 1, changes=[change(1, "cough", pk, severity="99")]), 400, "invalid")
    assert Label.objects.get().answers == {"value": ["cough"], "status": "yes"}


# Finishing


def test_finishing_names_the_utterances_that_stand_in_the_way(page: Page):
    page.add(0)
    error = error_of(page.send("finish", 1), 400, "unlabelled")
    assert error["positions"] == [0, 2, 3, 4, 5, 6, 7, 8, 9]


def test_finish_with_reasons_reopen_and_go_on(page: Page):
    page.add(0)
    reasons = dict.fromkeys(
        map(str, error_of(page.send("finish", 1), 400, "unlabelled")["positions"]), "nothing to label"
    )
    answer = page.send("finish", 1, reasons=reasons).json()
    assert (answer["status"], answer["editable"]) == ("done", False)
    assert data_of(page.open())["reasons"] == reasons
    error = error_of(page.add(2, 3, "fever"), 409, "not-editable")
    assert "reopen it" in error["message"]
    answer = page.send("reopen", 2).json()
    assert (answer["status"], answer["editable"], answer["undo"]) == ("in_progress", True, True)
    assert page.add(3, 3, "fever").status_code == 200


@pytest.mark.parametrize(
    "reasons", [["x"], "x", {"x": "nothing to label"}, {"0": 1}, {"0": "because"}, {"9" * 5000: "x"}]
)
def test_wrong_reasons_are_refused(page: Page, reasons: Any):
    error_of(page.send("finish", 0, reasons=reasons), 400, "refused")
    page.label_set.refresh_from_db()
    assert page.label_set.status == Status.TODO


def test_a_supervisor_locks_and_unlocks(page: Page, client_for: Callable[[User], Client], people: People):
    LabelSet.objects.update(status=Status.DONE)
    supervisor = Page(client_for(people.supervisor), page.label_set)
    answer = supervisor.send("lock", 0).json()
    assert (answer["status"], answer["editable"]) == ("locked", False)
    error_of(page.send("reopen", 1), 409, "not-editable")
    assert supervisor.send("lock", 1, unlock=True).json()["status"] == "done"
    assert page.send("reopen", 2).json()["status"] == "in_progress"


def test_an_archived_dialogue_is_read_only(page: Page):
    page.add(0)
    Dialogue.objects.update(archived_at=timezone.now())
    assert data_of(page.open())["editable"] is False
    assert "archived" in error_of(page.add(1), 409, "not-editable")["message"]


# Who may do what


@pytest.mark.parametrize("name", ["", *WRITES, "history"])
def test_another_annotators_work_does_not_exist_for_one(
    label_set: LabelSet, client_for: Callable[[User], Client], people: People, name: str
):
    for person in (people.second, people.doctor, people.outsider):
        client = client_for(person)
        send = client.post if name in WRITES else client.get
        assert send(address(label_set, name)).status_code == 404


def test_a_supervisor_sees_and_cannot_change(page: Page, client_for: Callable[[User], Client], people: People):
    page.add(0)
    supervisor = Page(client_for(people.supervisor), page.label_set)
    data = data_of(supervisor.open())
    assert data["editable"] is False
    assert data["labels"]["1"][0]["values"] == ["cough"]
    for name in ("changes", "undo", "redo", "finish", "reopen"):
        assert supervisor.send(name, 1, changes=[change(3, "fever")]).status_code == 403
    assert supervisor.client.get(address(page.label_set, "history")).status_code == 200
    page.label_set.refresh_from_db()
    assert page.label_set.version == Label.objects.count() == 1


def test_an_annotator_cannot_lock_their_own_work(page: Page):
    LabelSet.objects.update(status=Status.DONE)
    assert page.send("lock", 0).status_code == 403
    page.label_set.refresh_from_db()
    assert page.label_set.status == Status.DONE


def test_a_supervisor_who_annotates_changes_their_own_work(
    dialogue: Dialogue, client_for: Callable[[User], Client], people: People, project: Project
):
    factory.make_member(project, people.supervisor, Role.ANNOTATOR)
    own = Page(client_for(people.supervisor), factory.make_label_set(dialogue, people.supervisor))
    assert data_of(own.open())["editable"] is True
    assert own.add(0).status_code == 200


def test_who_left_the_project_no_longer_reaches_their_work(page: Page, people: People):
    people.annotator.memberships.all().delete()
    assert page.open().status_code == 404
    assert page.add(0).status_code == 404


def test_the_address_must_name_the_right_project(page: Page):
    other = factory.make_project("Elsewhere")
    factory.make_member(other, page.label_set.annotator, Role.ANNOTATOR)
    assert page.client.get(reverse("workbench", args=[other.slug, page.label_set.pk])).status_code == 404


@pytest.mark.parametrize("name", WRITES)
def test_a_write_needs_the_token_against_forged_requests(label_set: LabelSet, people: People, name: str):
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.annotator)
    body = json.dumps({"version": 0, "key": "k", "changes": [change(1, "cough")]})
    where = address(label_set, name)
    assert client.post(where, body, content_type="application/json").status_code == 403
    assert client.post(where, body, content_type="text/plain").status_code == 403
    assert not LabelEvent.objects.exists()


def test_a_write_with_the_token_of_the_page_is_carried_out(label_set: LabelSet, people: People):
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.annotator)
    client.get(address(label_set))
    token = client.cookies["csrftoken"].value
    body = json.dumps({"version": 0, "key": "k", "changes": [change(1, "cough")]})
    response = client.post(
        address(label_set, "changes"), body, content_type="application/json", headers={"X-CSRFToken": token}
    )
    assert response.status_code == 200


# The history


def test_the_history_tells_in_words_what_was_done_newest_first(page: Page):
    pk = str(uuid.uuid4())
    page.send("changes", 0, changes=[change(1, "cough", pk)])
    page.send("changes", 1, changes=[change(1, "dry cough", pk)])
    page.send("undo", 2)
    page.send("changes", 3, changes=[{"id": pk, "label": None}])
    text = html.unescape(page.client.get(address(page.label_set, "history")).content.decode())
    lines = [
        "u1: − inform symptom: cough (yes)",
        "u1: inform symptom: dry cough (yes) → inform symptom: cough (yes)",
        "u1: inform symptom: cough (yes) → inform symptom: dry cough (yes)",
        "u1: + inform symptom: cough (yes)",
    ]
    places = [text.find(line) for line in lines]
    assert -1 not in places
    assert places == sorted(places)


def test_the_history_tells_of_finishing(page: Page):
    reasons = {str(position): "nothing to label" for position in range(len(TURNS))}
    page.send("finish", 0, reasons=reasons)
    assert "to do → done" in html.unescape(page.client.get(address(page.label_set, "history")).content.decode())


def test_markup_in_the_history_is_text(page: Page):
    page.add(0, 1, "<img src=x onerror=alert(1)>")
    text = page.client.get(address(page.label_set, "history")).content.decode()
    assert "<img" not in text
    assert "&lt;img src=x" in text


def test_a_large_event_is_told_in_short(page: Page):
    page.send("changes", 0, changes=[change(1, f"value {number}") for number in range(30)])
    text = page.client.get(address(page.label_set, "history")).content.decode()
    assert "value 19" in text
    assert "value 20" not in text
    assert "… and 10 more" in text


def test_a_history_that_nothing_was_done_in_is_shown_too(page: Page):
    assert page.client.get(address(page.label_set, "history")).status_code == 200
