"""The history of a label set gives its labels exactly, cannot be changed, and loses nothing when many write at once."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models import ProtectedError

from annotation.models import EventKind, Label, LabelEvent, LabelSet, Role
from annotation.services.errors import Conflict
from annotation.services.label_imports import labels_import
from annotation.services.labelling import Change, Saved, history_stacks
from annotation.services.readings import label_as_json, reading_of
from tests import factory
from tests.conftest import People
from tests.editor import Editor, cough, new_id, replayed


@pytest.fixture
def editor(label_set: LabelSet) -> Editor:
    return Editor(label_set)


# The history


def test_the_history_gives_the_labels_exactly_whatever_happened(editor: Editor, people: People):
    """Random operations, a fixed seed: after each the events alone give the rows, and the known reading is right."""
    rng = random.Random(7)
    for _ in range(160):
        _anything(editor, rng, people)
        rows = editor.rows()
        assert replayed(editor.label_set) == {label.id: label_as_json(label) for label in rows}
        assert list(reading_of(editor.label_set).labels) == rows
        ranks = [label.rank for label in rows]
        assert len(set(ranks)) == len(ranks)
    events = list(LabelEvent.objects.order_by("sequence"))
    assert [event.sequence for event in events] == list(range(1, editor.version + 1))
    assert {event.kind for event in events} == set(EventKind.values)


def _anything(editor: Editor, rng: random.Random, people: People) -> None:
    ids = [label.id for label in editor.rows()]
    operation = rng.choice(["add", "add", "edit", "delete", "batch", "undo", "undo", "redo", "import", "status"])
    label = cough(rng.choice([1, 3, 5, 7, 9]), rng.choice("abcdef"), onset=str(rng.random()))
    stacks = history_stacks(editor.label_set)
    if operation == "status":
        editor.finish()
        editor.reopen()
    elif operation == "import":
        kept = [replace(row, id="") for row in editor.rows() if rng.random() < 0.5]
        labels_import(
            label_set=editor.label_set,
            actor=people.annotator,
            labels=[*kept, label],
            key=new_id(),
            replace_others=True,
        )
        editor.version = editor.label_set.version
    elif operation == "undo" and stacks.undo:
        editor.undo()
    elif operation == "redo" and stacks.redo:
        editor.redo()
    elif operation == "edit" and ids:
        editor.edit(rng.choice(ids), label)
    elif operation == "delete" and ids:
        editor.delete(*rng.sample(ids, rng.randint(1, min(3, len(ids)))))
    elif operation == "batch" and len(ids) > 1:
        one, two = rng.sample(ids, 2)
        editor.change(Change(one, None), Change(new_id(), label), Change(two, cough(5, "moved")))
    else:
        editor.add(label)


def test_the_database_itself_refuses_to_change_an_event(editor: Editor):
    editor.add(cough())
    event = LabelEvent.objects.get()
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        LabelEvent.objects.filter(pk=event.pk).update(kind=EventKind.IMPORT)
    event.changes = []
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        event.save()
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE annotation_labelevent SET changes = '[]'")
    assert LabelEvent.objects.get().changes


def test_what_has_a_history_cannot_be_deleted(editor: Editor, people: People):
    editor.add(cough())
    for row in (editor.label_set, editor.label_set.dialogue, people.annotator):
        with pytest.raises(ProtectedError):
            row.delete()


def test_labels_keep_the_version_of_the_questionnaire_under_which_they_were_made(editor: Editor):
    (pk,) = editor.add(cough())
    assert editor.rows()[0].questionnaire_version == factory.cmas_version()
    Label.objects.update(questionnaire_version="0.9")
    editor.add(cough(3, "fever"))
    versions = {label.id: label.questionnaire_version for label in editor.rows()}
    assert versions[pk] == "0.9"


# Several at once


@pytest.mark.django_db(transaction=True)
def test_of_many_saves_against_one_version_exactly_one_wins_and_the_others_are_told():
    project = factory.make_project("Threads")
    annotator = factory.make_member(project, factory.make_user("thea"), Role.ANNOTATOR)
    editor = Editor(factory.make_label_set(factory.make_dialogue(project), annotator))

    def save(number: int) -> list[str]:
        mine = Editor(editor.label_set)
        mine.version = 0  # whatever the others did meanwhile
        return mine.add(cough(1, f"value {number}"))

    outcomes = at_once(12, save)
    assert sum(isinstance(outcome, list) for outcome in outcomes) == 1
    others = [outcome for outcome in outcomes if not isinstance(outcome, list)]
    assert all(isinstance(outcome, Conflict) and outcome.version == 1 and outcome.events for outcome in others), others
    assert len(editor.rows()) == LabelEvent.objects.count() == editor.label_set.version == 1


@pytest.mark.django_db(transaction=True)
def test_whoever_is_told_tries_again_and_nothing_is_lost():
    project = factory.make_project("Threads")
    annotator = factory.make_member(project, factory.make_user("thea"), Role.ANNOTATOR)
    editor = Editor(factory.make_label_set(factory.make_dialogue(project), annotator))

    def insist(number: int) -> None:
        mine = Editor(editor.label_set)
        for _ in range(200):
            try:
                mine.add(cough(1, f"value {number}"))
            except Conflict as conflict:
                mine.version = conflict.version
            else:
                return
        raise AssertionError("never got through")

    assert at_once(8, insist) == [None] * 8
    assert sorted(editor.values()) == [f"value {number}" for number in range(8)]
    assert replayed(editor.label_set) == {label.id: label_as_json(label) for label in editor.rows()}
    assert list(reading_of(editor.label_set).labels) == editor.rows()
    assert [event.sequence for event in LabelEvent.objects.order_by("sequence")] == list(range(1, 9))


@pytest.mark.django_db(transaction=True)
def test_one_request_that_arrives_many_times_at_once_is_carried_out_once():
    project = factory.make_project("Threads")
    annotator = factory.make_member(project, factory.make_user("thea"), Role.ANNOTATOR)
    editor = Editor(factory.make_label_set(factory.make_dialogue(project), annotator))
    pk = new_id()
    outcomes = at_once(8, lambda _: Editor(editor.label_set).change(Change(pk, cough()), key="one"))
    assert all(isinstance(outcome, Saved) for outcome in outcomes), outcomes
    assert sum(not outcome.replayed for outcome in outcomes) == 1
    assert len(editor.rows()) == editor.label_set.version == 1


def at_once(count: int, work: Callable[[int], Any]) -> list[Any]:
    """What each of `count` threads, let go together on connections of their own, returned or raised."""
    gate = threading.Barrier(count)
    outcomes: list[Any] = [None] * count

    def run(number: int) -> None:
        try:
            gate.wait(timeout=30)
            outcomes[number] = work(number)
        except Exception as error:
            outcomes[number] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    return outcomes
