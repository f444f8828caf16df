"""My work."""

from __future__ import annotations

from django.utils import timezone

from annotation.models import LabelSet, ReturnedItem, Role, Status
from tests import factory


def work(client_for, user, **query) -> str:
    return client_for(user).get("/", query).content.decode()


def make_sets(project, user, *statuses: str) -> list[LabelSet]:
    return [
        factory.make_label_set(factory.make_dialogue(project, f"X-{status}"), user, status=status)
        for status in statuses
    ]


def test_open_dialogues_are_listed_most_urgent_first(client_for, people, project):
    make_sets(project, people.annotator, "todo", "in_progress", "returned", "done")
    page = work(client_for, people.annotator)
    listed = page[page.index('id="my-work"') :]
    assert listed.index(">X-returned<") < listed.index(">X-in_progress<") < listed.index(">X-todo<")
    assert ">X-done<" not in page
    assert "Returned to you: X-returned" in page
    assert "3 open of 4" in page


def test_progress_counts_labelled_utterances_and_stated_reasons(client_for, people, label_set):
    factory.make_labels(
        label_set,
        factory.inform(1, "symptom", "cough", status="yes"),
        factory.inform(1, "symptom", "fever", status="yes"),
        factory.inform(3, "symptom", "fever", status="no"),
    )
    LabelSet.objects.update(unlabelled_reasons={"8": "nothing to label"})
    page = work(client_for, people.annotator)
    assert "Go on where you left off: RES-TEST" in page
    assert "3 of 10" in page
    assert "7 utterances left" in page


def test_a_dialogue_that_is_labelled_throughout_waits_to_be_marked_as_done(client_for, people, label_set):
    labels = [factory.inform(position, "symptom", "cough") for position in range(10)]
    factory.make_labels(label_set, *labels)
    assert "every utterance is labelled: look over it and mark it as done" in work(client_for, people.annotator)


def test_returned_work_says_how_many_questions_wait_and_opens_at_the_first(client_for, people, label_set):
    factory.make_labels(label_set, *[factory.inform(position, "symptom", "cough") for position in (1, 3)])
    LabelSet.objects.update(status=Status.RETURNED)
    for position in (3, 1):
        utterance = label_set.dialogue.utterances.get(position=position)
        ReturnedItem.objects.create(
            label_set=label_set, utterance=utterance, rule="status", question="?", returned_by=people.supervisor
        )
    link = f"/projects/chest-clinic/work/{label_set.pk}/#u1"
    page = work(client_for, people.annotator)
    assert "2 questions wait for your answer" in page
    assert page.count(f'href="{link}"') >= 3  # for you, the card, the list
    # One of them answered: the dialogue is under way, and the other is not forgotten.
    ReturnedItem.objects.filter(utterance__position=1).update(resolved_at=timezone.now())
    LabelSet.objects.update(status=Status.IN_PROGRESS)
    page = work(client_for, people.annotator)
    assert "Returned to you: RES-TEST" in page
    assert "1 question waits for your answer" in page


def test_a_filter_shows_what_is_done_and_what_matches(client_for, people, project):
    make_sets(project, people.annotator, "todo", "done", "locked")
    page = work(client_for, people.annotator, show="done")
    assert ">X-done<" in page
    assert ">X-locked<" in page
    assert ">X-todo<" not in page[page.index('id="my-work"') :]
    assert "matches “zzz”" in work(client_for, people.annotator, q="zzz")
    assert ">X-todo<" in work(client_for, people.annotator, q="x-TO")


def test_htmx_gets_the_list_alone(client_for, people, label_set):
    response = client_for(people.annotator).get("/", headers={"HX-Request": "true"})
    page = response.content.decode()
    assert ">RES-TEST<" in page
    assert "<html" not in page


def test_archived_and_foreign_work_is_not_mine(client_for, people, project):
    first, second = make_sets(project, people.annotator, "todo", "in_progress")
    first.dialogue.archived_at = timezone.now()
    first.dialogue.save()
    make_sets(factory.make_project("Other"), people.second, "returned")
    page = work(client_for, people.annotator)
    assert ">X-in_progress<" in page
    assert ">X-todo<" not in page
    assert ">X-returned<" not in page
    people.annotator.memberships.all().delete()
    assert "You are in no project yet" in work(client_for, people.annotator)
    assert second.status == Status.IN_PROGRESS


def test_supervisors_and_doctors_see_their_projects_with_figures(client_for, people, project):
    make_sets(project, people.annotator, "todo", "done")
    factory.make_dialogue(project)
    page = work(client_for, people.supervisor)
    assert "3 dialogues, 1 unassigned" in page
    assert "1 of 2 assignments done" in page
    assert "You are supervisor" in page
    page = work(client_for, people.doctor)
    assert "You are doctor" in page
    assert "unassigned" not in page
    assert "Projects you supervise" not in work(client_for, people.second)


def test_each_role_is_told_what_to_do_next(client_for, people):
    assert "No dialogue is assigned to you yet" in work(client_for, people.annotator)
    assert "Give your user name, <strong>otto</strong>" in work(client_for, people.outsider)
    assert "Create a project" in work(client_for, people.superuser)
    assert "No dialogues yet" in work(client_for, people.supervisor)


def test_fifty_dialogues_of_many_projects_take_few_queries(client_for, people, django_assert_max_num_queries):
    for number in range(10):
        project = factory.make_project(f"P{number}")
        factory.make_member(project, people.annotator, Role.ANNOTATOR, Role.SUPERVISOR)
        for _ in range(6):
            factory.make_label_set(factory.make_dialogue(project), people.annotator)
    client = client_for(people.annotator)
    with django_assert_max_num_queries(21):
        page = client.get("/").content.decode()
    assert "page 1 of 2" in page
