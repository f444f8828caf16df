"""Incomplete labels: counted, returned to their annotator, answered by a save, taken back."""

from __future__ import annotations

import re
import uuid
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django import DjangoAssertNumQueries

from annotation.access import get_own_label_set
from annotation.domain.labels import Label as LabelData
from annotation.models import Dialogue, EventKind, LabelSet, Owner, Project, Purpose, ReturnedItem, Status
from annotation.services.completeness import completeness_of, gaps_return, returned_item_take_back
from annotation.services.errors import Refused
from annotation.services.label_sets import label_set_finish, label_set_lock
from annotation.services.labelling import Change, label_set_change, label_set_undo
from annotation.services.readings import labels_of
from annotation.services.returned_items import returned_items_resolve
from tests import factory
from tests.conftest import People
from tests.factory import TURNS, inform

NOTHING = "nothing to label"


@pytest.fixture
def finished(label_set: LabelSet) -> LabelSet:
    """Three labels: one complete, one without a status, one with a headless onset and an unrated factor."""
    factory.make_labels(
        label_set,
        inform(1, "symptom", "cough", status="yes"),
        inform(3, "symptom", "fever"),
        LabelData(
            5,
            "inform",
            "symptom",
            {"onset": "a week", "status": "yes", "ana_factors": [{"value": "cold", "rating": ""}]},
        ),
    )
    reasons = {position: NOTHING for position in range(len(TURNS)) if position not in (1, 3, 5)}
    finish(label_set, reasons)
    return label_set


def finish(label_set: LabelSet, reasons: dict[int, str]) -> None:
    assert label_set.annotator
    label_set.refresh_from_db()
    label_set_finish(
        label_set=label_set, actor=label_set.annotator, version=label_set.version, key=uuid.uuid4().hex, reasons=reasons
    )


def give_back(project: Project, people: People, *rules: str, note: str = "", request: str = "") -> Any:
    keys = [one.key for one in completeness_of(project).found if one.question.rule in rules]
    return gaps_return(
        project=project, actor=people.supervisor, keys=keys, request=request or uuid.uuid4().hex, note=note
    )


def change(label_set: LabelSet, position: int, **answers: Any) -> None:
    """Give the label at a position more answers."""
    label_set = LabelSet.objects.get(pk=label_set.pk)
    assert label_set.annotator
    old = next(label for label in labels_of(label_set) if label.position == position)
    new = replace(old, answers={**old.answers, **answers})
    label_set_change(
        label_set=label_set,
        actor=label_set.annotator,
        version=label_set.version,
        key=uuid.uuid4().hex,
        changes=[Change(old.id, new)],
    )


def test_the_figures_count_labels_rules_and_utterances(project: Project, finished: LabelSet):
    found = completeness_of(project)
    assert (found.label_sets, found.labels, found.incomplete) == (1, 3, 2)
    assert found.by_rule == {"status": 1, "head": 1, "rating": 1, "unlabelled": 0}
    assert (found.before, found.now, found.utterances) == (2, 2, len(TURNS))
    assert found.share_now == pytest.approx(2 / len(TURNS))


def test_an_utterance_without_a_label_is_asked_about_only_in_finished_work(project: Project, label_set: LabelSet):
    factory.make_labels(label_set, inform(1, "symptom", "cough", status="yes"))
    rest = len(TURNS) - 1
    found = completeness_of(project)
    assert (found.by_rule["unlabelled"], found.to_come, found.asked["unlabelled"]) == (rest, rest, 0)
    assert (found.utterances, found.now, len(found.found)) == (1, 0, 0)
    LabelSet.objects.update(status=Status.DONE)
    found = completeness_of(project)
    assert (found.by_rule["unlabelled"], found.to_come, found.asked["unlabelled"]) == (rest, 0, rest)
    assert (found.utterances, found.now, len(found.found)) == (len(TURNS), rest, rest)


def test_the_rules_add_up_to_the_questions_and_what_is_still_to_come(
    project: Project, people: People, finished: LabelSet
):
    under_way = factory.make_label_set(factory.make_dialogue(project), people.second)
    factory.make_labels(
        under_way,
        inform(1, "symptom", "cough", ana_factors=[{"value": "cold", "rating": ""}]),  # no status, and no rating
        inform(3, "symptom", "fever", status="yes"),
    )
    said = completeness_of(project).as_json()
    assert said["by_rule"] == {"status": 2, "head": 1, "rating": 2, "unlabelled": len(TURNS) - 2}
    assert (said["labels"], said["incomplete"]) == (5, 3)
    assert (said["questions"], said["unlabelled_to_come"]) == (5, len(TURNS) - 2)
    assert sum(said["by_rule"].values()) == said["questions"] + said["unlabelled_to_come"]


def test_training_tests_gold_and_archived_dialogues_are_not_counted(project: Project, people: People):
    for number, more in enumerate(({"purpose": Purpose.TRAINING}, {"purpose": Purpose.TEST})):
        label_set = factory.make_label_set(factory.make_dialogue(project, f"D{number}"), people.annotator, **more)
        factory.make_labels(label_set, inform(1, "symptom", "cough"))
    gold = factory.make_label_set(factory.make_dialogue(project, "G"), people.annotator)
    factory.make_labels(gold, inform(1, "symptom", "cough"))
    LabelSet.objects.filter(pk=gold.pk).update(owner=Owner.GOLD)
    assert completeness_of(project).labels == 0


def test_the_queries_do_not_grow_and_unchanged_work_is_not_read_again(
    project: Project, people: People, finished: LabelSet, django_assert_num_queries: DjangoAssertNumQueries
):
    for number in range(5):
        label_set = factory.make_label_set(factory.make_dialogue(project, f"M{number}"), people.second)
        factory.make_labels(label_set, inform(1, "symptom", "cough"))
    with django_assert_num_queries(4):
        first = completeness_of(project)
    with django_assert_num_queries(2):
        assert completeness_of(project).as_json() == first.as_json()
    assert first.incomplete == 7


def test_a_return_asks_opens_the_dialogue_and_leaves_an_event(project: Project, people: People, finished: LabelSet):
    returned = give_back(project, people, "status", "head", note="See the guidelines.")
    assert (returned.questions, returned.label_sets) == (2, 1)
    finished.refresh_from_db()
    assert finished.status == Status.RETURNED
    event = finished.events.latest("sequence")
    assert (event.kind, event.changes, event.actor) == (
        EventKind.STATUS,
        [{"before": "done", "after": "returned"}],
        people.supervisor,
    )
    questions = [item.question for item in ReturnedItem.objects.all()]
    assert questions[0] == "Symptom “fever” has no status. Which one applies? See the guidelines."
    assert completeness_of(project).returned == 2


def test_returning_twice_asks_once(project: Project, people: People, finished: LabelSet):
    keys = [one.key for one in completeness_of(project).found]
    for _ in range(2):
        gaps_return(project=project, actor=people.supervisor, keys=keys, request="the same")
    assert ReturnedItem.objects.count() == 3
    assert finished.events.filter(kind=EventKind.STATUS).count() == 2  # done, returned


def test_work_under_way_goes_on_with_its_questions(project: Project, people: People, label_set: LabelSet):
    factory.make_labels(label_set, inform(1, "symptom", "cough"))
    version = label_set.version
    give_back(project, people, "status")
    label_set.refresh_from_db()
    assert (label_set.status, label_set.version) == (Status.IN_PROGRESS, version)
    assert label_set.returned_items.count() == 1


def test_locked_work_and_closed_gaps_are_passed_over(project: Project, people: People, finished: LabelSet):
    keys = [one.key for one in completeness_of(project).found]
    label_set_lock(label_set=finished, actor=people.supervisor, version=finished.version, key="lock")
    returned = gaps_return(
        project=project, actor=people.supervisor, keys=[*keys, f"{finished.pk}:1:x:status"], request="r"
    )
    assert (returned.questions, returned.locked, returned.gone) == (0, 3, 1)
    assert not ReturnedItem.objects.exists()
    with pytest.raises(Refused):
        gaps_return(project=project, actor=people.supervisor, keys=[], request="r")


def test_a_question_is_answered_when_a_save_closes_its_gap(project: Project, people: People, finished: LabelSet):
    give_back(project, people, "status", "head", "rating")
    change(finished, 3, onset="yesterday")
    assert ReturnedItem.objects.filter(resolved_at=None).count() == 3
    change(finished, 3, status="no")
    assert [item.rule for item in ReturnedItem.objects.exclude(resolved_at=None)] == ["status"]
    change(finished, 5, value=["cough"], ana_factors=[{"value": "cold", "rating": "yes aggravating"}])
    assert not ReturnedItem.objects.filter(resolved_at=None).exists()
    found = completeness_of(project)
    assert (found.before, found.now, found.answered) == (2, 0, 3)
    finish(finished, {position: NOTHING for position in range(len(TURNS)) if position not in (1, 3, 5)})
    finished.refresh_from_db()
    assert finished.status == Status.DONE


def test_deleting_the_label_answers_too_and_undo_leaves_the_gap_to_be_found(
    project: Project, people: People, finished: LabelSet
):
    give_back(project, people, "status")
    label_set = LabelSet.objects.get(pk=finished.pk)
    old = next(label for label in labels_of(label_set) if label.position == 3)
    label_set_change(
        label_set=label_set, actor=people.annotator, version=label_set.version, key="d", changes=[Change(old.id, None)]
    )
    assert ReturnedItem.objects.get().resolved_at
    label_set_undo(label_set=label_set, actor=people.annotator, version=label_set.version, key="u")
    assert [one.item for one in completeness_of(project).found if one.question.rule == "status"] == [None]


def test_a_reason_answers_for_an_utterance_without_a_label(project: Project, people: People, finished: LabelSet):
    LabelSet.objects.filter(pk=finished.pk).update(unlabelled_reasons={}, version=9)
    give_back(project, people, "unlabelled")
    assert ReturnedItem.objects.count() == 7
    finish(finished, {position: NOTHING for position in range(len(TURNS)) if position not in (1, 3, 5)})
    assert not ReturnedItem.objects.filter(resolved_at=None).exists()


def test_a_save_asks_for_questions_only_where_some_are_open(
    people: People, label_set: LabelSet, django_assert_num_queries: DjangoAssertNumQueries
):
    own = get_own_label_set(people.annotator, label_set.pk)
    assert not own.has_returned  # type: ignore[attr-defined]
    with django_assert_num_queries(0):
        returned_items_resolve(label_set=own)


def test_the_last_question_taken_back_makes_untouched_work_done_again(
    project: Project, people: People, finished: LabelSet
):
    give_back(project, people, "status", "head")
    first, second = ReturnedItem.objects.all()
    returned_item_take_back(item=first, actor=people.supervisor, request="1")
    assert LabelSet.objects.get(pk=finished.pk).status == Status.RETURNED
    second.label_set.refresh_from_db()
    returned_item_take_back(item=second, actor=people.supervisor, request="2")
    assert LabelSet.objects.get(pk=finished.pk).status == Status.DONE
    assert not ReturnedItem.objects.exists()
    with pytest.raises(Refused):
        returned_item_take_back(item=second, actor=people.supervisor, request="3")


def test_the_command_gives_the_figures(project: Project, finished: LabelSet, dialogue: Dialogue, capsys: Any):
    call_command("completeness", project=project.name, json=True)
    said = capsys.readouterr().out
    assert '"labels": 3, "incomplete": 2, "by_rule": {"status": 1, "head": 1, "rating": 1, "unlabelled": 0}' in said
    call_command("completeness", project=project.name, annotator="bob")
    assert "0 labels in 0 label sets" in capsys.readouterr().out
    call_command("completeness", project=project.name, annotator="alice")
    said = capsys.readouterr().out
    assert "3 labels in 1 label set;" in said
    assert re.search(r"head +1  answers without what they are about\n", said)
