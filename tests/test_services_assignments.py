"""Giving dialogues to annotators and taking them back."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotation.models import LabelSet, Purpose, Status
from annotation.services.assignments import label_set_assign, label_set_unassign
from annotation.services.errors import HasWork, Refused
from tests import factory


def assign(dialogues, annotator, **extra):
    return label_set_assign(dialogues=dialogues, annotator=annotator, **{"actor": None, **extra})


def test_each_dialogue_gets_one_label_set(project, people, dialogue):
    other = factory.make_dialogue(project)
    made = assign([dialogue, other], people.annotator, actor=people.supervisor)
    rows = LabelSet.objects.filter(annotator=people.annotator)
    assert {row.dialogue for row in rows} == {dialogue, other}
    assert {(row.status, row.version, row.purpose, row.assigned_by) for row in rows} == {
        (Status.TODO, 0, Purpose.WORK, people.supervisor)
    }
    assert (len(made.created), made.existing) == (2, 0)
    assert all(row.pk for row in made.created)


def test_assigning_again_changes_nothing_and_says_so(project, people, label_set):
    other = factory.make_dialogue(project)
    made = assign([label_set.dialogue, other], people.annotator)
    assert ([row.dialogue for row in made.created], made.existing) == ([other], 1)
    made = assign([label_set.dialogue, other], people.annotator)
    assert (made.created, made.existing) == ((), 2)
    assert LabelSet.objects.count() == 2


def test_another_purpose_is_another_label_set(people, label_set):
    assign([label_set.dialogue], people.annotator, purpose="training")
    assert set(LabelSet.objects.values_list("purpose", flat=True)) == {"work", "training"}


@pytest.mark.parametrize("who", ["doctor", "supervisor", "outsider", "superuser"])
def test_only_annotators_of_the_project_are_given_dialogues(people, dialogue, who):
    with pytest.raises(Refused, match="no annotator of Chest clinic") as refusal:
        assign([dialogue], getattr(people, who))
    assert refusal.value.field == "annotators"
    assert not LabelSet.objects.exists()


def test_the_role_counts_in_each_project(people, dialogue):
    elsewhere = factory.make_dialogue(factory.make_project("Elsewhere"))
    with pytest.raises(Refused, match="no annotator of Elsewhere"):
        assign([dialogue, elsewhere], people.annotator)
    assert not LabelSet.objects.exists()


def test_archived_things_and_unknown_purposes_are_refused(project, people, dialogue):
    with pytest.raises(Refused, match="purpose"):
        assign([dialogue], people.annotator, purpose="fun")
    people.annotator.is_active = False
    with pytest.raises(Refused, match="account of alice is archived"):
        assign([dialogue], people.annotator)
    people.annotator.is_active = True
    dialogue.archived_at = timezone.now()
    dialogue.save()
    with pytest.raises(Refused, match="RES-TEST is archived"):
        assign([dialogue], people.annotator)
    project.archived_at = timezone.now()
    project.save()
    with pytest.raises(Refused, match="Chest clinic is archived"):
        assign([dialogue], people.annotator)
    assert not LabelSet.objects.exists()


def test_nothing_to_assign_is_no_error(people):
    assert assign([], people.annotator).created == ()


def test_an_untouched_assignment_is_taken_back(label_set):
    label_set_unassign(label_set=label_set)
    assert not LabelSet.objects.exists()


def test_a_begun_one_stays_even_when_the_row_at_hand_is_old(people, label_set):
    old = LabelSet.objects.get(pk=label_set.pk)
    factory.make_labels(label_set, factory.inform(1, "symptom", "cough", status="yes"))
    with pytest.raises(HasWork, match="alice has begun RES-TEST"):
        label_set_unassign(label_set=old)
    assert LabelSet.objects.get().labels.count() == 1
