"""The one way in which labels change: versions, keys, undo and redo, and a history that can be replayed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from annotation.domain.labels import Label as LabelData
from annotation.domain.validation import InvalidLabel
from annotation.models import Dialogue, Label, LabelEvent, LabelSet, Status
from annotation.services.dialogues import dialogue_restore, dialogues_archive
from annotation.services.errors import Conflict, NotEditable, Refused
from annotation.services.label_imports import labels_import
from annotation.services.labelling import (
    Change,
    Saved,
    history_stacks,
    label_set_change,
)
from annotation.services.readings import label_as_json
from tests import factory
from tests.conftest import People
from tests.editor import Editor, cough, new_id
from tests.factory import TURNS, inform


@pytest.fixture
def editor(label_set: LabelSet) -> Editor:
    return Editor(label_set)


# One change, one event


def test_a_change_is_stored_with_its_event(editor: Editor, people: People):
    (pk,) = editor.add(cough(onset=" two  weeks "), seconds=12)
    (label,) = editor.rows()
    assert (label.id, label.position, label.rank) == (pk, 1, 0)
    assert label.answers == {"value": ["cough"], "status": "yes", "onset": "two weeks"}
    event = LabelEvent.objects.get()
    assert (event.sequence, event.kind, event.actor) == (1, "change", people.annotator)
    assert event.changes == [{"id": pk, "before": None, "after": label_as_json(label)}]
    label_set = editor.label_set
    assert (label_set.version, label_set.status, label_set.active_seconds) == (1, "in_progress", 12)


def test_an_edit_keeps_the_id_and_the_place_among_the_labels(editor: Editor):
    first, second = editor.add(cough(), cough(1, "fever"))
    editor.edit(first, cough(1, "dry cough"))
    assert [(label.id, label.rank) for label in editor.rows()] == [(first, 0), (second, 1)]
    assert editor.values() == ["dry cough", "fever"]


def test_a_label_can_be_moved_to_another_utterance_and_back(editor: Editor):
    (pk,) = editor.add(cough(1))
    editor.edit(pk, cough(5))
    assert [label.position for label in editor.rows()] == [5]
    editor.undo()
    assert [label.position for label in editor.rows()] == [1]


def test_a_batch_is_one_event_and_one_undo(editor: Editor):
    one, two = editor.add(cough(), cough(3, "fever"))
    three = new_id()
    editor.change(Change(one, None), Change(two, cough(3, "chills")), Change(three, cough(5, "ache")))
    assert editor.values() == ["chills", "ache"]
    assert editor.version == LabelEvent.objects.count() == 2
    editor.undo()
    assert editor.values() == ["cough", "fever"]
    editor.redo()
    assert editor.values() == ["chills", "ache"]


def test_a_batch_with_one_bad_label_changes_nothing(editor: Editor):
    (pk,) = editor.add(cough())
    with pytest.raises(InvalidLabel):
        editor.change(Change(pk, None), Change(new_id(), cough(3, "fever", severity="99")))
    assert editor.values() == ["cough"]
    assert editor.label_set.version == 1
    editor.add(cough(3, "fever"))  # the version that the page knows is still the right one


def test_a_refused_change_leaves_the_object_that_was_passed_as_it_was(label_set: LabelSet, people: People):
    with pytest.raises(InvalidLabel):
        label_set_change(
            label_set=label_set,
            actor=people.annotator,
            version=0,
            key="k",
            changes=[Change(new_id(), cough(severity="99"))],
        )
    assert (label_set.version, label_set.status) == (0, Status.TODO)


@pytest.mark.parametrize(
    ("label", "words"),
    [
        (cough(len(TURNS)), "no utterance 10"),
        (cough(10**12), "no utterance"),
        (LabelData(1, "diagnosis", "disease"), "patient's turns"),
        (inform(1, "symptom", "cough", mood="bad"), "no question “mood”"),
    ],
)
def test_a_label_that_cannot_be_is_refused_in_words(editor: Editor, label: LabelData, words: str):
    with pytest.raises(InvalidLabel, match=words):
        editor.add(label)
    assert not Label.objects.exists()


def test_a_label_of_another_set_cannot_be_touched(editor: Editor, dialogue: Dialogue, people: People):
    (pk,) = editor.add(cough())
    other = Editor(factory.make_label_set(dialogue, people.second))
    for label in (cough(3, "mine now"), None):
        with pytest.raises(Refused, match=r"belongs to another dialogue|not there any more"):
            other.change(Change(pk, label))
    assert editor.values() == ["cough"]
    assert other.label_set.version == 0


def test_what_makes_no_sense_is_refused(editor: Editor):
    (pk,) = editor.add(cough())
    for changes, words in [
        ([], "nothing to change"),
        ([Change(new_id(), None)], "not there any more"),
        ([Change("7", cough())], "UUID"),
        ([Change(pk, cough()), Change(pk.upper(), None)], "only once"),
    ]:
        with pytest.raises(Refused, match=words):
            editor.change(*changes)
    assert editor.label_set.version == 1


@pytest.mark.parametrize(
    "text", ["<img src=x onerror=alert(1)>", "頭痛 🤒 \u202eright to left", "a, \"b\"; 'c' \\ {{ d }}"]
)
def test_markup_and_unusual_signs_come_back_as_they_were(editor: Editor, text: str):
    editor.add(LabelData(1, "inform", "symptom", {"value": [text], "other": text}, kept={text: [text]}))
    (label,) = editor.rows()
    assert label.answers == {"value": [text], "other": text}
    assert label.kept == {text: [text]}
    assert LabelEvent.objects.get().changes[0]["after"]["answers"]["value"] == [text]


# Versions and keys


def test_a_save_against_an_older_version_is_told_what_happened_since(editor: Editor, people: People):
    stale = Editor(editor.label_set)
    (pk,) = editor.add(cough())
    editor.edit(pk, cough(1, "dry cough"))
    with pytest.raises(Conflict) as caught:
        stale.add(cough(3, "fever"))
    assert caught.value.version == 2
    assert [event["sequence"] for event in caught.value.events] == [1, 2]
    assert caught.value.events[1]["by"] == people.annotator.display_name
    assert caught.value.events[1]["changes"][0]["after"]["answers"]["value"] == ["dry cough"]
    assert editor.values() == ["dry cough"]


def test_a_version_that_does_not_exist_yet_is_a_conflict(editor: Editor):
    editor.version = 7
    with pytest.raises(Conflict) as caught:
        editor.add(cough())
    assert caught.value.version == 0


@pytest.mark.parametrize("newer", [False, True], ids=["under the old version", "under the new version"])
def test_the_same_request_again_does_nothing_again(editor: Editor, newer: bool):
    """The answer got lost; the page sends it again, after a reload under the version it then knows."""

    def twice(send: Callable[..., Saved], **more: Any) -> None:
        before, key = editor.version, new_id()
        first = send(key=key, **more)
        after = editor.rows()
        editor.version = first.version if newer else before
        again = send(key=key, **more)
        assert again.replayed
        assert not first.replayed
        assert again.event == first.event
        assert again.version == first.version == editor.label_set.version
        assert editor.rows() == after

    pk = new_id()
    twice(lambda **more: editor.change(Change(pk, cough()), **more), seconds=5)
    twice(lambda **more: editor.change(Change(pk, cough(1, "dry cough")), **more), seconds=5)
    twice(editor.undo)
    twice(editor.redo)
    twice(lambda **more: editor.delete(pk, **more), seconds=5)
    assert editor.label_set.active_seconds == 15
    twice(editor.undo)
    twice(editor.undo)
    twice(editor.undo)  # nothing is left to undo, and it is still the same request
    assert editor.rows() == []


def test_a_request_that_comes_again_after_others_tells_of_the_first_time(editor: Editor):
    first = editor.change(Change(new_id(), cough()), key="first")
    editor.add(cough(3, "fever"))
    editor.finish()
    again = editor.change(Change(new_id(), cough()), key="first")
    assert again.replayed
    assert (again.event, again.version) == (first.event, 3)
    assert editor.values() == ["cough", "fever"]


def test_a_request_that_was_carried_out_is_answered_even_when_the_dialogue_was_archived_since(editor: Editor):
    first = editor.change(Change(new_id(), cough()), key="first")
    dialogue = editor.label_set.dialogue
    dialogues_archive(project=dialogue.project, dialogues=[dialogue])
    assert editor.change(Change(new_id(), cough()), key="first").event == first.event


def test_a_key_belongs_to_its_label_set(editor: Editor, dialogue: Dialogue, people: People):
    other = Editor(factory.make_label_set(dialogue, people.second))
    editor.change(Change(new_id(), cough()), key="same")
    assert not other.change(Change(new_id(), cough(1, "fever")), key="same").replayed
    assert other.values() == ["fever"]


@pytest.mark.parametrize("key", ["", "k" * 65])
def test_a_request_needs_a_key_of_its_own(editor: Editor, key: str):
    with pytest.raises(Refused, match="1 to 64"):
        editor.change(Change(new_id(), cough()), key=key)


def test_a_refused_request_may_come_again_under_its_key(editor: Editor):
    with pytest.raises(InvalidLabel):
        editor.change(Change(new_id(), cough(severity="99")), key="k")
    assert not editor.change(Change(new_id(), cough(severity="9")), key="k").replayed


@pytest.mark.parametrize(
    ("status", "words"),
    [(Status.DONE, "marked as done; reopen"), (Status.LOCKED, "locked by a supervisor")],
)
def test_what_is_finished_cannot_be_changed(editor: Editor, status: Status, words: str):
    (pk,) = editor.add(cough())
    LabelSet.objects.update(status=status)
    for attempt in (lambda: editor.add(cough()), lambda: editor.delete(pk), editor.undo):
        with pytest.raises(NotEditable, match=words):
            attempt()
    assert editor.values() == ["cough"]
    assert editor.label_set.version == 1


def test_a_returned_dialogue_is_in_progress_again_with_the_first_change(editor: Editor):
    LabelSet.objects.update(status=Status.RETURNED)
    editor.add(cough())
    assert editor.label_set.status == Status.IN_PROGRESS


@pytest.mark.parametrize("what", ["dialogue", "project"])
def test_what_is_archived_cannot_be_changed(editor: Editor, what: str):
    editor.add(cough())
    row = editor.label_set.dialogue if what == "dialogue" else editor.label_set.dialogue.project
    type(row).objects.filter(pk=row.pk).update(archived_at=timezone.now())
    for attempt in (lambda: editor.add(cough()), editor.undo, editor.finish):
        with pytest.raises(NotEditable, match="archived"):
            attempt()
    assert editor.values() == ["cough"]


def test_a_restored_dialogue_goes_on_where_it_was(editor: Editor):
    editor.add(cough())
    dialogue = editor.label_set.dialogue
    dialogues_archive(project=dialogue.project, dialogues=[dialogue])
    dialogue_restore(dialogue=dialogue)
    editor.add(cough(3, "fever"))
    assert editor.values() == ["cough", "fever"]


# Undo and redo


def test_undo_and_redo_go_over_everything_across_reloads(editor: Editor):
    (pk,) = editor.add(cough())
    editor.edit(pk, cough(1, "dry cough"))
    editor.delete(pk)
    seen = [[], ["cough"], ["dry cough"], []]
    for expected in reversed(seen[:-1]):
        Editor.undo(editor)
        assert editor.values() == expected
        editor = Editor(editor.label_set)  # a reload: nothing is remembered but the database
    with pytest.raises(Refused, match="nothing to undo"):
        editor.undo()
    for expected in seen[1:]:
        editor.redo()
        editor = Editor(editor.label_set)
        assert editor.values() == expected
    with pytest.raises(Refused, match="nothing to redo"):
        editor.redo()


def test_a_label_that_comes_back_is_the_same_in_every_column(editor: Editor):
    label = LabelData(
        1, "other", "symptom", {"value": ["cough"]}, ("onset",), {"colour": "?"}, "asks for a note", origin="copied"
    )
    (pk,) = editor.add(label)
    before = Label.objects.values().get()
    editor.delete(pk)
    editor.undo()
    assert Label.objects.values().get() == before


def test_a_new_change_leaves_nothing_to_redo(editor: Editor):
    editor.add(cough())
    editor.undo()
    assert history_stacks(editor.label_set).redo == (1,)
    editor.add(cough(3, "fever"))
    assert history_stacks(editor.label_set) == type(history_stacks(editor.label_set))((3,), ())
    with pytest.raises(Refused, match="nothing to redo"):
        editor.redo()


def test_an_import_is_undone_and_redone_as_one(editor: Editor, people: People):
    editor.add(cough())
    labels = [cough(1, "fever"), cough(3, "chills"), LabelData(8, "nod_prompt")]
    labels_import(label_set=editor.label_set, actor=people.annotator, labels=labels, key=new_id(), replace_others=True)
    editor = Editor(editor.label_set)
    imported = editor.rows()
    editor.undo()
    assert editor.values() == ["cough"]
    editor.redo()
    assert editor.rows() == imported
    editor.undo()
    editor.undo()
    assert editor.rows() == []


def test_finishing_and_reopening_do_not_disturb_what_can_be_undone(editor: Editor):
    editor.add(cough())
    editor.add(cough(3, "fever"))
    editor.undo()
    editor.finish()
    editor.reopen()
    assert editor.values() == ["cough"]
    editor.redo()
    assert editor.values() == ["cough", "fever"]
    editor.undo()
    editor.undo()
    assert editor.rows() == []


def test_ranks_stay_unique_when_deleted_labels_come_back(editor: Editor):
    one, two, three = editor.add(cough(1, "a"), cough(1, "b"), cough(1, "c"))
    editor.delete(two, three)
    editor.undo()
    editor.delete(three)
    editor.change(Change(one, None), Change(new_id(), cough(1, "d")))  # takes the newest rank anew
    for _ in range(3):
        editor.undo()
    editor.redo()
    editor.add(cough(1, "e"))
    ranks = [label.rank for label in editor.rows()]
    assert len(set(ranks)) == len(ranks)
    assert editor.values()[-1] == "e"


def test_a_label_whose_id_was_given_away_cannot_come_back(editor: Editor, people: People, project):
    (pk,) = editor.add(cough())
    editor.delete(pk)
    other = Editor(factory.make_label_set(factory.make_dialogue(project), people.annotator))
    other.change(Change(pk, cough(1, "fever")))
    with pytest.raises(Refused, match="cannot be brought back"):
        editor.undo()
    assert (editor.rows(), other.values()) == ([], ["fever"])
    assert editor.label_set.version == 2


def test_a_save_that_cannot_note_the_answer_to_a_returned_question_saves_nothing(
    label_set: LabelSet, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are one transaction: otherwise the question would stay open although its label is complete."""
    change = Change(new_id(), inform(1, "symptom", "cough", status="yes"))

    def save() -> Saved:
        return label_set_change(label_set=label_set, actor=people.annotator, version=0, key="once", changes=[change])

    def fail(**_: object) -> int:
        raise OSError("the connection is gone")

    with monkeypatch.context() as broken:
        broken.setattr("annotation.services.labelling.returned_items_resolve", fail)
        with pytest.raises(OSError, match="gone"):
            save()
    assert LabelSet.objects.get(pk=label_set.pk).version == 0
    assert not label_set.labels.exists()
    label_set.refresh_from_db()
    assert not save().replayed
