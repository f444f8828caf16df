"""The concerns' pages, what the open workbench is told, and what the guidelines gain."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.models import Concern, GuidelineNote, LabelSet, Project, User
from annotation.services.concerns import concern_answer, concern_publish, concern_raise
from tests import factory
from tests.conftest import People
from tests.factory import inform

ClientFor = Callable[[User], Client]
QUESTION = "Is a cold an onset?"
ANSWER = "Only when the patient says it began then."


@pytest.fixture
def concern(label_set: LabelSet, people: People) -> Concern:
    factory.make_labels(label_set, inform(5, "symptom", "cough", status="yes", onset="15 days ago"))
    label = str(label_set.labels.get().pk)
    return concern_raise(
        label_set=label_set, actor=people.annotator, position=5, text=QUESTION, key="first", label_id=label
    )


def address(name: str, concern: Concern) -> str:
    return reverse(name, args=[concern.label_set.dialogue.project.slug, concern.pk])


def at_work(name: str, label_set: LabelSet) -> str:
    return reverse(name, args=[label_set.dialogue.project.slug, label_set.pk])


def send(client: Client, name: str, label_set: LabelSet, **body: Any) -> Any:
    return client.post(at_work(name, label_set), json.dumps(body), content_type="application/json")


def news(client: Client, label_set: LabelSet) -> dict[str, Any]:
    found: dict[str, Any] = client.get(at_work("workbench-news", label_set)).json()
    return found


def test_the_list_shows_who_asks_to_supervisors_only(client_for: ClientFor, people: People, concern: Concern):
    url = reverse("concerns", args=["chest-clinic"])
    for_supervisor = client_for(people.supervisor).get(url).content.decode()
    assert QUESTION in for_supervisor
    assert "alice" in for_supervisor
    for_doctor = client_for(people.doctor).get(url).content.decode()
    assert QUESTION in for_doctor
    assert "alice" not in for_doctor
    assert "alice" not in client_for(people.doctor).get(address("concern", concern)).content.decode()


def test_the_list_says_nothing_until_something_changed(client_for: ClientFor, people: People, concern: Concern):
    client = client_for(people.supervisor)
    url = reverse("concerns", args=["chest-clinic"])

    def stamp() -> str:
        return client.get(url).context["stamp"]

    before = stamp()
    assert client.get(url, {"stamp": before}, headers={"HX-Request": "true"}).status_code == 204
    concern_answer(concern=concern, actor=people.doctor, text=ANSWER)
    changed = client.get(url, {"stamp": before, "show": "all"}, headers={"HX-Request": "true"})
    assert "answered" in changed.content.decode()
    assert "<html" not in changed.content.decode()
    before = stamp()
    concern_publish(concern=concern, actor=people.doctor, text="x")
    assert stamp() != before


def test_asking_whether_something_changed_is_cheap(
    client_for: ClientFor,
    people: People,
    concern: Concern,
    django_assert_max_num_queries: DjangoAssertNumQueries,
):
    client = client_for(people.supervisor)
    url = reverse("concerns", args=["chest-clinic"])
    stamp = client.get(url).context["stamp"]
    with django_assert_max_num_queries(5):
        client.get(url, {"stamp": stamp}, headers={"HX-Request": "true"})


def test_a_doctor_who_labels_the_dialogue_too_finds_nothing(client_for: ClientFor, people: People, concern: Concern):
    factory.make_label_set(concern.label_set.dialogue, people.doctor)
    client = client_for(people.doctor)
    assert QUESTION not in client.get(reverse("concerns", args=["chest-clinic"]), {"show": "all"}).content.decode()
    assert client.get(address("concern", concern)).status_code == 404
    assert client.post(address("concern-answer", concern), {"text": ANSWER}).status_code == 404


def test_the_page_of_a_concern_shows_the_label_and_what_was_said_around_it(
    client_for: ClientFor, people: People, concern: Concern
):
    text = client_for(people.doctor).get(address("concern", concern)).content.decode()
    assert "inform symptom: cough (yes), onset: 15 days ago" in text
    assert "Any fever or night sweats?" in text
    assert "what brings you in today" not in text
    Concern.objects.update(label_id="00000000-0000-0000-0000-000000000000")
    assert "has been deleted since" in client_for(people.doctor).get(address("concern", concern)).content.decode()


def test_the_labels_of_the_utterance_stand_beside_it_for_a_supervisor_who_does_not_label_it(
    client_for: ClientFor, people: People, concern: Concern
):
    Concern.objects.update(label_id="")
    said = "<li>inform symptom: cough (yes), onset: 15 days ago</li>"
    client = client_for(people.supervisor)
    assert said in client.get(address("concern", concern)).content.decode()
    assert "Close the concern" in client.get(address("concern", concern)).content.decode()
    assert said not in client_for(people.doctor).get(address("concern", concern)).content.decode()
    factory.make_label_set(concern.label_set.dialogue, people.supervisor)
    assert said not in client.get(address("concern", concern)).content.decode()


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("concern-answer", {"text": "  "}, "This field is required."),
        ("concern-publish", {"guideline": ""}, "This field is required."),
        ("concern-publish", {"guideline": "So.", "slot": "nonsense"}, "nonsense"),
    ],
)
def test_an_error_stands_beside_its_field(
    client_for: ClientFor, people: People, concern: Concern, name: str, body: dict[str, str], said: str
):
    response = client_for(people.doctor).post(address(name, concern), body)
    assert response.status_code == 422
    assert said in response.content.decode()
    assert not concern.messages.exists()
    assert not GuidelineNote.objects.exists()


def test_answered_published_and_seen_by_everybody_without_a_name(
    client_for: ClientFor, people: People, concern: Concern, label_set: LabelSet
):
    doctor, alice, bob = (client_for(user) for user in (people.doctor, people.annotator, people.second))
    assert doctor.post(address("concern-answer", concern), {"text": ANSWER}).status_code == 302
    found = news(alice, label_set)["concerns"]
    assert [(item["status"], item["messages"]) for item in found] == [("answered", [{"own": False, "text": ANSWER}])]
    given = {"guideline": "A cold is no onset.", "example": "“after a cold”", "intent": "inform", "slot": "symptom"}
    assert doctor.post(address("concern-publish", concern), given).status_code == 302
    theirs = factory.make_label_set(label_set.dialogue, people.second)
    told = news(bob, theirs)
    assert told["concerns"] == []
    assert told["notes"] == [
        {"intent": "inform", "slot": "symptom", "text": "A cold is no onset.", "example": "“after a cold”"}
    ]
    guidelines = bob.get(reverse("guidelines", args=["chest-clinic"])).content.decode()
    assert "A cold is no onset." in guidelines
    for page in (guidelines, json.dumps(told), bob.get(at_work("workbench", theirs)).content.decode()):
        assert QUESTION not in page
        assert ANSWER not in page
        assert "alice" not in page
        assert "dora" not in page
    note = GuidelineNote.objects.get()
    withdraw = reverse("guideline-note-withdraw", args=["chest-clinic", note.pk])
    assert withdraw not in guidelines
    assert doctor.post(withdraw).status_code == 302
    assert "A cold is no onset." not in bob.get(reverse("guidelines", args=["chest-clinic"])).content.decode()
    assert news(bob, theirs)["notes"] == []


def test_a_concern_is_raised_once_and_closed_from_the_workbench(
    client_for: ClientFor, people: People, label_set: LabelSet
):
    alice = client_for(people.annotator)
    for _ in range(2):
        told = send(alice, "workbench-concern", label_set, key="k", position=3, text="No to both?").json()
    assert [(item["position"], item["text"], item["status"]) for item in told["concerns"]] == [
        (3, "No to both?", "open")
    ]
    told = send(alice, "workbench-concern-close", label_set, concern=told["concerns"][0]["id"]).json()
    assert told["concerns"][0]["status"] == "closed"


@pytest.mark.parametrize(
    "body",
    [
        {"key": "k", "position": "3", "text": "Why?"},
        {"key": "k", "position": True, "text": "Why?"},
        {"key": "k", "position": 99, "text": "Why?"},
        {"key": "k", "position": 3, "text": ""},
        {"key": "k", "position": 3, "text": ["Why?"]},
        {"position": 3, "text": "Why?"},
        {},
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(
    client_for: ClientFor, people: People, label_set: LabelSet, body: dict[str, Any]
):
    response = send(client_for(people.annotator), "workbench-concern", label_set, **body)
    assert response.status_code == 400
    assert response.json()["error"]["message"]
    assert not Concern.objects.exists()


def test_nobody_closes_a_concern_of_another_label_set(
    client_for: ClientFor, people: People, concern: Concern, project: Project
):
    theirs = factory.make_label_set(factory.make_dialogue(project), people.second)
    response = send(client_for(people.second), "workbench-concern-close", theirs, concern=concern.pk)
    assert response.status_code == 400
    assert Concern.objects.get().status == "open"


def test_my_work_points_to_the_answer_until_it_was_read(
    client_for: ClientFor, people: People, concern: Concern, label_set: LabelSet
):
    alice = client_for(people.annotator)
    assert "For you" not in alice.get(reverse("home")).content.decode()
    concern_answer(concern=concern, actor=people.doctor, text=ANSWER)
    page = alice.get(reverse("home")).content.decode()
    assert f"{at_work('workbench', label_set)}#u5" in page
    assert "1 answer" in page
    assert "For you" not in client_for(people.second).get(reverse("home")).content.decode()
    send(alice, "workbench-concern-close", label_set, concern=concern.pk)
    assert "For you" not in alice.get(reverse("home")).content.decode()


def test_asking_for_news_takes_few_queries(
    client_for: ClientFor,
    people: People,
    concern: Concern,
    label_set: LabelSet,
    django_assert_max_num_queries: DjangoAssertNumQueries,
):
    client = client_for(people.annotator)
    with django_assert_max_num_queries(8):
        client.get(at_work("workbench-news", label_set))


def test_a_reply_is_seen_by_who_answers_and_by_nobody_else(
    client_for: ClientFor, people: People, concern: Concern, label_set: LabelSet
):
    words = "That is not what I meant."
    doctor, alice = client_for(people.doctor), client_for(people.annotator)
    doctor.post(address("concern-answer", concern), {"text": ANSWER})
    told = send(alice, "workbench-concern-reply", label_set, key="r", concern=concern.pk, text=words).json()
    assert told["concerns"][0]["messages"] == [{"own": False, "text": ANSWER}, {"own": True, "text": words}]
    assert told["concerns"][0]["status"] == "open"
    for_doctor = doctor.get(address("concern", concern)).content.decode()
    assert words in for_doctor
    assert "The annotator replied" in for_doctor
    assert "alice" not in for_doctor
    assert "alice replied" in client_for(people.supervisor).get(address("concern", concern)).content.decode()
    assert "asks again" in doctor.get(reverse("concerns", args=["chest-clinic"])).content.decode()
    theirs = factory.make_label_set(label_set.dialogue, people.second)
    bob = client_for(people.second)
    assert words not in json.dumps(news(bob, theirs))
    response = send(bob, "workbench-concern-reply", theirs, key="x", concern=concern.pk, text="Me too.")
    assert response.status_code == 400
    assert response.json()["error"]["message"] == "This dialogue has no such question."
    assert concern.messages.count() == 2


def test_the_thread_of_an_open_page_updates_by_itself(
    client_for: ClientFor, people: People, concern: Concern, label_set: LabelSet
):
    client = client_for(people.supervisor)
    stamp = client.get(address("concern", concern)).context["stamp"]

    def asked() -> Any:
        return client.get(address("concern", concern), {"stamp": stamp}, headers={"HX-Request": "true"})

    assert asked().status_code == 204
    send(client_for(people.annotator), "workbench-concern-reply", label_set, key="r", concern=concern.pk, text="And?")
    changed = asked().content.decode()
    assert "And?" in changed
    assert 'hx-swap-oob="true" id="concern-status"' in changed
    assert "<html" not in changed


def test_a_concern_is_not_closed_over_a_message_that_nobody_has_seen(
    client_for: ClientFor, people: People, concern: Concern, label_set: LabelSet
):
    """Both sides have the thread open; what comes in between is read before it is closed."""
    doctor, alice = client_for(people.doctor), client_for(people.annotator)
    page = reverse("concern", args=["chest-clinic", concern.pk])
    close = reverse("concern-close", args=["chest-clinic", concern.pk])
    assert '<input type="hidden" name="seen" value="0" form="close">' in doctor.get(page).content.decode()
    send(alice, "workbench-concern-reply", label_set, key="r", concern=concern.pk, text="Or is it?")
    refused = doctor.post(close, {"seen": "0"}, follow=True)
    assert refused.redirect_chain[-1][0] == page
    assert "Something was said here meanwhile" in refused.content.decode()
    concern_answer(concern=concern, actor=people.doctor, text=ANSWER)
    error = send(alice, "workbench-concern-close", label_set, concern=concern.pk, seen=1)
    assert (error.status_code, Concern.objects.get().status) == (400, "answered")
    assert send(alice, "workbench-concern-close", label_set, concern=concern.pk, seen=2).status_code == 200
    assert Concern.objects.get().status == "closed"
    assert doctor.post(close, {"seen": "2"}, follow=True).redirect_chain
