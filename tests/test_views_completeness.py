"""The queue of incomplete labels: shown, filtered, returned, taken back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.models import LabelSet, Project, ReturnedItem, Role, Status, User
from annotation.services.completeness import completeness_of
from tests import factory
from tests.conftest import People
from tests.factory import inform

ClientFor = Callable[[User], Client]
QUESTION = "has no status. Which one applies?"


@pytest.fixture
def queue(project: Project) -> str:
    return reverse("completeness", args=[project.slug])


@pytest.fixture
def incomplete(label_set: LabelSet) -> LabelSet:
    factory.make_labels(
        label_set, inform(1, "symptom", "cough"), inform(5, "symptom", onset="15 days ago", status="yes")
    )
    return label_set


def keys(project: Project) -> list[str]:
    return [one.key for one in completeness_of(project).found]


def test_an_empty_project_says_what_will_be_here(client_for: ClientFor, people: People, queue: str):
    assert "Nobody has begun to label yet" in client_for(people.supervisor).get(queue).content.decode()


def test_the_queue_shows_the_question_the_place_and_the_share(
    client_for: ClientFor, people: People, queue: str, incomplete: LabelSet
):
    page = client_for(people.supervisor).get(queue).content.decode()
    assert "Symptom “cough” has no status. Which one applies?" in page
    assert "had this cough for about two weeks" in page
    assert f"work/{incomplete.pk}/#u1" in page
    assert "100.00 %" in page  # both labelled utterances
    assert "8 more in work under way are still to come, and nobody is asked about them" in page
    assert "an utterance without a label (0)" in page


def test_an_utterance_that_two_labelled_is_said_to_count_twice(
    client_for: ClientFor, people: People, queue: str, incomplete: LabelSet
):
    client = client_for(people.supervisor)
    assert "readings of" not in client.get(queue).content.decode()
    factory.make_labels(factory.make_label_set(incomplete.dialogue, people.second), inform(1, "symptom", "fever"))
    assert "these are 3 readings of 2 utterances" in client.get(queue).content.decode()


def test_the_state_of_the_dialogue_is_not_taken_for_that_of_the_question(
    client_for: ClientFor, people: People, queue: str, incomplete: LabelSet
):
    LabelSet.objects.update(status="done")
    page = client_for(people.supervisor).get(queue).content.decode()
    assert "Annotator’s work on the dialogue</th>" in page
    assert "not returned</span>" in page


def test_the_filters_narrow_the_list_and_odd_ones_are_passed_over(
    client_for: ClientFor, people: People, queue: str, incomplete: LabelSet, project: Project
):
    other = factory.make_label_set(incomplete.dialogue, people.second)
    factory.make_labels(other, inform(3, "symptom", "fever"))
    client = client_for(people.supervisor)

    def shown(**given: object) -> list[tuple[int, str]]:
        return [
            (row["one"].question.position, row["one"].question.rule.value)
            for row in client.get(queue, given).context["rows"]
        ]

    assert sorted(shown()) == [(1, "status"), (3, "status"), (5, "head")]
    assert shown(rule="head") == [(5, "head")]
    assert shown(annotator=people.second.pk) == [(3, "status")]
    assert shown(state="returned") == []
    assert len(shown(rule="nonsense", annotator="x", state="y", page="99")) == 3


def test_ticked_questions_go_back_with_the_sentence_and_can_be_taken_back(
    client_for: ClientFor, people: People, queue: str, incomplete: LabelSet, project: Project
):
    LabelSet.objects.update(status=Status.DONE)
    client = client_for(people.supervisor)
    give = reverse("gaps-return", args=[project.slug])
    chosen = [key for key in keys(project) if key.endswith("status")]
    response = client.post(
        give, {"gap": chosen, "note": "Ask yourself.", "request": "r", "rule": "status"}, follow=True
    )
    assert response.redirect_chain[0][0] == f"{queue}?rule=status"
    assert "1 question returned; 1 finished dialogue is open again." in response.content.decode()
    item = ReturnedItem.objects.get()
    assert item.question.endswith("Which one applies? Ask yourself.")
    alice = client_for(people.annotator)
    home = alice.get(reverse("home")).content.decode()
    assert "your supervisor asks what is missing" in home
    assert "1 question" in home
    told = alice.get(reverse("workbench-news", args=[project.slug, incomplete.pk])).json()
    assert told["status"] == "returned"
    (returned,) = told["returned"]
    assert (returned["position"], returned["label"], returned["question"]) == (1, item.label_id, item.question)
    assert "Take back" in client.get(queue, {"state": "returned"}).content.decode()
    client.post(reverse("returned-item-take-back", args=[project.slug, item.pk]))
    assert not ReturnedItem.objects.exists()
    assert LabelSet.objects.get(pk=incomplete.pk).status == Status.DONE


def test_ticking_nothing_says_so_and_keeps_the_sentence(
    client_for: ClientFor, people: People, incomplete: LabelSet, project: Project
):
    response = client_for(people.supervisor).post(
        reverse("gaps-return", args=[project.slug]), {"note": "Keep me.", "request": "r"}
    )
    assert response.status_code == 422
    assert "Tick at least one question" in response.content.decode()
    assert "Keep me." in response.content.decode()


def test_a_gap_of_another_project_is_not_returned(
    client_for: ClientFor, people: People, project: Project, incomplete: LabelSet
):
    far = factory.make_project("Far clinic")
    felix = factory.make_member(far, factory.make_user("felix"), Role.ANNOTATOR)
    label_set = factory.make_label_set(factory.make_dialogue(far), felix)
    factory.make_labels(label_set, inform(1, "symptom", "cough"))
    client_for(people.supervisor).post(reverse("gaps-return", args=[project.slug]), {"gap": keys(far), "request": "r"})
    assert not ReturnedItem.objects.exists()


def test_locked_work_is_shown_with_the_way_to_return_it(
    client_for: ClientFor, people: People, queue: str, incomplete: LabelSet
):
    LabelSet.objects.update(status=Status.LOCKED)
    page = client_for(people.supervisor).get(queue).content.decode()
    assert "unlock the dialogue to return it" in page
    assert 'name="gap"' not in page


def test_two_hundred_gaps_take_as_many_queries_as_two(
    client_for: ClientFor,
    people: People,
    queue: str,
    project: Project,
    django_assert_max_num_queries: DjangoAssertNumQueries,
):
    for number in range(40):
        label_set = factory.make_label_set(factory.make_dialogue(project, f"M{number:02}"), people.second)
        factory.make_labels(label_set, *(inform(position, "symptom", "cough") for position in (1, 3, 5, 7, 9)))
    client = client_for(people.supervisor)
    with django_assert_max_num_queries(11):
        response = client.get(queue)
    assert len(response.context["rows"]) == 50
    assert response.context["page"].paginator.count == 200
