"""Dividing dialogues on the pages: the form, the plan to look at, writing it; people who join or leave; the queue."""

from __future__ import annotations

import re

import pytest
from django.utils import timezone

from annotation.models import AssignmentRun, LabelSet, Role, Status
from annotation.services.group_assignment import assignment_write
from tests import factory
from tests.qualifying import make_test

GROUPS = "/projects/chest-clinic/assign/groups/"
CHANGES = "/projects/chest-clinic/assign/changes/"
NEXT = "/projects/chest-clinic/next/"


@pytest.fixture
def third(project, people):
    return factory.make_member(project, factory.make_user("cleo", first_name="Cleo", last_name="Ash"), Role.ANNOTATOR)


@pytest.fixture
def corpus(project):
    return [factory.make_dialogue(project, f"D{place:02}", factory.TURNS[: 4 + place % 6]) for place in range(12)]


def asking(*people, **extra) -> dict:
    keys = [person.pk for person in people]
    return {"annotators": keys, "groups": len(people), "seeds": "2", "random_seed": "5", "action": "preview", **extra}


def expected_of(page: str) -> str:
    return re.search(r'name="expected" value="(\w+)"', page)[1]


def test_a_plan_is_shown_before_it_is_written(client_for, people, corpus, third):
    client = client_for(people.supervisor)
    page = client.get(GROUPS).content.decode()
    assert 'name="random_seed"' in page
    assert page.count("checked") == 3
    asked = asking(people.annotator, people.second, third)
    page = client.post(GROUPS, asked).content.decode()
    assert not LabelSet.objects.exists()
    assert "Make 14 assignments?" in page
    assert "Random seed 5. 2 seed dialogues of 12." in page
    row = page[page.index(">Cleo Ash<") :]
    assert row[: row.index("</tr>")].count("<li>") >= 4
    response = client.post(GROUPS, {**asked, "action": "assign", "expected": expected_of(page)})
    assert response.url == "/projects/chest-clinic/"
    assert LabelSet.objects.count() == 14
    assert AssignmentRun.objects.get().made_by == people.supervisor
    page = client.get(GROUPS).content.decode()
    assert "random seed 5" in page
    assert "Nothing is left to divide. 12 dialogues are assigned already" in page
    page = client.post(GROUPS, asked).content.decode()
    assert "Nothing to assign" in page
    assert "is assigned already; the table shows who has what" in page
    assert "differ from their mean" not in page
    assert 'value="assign"' not in page


def test_going_back_keeps_the_choice(client_for, people, corpus, third):
    page = client_for(people.supervisor).post(GROUPS, asking(people.annotator, third, action="back")).content.decode()
    assert page.count("checked") == 2
    assert 'value="5"' in page


def test_a_plan_that_was_overtaken_is_shown_anew_instead_of_written(client_for, people, corpus, project):
    client = client_for(people.supervisor)
    asked = asking(people.annotator, people.second)
    old = expected_of(client.post(GROUPS, asked).content.decode())
    factory.make_dialogue(project, "LATE")
    page = client.post(GROUPS, {**asked, "action": "assign", "expected": old}).content.decode()
    assert "look at it again" in page
    assert not LabelSet.objects.exists()
    assert expected_of(page) != old
    # Nobody can leave the looking out, either.
    assert "look at it again" in client.post(GROUPS, {**asked, "action": "assign"}).content.decode()
    client.post(GROUPS, {**asked, "action": "assign", "expected": expected_of(page)})
    assert LabelSet.objects.count() == 15


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"annotators": []}, "annotators", "Tick at least one annotator"),
        ({"groups": "0"}, "groups", "greater than or equal to 1"),
        ({"groups": "13"}, "groups", "choose 12 groups at most"),
        ({"groups": "1"}, "seeds", "at least two annotators"),
        ({"seeds": "some"}, "seeds", "Give a number of dialogues"),
        ({"seeds": "13"}, "seeds", "choose fewer seeds"),
        ({"random_seed": ""}, "random_seed", "required"),
        ({"random_seed": "99999999999999"}, "random_seed", "less than or equal"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(client_for, people, corpus, change, field, words):
    asked = {**asking(people.annotator, people.second), **change}
    page = client_for(people.supervisor).post(GROUPS, asked).content.decode()
    error = page[page.index(f'id="id_{field}_error"') :]
    assert words in error[: error.index("</span>")]
    assert not LabelSet.objects.exists()


def test_somebody_who_has_not_passed_the_test_is_not_offered(client_for, people, corpus, project):
    make_test(project, people.supervisor)
    client = client_for(people.supervisor)
    page = client.get(GROUPS).content.decode()
    assert "alice, bob: not passed the test yet" in page
    project.overrides.create(annotator=people.annotator, reason="known", decided_by=people.supervisor)
    page = client.get(GROUPS).content.decode()
    assert "have not passed the test: bob" in page
    asked = asking(people.annotator, people.second, seeds="0")
    assert 'id="id_annotators_error"' in client.post(GROUPS, asked).content.decode()


def test_a_supervisor_who_annotates_is_warned(client_for, people, corpus, project):
    factory.make_member(project, people.supervisor, Role.ANNOTATOR)
    client = client_for(people.supervisor)
    assert (
        "You annotate in this project"
        in client.post(GROUPS, asking(people.annotator, people.supervisor)).content.decode()
    )
    assert (
        "You annotate in this project"
        not in client.post(GROUPS, asking(people.annotator, people.second)).content.decode()
    )


def test_without_dialogues_or_people_the_pages_say_what_to_do(client_for, people, project):
    client = client_for(people.supervisor)
    assert "Import dialogues first" in client.get(GROUPS).content.decode()
    assert "Nothing is assigned yet" in client.get(CHANGES).content.decode()
    factory.make_dialogue(project)
    people.annotator.memberships.all().delete()
    people.second.memberships.all().delete()
    assert "Nobody in this project has the role" in client.get(GROUPS).content.decode()
    project.archived_at = timezone.now()
    project.save()
    for address in (GROUPS, CHANGES):
        assert "restore it" in client.get(address).content.decode()


def divided(project, *annotators, seeds=2):
    assignment_write(
        project=project, annotators=annotators, groups=len(annotators), seeds=seeds, random_seed=1, actor=None
    )


def test_somebody_joins_and_somebody_leaves(client_for, people, corpus, project, third):
    divided(project, people.annotator, people.second)
    begun = people.annotator.label_sets.order_by("queue_order").first()
    factory.make_labels(begun, factory.inform(1, "symptom", "cough", status="yes"))
    client = client_for(people.supervisor)
    page = client.get(CHANGES).content.decode()
    assert page.index("Who joins") < page.index("Cleo Ash") < page.index("Who leaves") < page.index("bob")
    asked = {"arrivals": [third.pk], "leavers": [people.annotator.pk], "random_seed": "4", "action": "preview"}
    page = client.post(CHANGES, asked).content.decode()
    assert "Joining: Cleo Ash. Leaving: alice." in page
    assert "alice has begun or finished 1 dialogue" in page
    assert not third.label_sets.exists()
    old = {**asked, "action": "assign", "expected": "0"}
    assert "look at it again" in client.post(CHANGES, old).content.decode()
    response = client.post(CHANGES, {**asked, "action": "assign", "expected": expected_of(page)})
    assert response.url == "/projects/chest-clinic/"
    assert list(people.annotator.label_sets.all()) == [begun]
    assert third.label_sets.count() >= 5
    assert LabelSet.objects.count() == 14


def test_changes_that_cannot_be_are_said_at_their_field(client_for, people, corpus, project):
    divided(project, people.annotator, people.second)
    client = client_for(people.supervisor)
    page = client.post(CHANGES, {"random_seed": "4"}).content.decode()
    assert "Tick at least one person" in page
    page = client.post(CHANGES, {"leavers": [people.second.pk], "random_seed": "4"}).content.decode()
    assert "second reader" in page
    assert LabelSet.objects.count() == 14


def test_work_of_somebody_who_lost_the_role_is_pointed_out(client_for, people, corpus, project, third):
    divided(project, people.annotator, people.second, third)
    people.second.memberships.all().delete()
    page = client_for(people.supervisor).get(CHANGES).content.decode()
    assert "bob: can be given no work any more but still holds dialogues" in page
    assert page.count("checked") == 1


# --- queues ---


def test_the_next_one_follows_the_queue(client_for, people, corpus, project):
    divided(project, people.annotator, people.second)
    client = client_for(people.annotator)
    first, second, third = people.annotator.label_sets.order_by("queue_order")[:3]
    base = "/projects/chest-clinic/work"
    assert client.get(NEXT).url == f"{base}/{first.pk}/"
    assert client.get(NEXT, {"after": first.pk}).url == f"{base}/{second.pk}/"
    LabelSet.objects.filter(pk=third.pk).update(status=Status.RETURNED)
    assert client.get(NEXT, {"after": first.pk}).url == f"{base}/{third.pk}/"
    people.annotator.label_sets.update(status=Status.DONE)
    response = client.get(NEXT, follow=True)
    assert "Nothing is left in your queue" in response.content.decode()


def test_another_project_comes_when_this_one_is_done(client_for, people, label_set):
    other = factory.make_project("Elsewhere")
    factory.make_member(other, people.annotator, Role.ANNOTATOR)
    further = factory.make_label_set(factory.make_dialogue(other), people.annotator)
    client = client_for(people.annotator)
    assert client.get(NEXT).url == f"/projects/chest-clinic/work/{label_set.pk}/"
    assert client.get(NEXT, {"after": label_set.pk}).url == f"/projects/elsewhere/work/{further.pk}/"


def test_my_work_is_in_queue_order_with_figures(client_for, people, corpus, project):
    divided(project, people.annotator, people.second)
    rows = list(people.annotator.label_sets.select_related("dialogue").order_by("queue_order"))
    factory.make_labels(rows[2], factory.inform(1, "symptom", "cough", status="yes"))
    page = client_for(people.annotator).get("/").content.decode()
    listed = page[page.index('id="my-work"') :]
    places = [listed.index(f">{row.dialogue}<") for row in [rows[2], *rows[:2], *rows[3:]]]
    assert places == sorted(places)
    left = sum(row.dialogue.utterance_count for row in rows) - 1
    assert f"<dt>utterances left</dt><dd>{left}</dd>" in page
    assert "<dt>in progress</dt><dd>1</dd>" in page
    assert f"<dt>to do</dt><dd>{len(rows) - 1}</dd>" in page


def test_the_overview_says_pace_and_seeds_done(client_for, people, corpus, project):
    divided(project, people.annotator, people.second)
    seed = people.annotator.label_sets.filter(purpose="seed").first()
    for position in (1, 3):
        factory.make_labels(seed, factory.inform(position, "symptom", "cough", status="yes"))
    LabelSet.objects.filter(pk=seed.pk).update(active_seconds=25, status=Status.DONE)
    # Imported labels took no time here and say nothing about the pace.
    factory.make_labels(
        people.annotator.label_sets.exclude(pk=seed.pk).first(), factory.inform(1, "symptom", "cough", status="yes")
    )
    page = client_for(people.supervisor).get("/projects/chest-clinic/").content.decode()
    row = page[page.index(">alice<") :]
    row = row[: row.index("</tr>")]
    assert ">12.5<" in row
    assert ">1 of 2<" in row
    page = client_for(people.annotator).get("/projects/chest-clinic/").content.decode()
    assert "Pace" not in page
