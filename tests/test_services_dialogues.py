"""Putting dialogues away."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotation.models import Dialogue, LabelSet, Utterance
from annotation.services.concerns import concern_raise
from annotation.services.dialogues import dialogue_delete, dialogue_restore, dialogues_archive
from annotation.services.errors import HasWork, Refused
from tests import factory


def test_archiving_counts_what_was_open_and_restoring_opens_it(project, dialogue):
    other = factory.make_dialogue(project)
    assert dialogues_archive(project=project, dialogues=[dialogue, other]) == 2
    assert dialogues_archive(project=project, dialogues=[dialogue, other]) == 0
    assert not Dialogue.objects.open().exists()
    dialogue_restore(dialogue=dialogue)
    assert list(Dialogue.objects.open()) == [dialogue]


def test_a_dialogue_of_another_project_is_not_archived(project):
    elsewhere = factory.make_dialogue(factory.make_project("Elsewhere"))
    assert dialogues_archive(project=project, dialogues=[elsewhere]) == 0
    assert Dialogue.objects.open().filter(pk=elsewhere.pk).exists()


def test_an_unlabelled_dialogue_is_deleted_with_its_untouched_assignments(label_set):
    dialogue_delete(dialogue=label_set.dialogue)
    assert not Dialogue.objects.exists()
    assert not Utterance.objects.exists()
    assert not LabelSet.objects.exists()


def test_a_labelled_dialogue_is_kept_and_archiving_offered(label_set):
    factory.make_labels(label_set, factory.inform(1, "symptom", "cough", status="yes"))
    with pytest.raises(HasWork, match=r"RES-TEST has labels.*Archive it instead"):
        dialogue_delete(dialogue=label_set.dialogue)
    assert Dialogue.objects.exists()
    assert LabelSet.objects.exists()


def test_the_dialogues_of_an_archived_project_stay_as_they_are(project, dialogue):
    gone = factory.make_dialogue(project, archived_at=timezone.now())
    project.archived_at = timezone.now()
    project.save()
    for row in (dialogue, gone):
        row.refresh_from_db()
    for change in (
        lambda: dialogue_delete(dialogue=dialogue),
        lambda: dialogues_archive(project=project, dialogues=[dialogue]),
        lambda: dialogue_restore(dialogue=gone),
    ):
        with pytest.raises(Refused, match="project is archived"):
            change()
    assert list(Dialogue.objects.open()) == [dialogue]


def test_a_dialogue_that_somebody_asked_about_is_not_deleted(people, label_set):
    concern_raise(label_set=label_set, actor=people.annotator, position=1, text="Is this a symptom?", key="ask")
    with pytest.raises(HasWork, match="Something was said about RES-TEST"):
        dialogue_delete(dialogue=label_set.dialogue)
    assert label_set.concerns.count() == 1
