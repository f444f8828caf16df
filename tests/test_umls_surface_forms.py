"""Surface forms, occurrences and counts follow the labels."""

from __future__ import annotations

import threading
import uuid
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection

from annotation.domain.labels import Label as LabelData
from annotation.models import LabelSet, Owner, Project, Purpose
from annotation.services.labelling import Change, label_set_change
from annotation.services.readings import labels_of
from tests import factory
from tests.conftest import People
from tests.factory import inform, make_label_set, make_labels
from umls_linker.models import LinkedLabelSet, Occurrence, SurfaceForm
from umls_linker.services.linking import label_sets_collect
from umls_linker.services.surface_forms import label_set_collect, label_sets_waiting

pytestmark = pytest.mark.django_db


def forms(project: Project) -> dict[tuple[str, str, str], tuple[str, int, int]]:
    """(slot, field, key) → (text, labels, utterances)"""
    rows = SurfaceForm.objects.filter(project=project)
    return {(row.slot, row.field, row.key): (row.text, row.labels, row.utterances) for row in rows}


def collect(label_set: LabelSet) -> bool:
    return label_set_collect(label_set=label_set)


def change(label_set: LabelSet, *changes: tuple[str, LabelData | None]) -> None:
    label_set.refresh_from_db()
    label_set_change(
        label_set=label_set,
        actor=label_set.annotator,
        version=label_set.version,
        key=str(uuid.uuid4()),
        changes=[Change(pk, label) for pk, label in changes],
    )


def test_every_medical_value_of_a_label_becomes_a_form_and_nothing_else(project: Project, label_set: LabelSet) -> None:
    make_labels(
        label_set,
        inform(1, "symptom", "Cough", "SOB", status="yes", onset="two weeks", location=["chest"]),
        inform(7, "habit", "smoking", status="yes"),
    )
    assert collect(label_set)
    assert forms(project) == {
        ("symptom", "value", "cough"): ("Cough", 1, 1),
        ("symptom", "value", "sob"): ("SOB", 1, 1),
        ("symptom", "location", "chest"): ("chest", 1, 1),
        ("habit", "value", "smoking"): ("smoking", 1, 1),
    }


def test_case_and_white_space_make_no_other_form_and_the_commonest_spelling_is_shown(
    project: Project, label_set: LabelSet
) -> None:
    make_labels(label_set, inform(1, "symptom", "COUGH"), inform(3, "symptom", "cough"), inform(5, "symptom", "cough"))
    collect(label_set)
    assert forms(project) == {("symptom", "value", "cough"): ("cough", 3, 3)}
    assert set(Occurrence.objects.values_list("text", flat=True)) == {"COUGH", "cough"}


def test_two_people_and_gold_on_one_utterance_count_as_one_utterance(
    project: Project, label_set: LabelSet, people: People
) -> None:
    other = make_label_set(label_set.dialogue, people.second, purpose=Purpose.SEED)
    gold = LabelSet.objects.create(dialogue=label_set.dialogue, owner=Owner.GOLD, annotator=people.doctor)
    for one in (label_set, other, gold):
        make_labels(one, inform(1, "symptom", "cough"))
        collect(one)
    assert forms(project) == {("symptom", "value", "cough"): ("cough", 3, 1)}


@pytest.mark.parametrize("purpose", [Purpose.TRAINING, Purpose.TEST])
@pytest.mark.parametrize("owner", [Owner.ANNOTATOR, Owner.GOLD])
def test_training_and_tests_are_no_data(label_set: LabelSet, people: People, purpose: Purpose, owner: Owner) -> None:
    exercise = LabelSet.objects.create(
        dialogue=label_set.dialogue, owner=owner, annotator=people.second, purpose=purpose
    )
    make_labels(exercise, inform(1, "symptom", "cough"))
    assert not collect(exercise)
    assert not SurfaceForm.objects.exists()
    assert not label_sets_waiting(label_set.dialogue.project).exists()


def test_collecting_twice_changes_nothing_and_writes_nothing(
    project: Project, label_set: LabelSet, django_assert_max_num_queries: Any
) -> None:
    make_labels(label_set, inform(1, "symptom", "cough", "fever"))
    assert collect(label_set)
    before = list(Occurrence.objects.values_list("pk", "label_id")), forms(project)
    with django_assert_max_num_queries(8):
        assert not collect(label_set)
    assert (list(Occurrence.objects.values_list("pk", "label_id")), forms(project)) == before


def test_a_value_that_is_changed_moves_and_one_that_goes_leaves_its_form(project: Project, label_set: LabelSet) -> None:
    make_labels(label_set, inform(1, "symptom", "cough", "fever"))
    collect(label_set)
    kept = SurfaceForm.objects.get(key="cough").pk
    (label,) = labels_of(label_set)
    change(label_set, (label.id, replace(label, answers={"value": ["cough", "chills"]})))
    collect(label_set)
    assert forms(project) == {
        ("symptom", "value", "cough"): ("cough", 1, 1),
        ("symptom", "value", "fever"): ("fever", 0, 0),
        ("symptom", "value", "chills"): ("chills", 1, 1),
    }
    change(label_set, (label.id, None))
    collect(label_set)
    assert {key[2]: counts[1:] for key, counts in forms(project).items()} == dict.fromkeys(
        ("cough", "fever", "chills"), (0, 0)
    )
    assert not Occurrence.objects.exists()
    change(label_set, (label.id, label))  # as undo brings it back
    collect(label_set)
    assert SurfaceForm.objects.get(key="cough").pk == kept
    assert forms(project)["symptom", "value", "cough"] == ("cough", 1, 1)


def test_a_label_whose_id_another_label_set_has_taken_is_counted_there(
    project: Project, label_set: LabelSet, people: People
) -> None:
    other = make_label_set(factory.make_dialogue(project), people.second)
    make_labels(label_set, inform(1, "symptom", "cough"))
    collect(label_set)
    (label,) = labels_of(label_set)
    change(label_set, (label.id, None))
    change(other, (label.id, inform(3, "symptom", "cough")))
    collect(other)  # before the first one
    collect(label_set)
    assert forms(project) == {("symptom", "value", "cough"): ("cough", 1, 1)}
    assert Occurrence.objects.get().label_set == other


def test_an_old_reading_is_not_written_over_a_newer_one(
    project: Project, label_set: LabelSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between reading the labels and writing, somebody else collects a newer version."""
    make_labels(label_set, inform(1, "symptom", "cough"))
    slow = label_set_collect

    def read_then_overtaken(row: LabelSet) -> list[LabelData]:
        found = labels_of(row)
        monkeypatch.setattr("umls_linker.services.surface_forms.labels_of", labels_of)
        make_labels(label_set, inform(3, "symptom", "fever"))
        assert slow(label_set=LabelSet.objects.get(pk=label_set.pk))
        return found

    monkeypatch.setattr("umls_linker.services.surface_forms.labels_of", read_then_overtaken)
    assert not slow(label_set=LabelSet.objects.get(pk=label_set.pk))
    assert set(forms(project)) == {("symptom", "value", "cough"), ("symptom", "value", "fever")}
    assert LinkedLabelSet.objects.get().version == 2


def test_other_projects_have_forms_of_their_own(project: Project, label_set: LabelSet, people: People) -> None:
    elsewhere = factory.make_project()
    other = make_label_set(factory.make_dialogue(elsewhere), people.annotator)
    for one in (label_set, other):
        make_labels(one, inform(1, "symptom", "cough"))
        collect(one)
    assert SurfaceForm.objects.filter(key="cough").count() == 2
    assert forms(project) == forms(elsewhere)


def test_label_sets_wait_until_they_are_collected(project: Project, label_set: LabelSet, people: People) -> None:
    assert not label_sets_waiting(project).exists()
    make_labels(label_set, inform(1, "symptom", "cough"))
    assert [row.pk for row in label_sets_waiting(project)] == [label_set.pk]
    assert label_sets_collect(project=project)
    assert not label_sets_waiting(project).exists()
    make_labels(label_set, inform(3, "symptom", "cough"))
    assert not label_sets_collect(project=project, seconds=-1)  # no time at all
    assert label_sets_waiting(project).count() == 1


def test_a_value_of_thousands_of_characters_is_kept_whole(project: Project, label_set: LabelSet) -> None:
    text = "a very long account of a cough " * 60
    make_labels(label_set, inform(1, "symptom", text.strip()))
    collect(label_set)
    assert [row.key for row in SurfaceForm.objects.all()] == [text.strip()]


@pytest.mark.django_db(transaction=True)
def test_workers_that_collect_at_the_same_time_count_every_label_once(project: Project, people: People) -> None:
    label_sets: list[LabelSet] = []
    for number in range(4):
        label_set = make_label_set(factory.make_dialogue(project, f"T{number}"), people.annotator)
        make_labels(label_set, inform(1, "symptom", "cough", "fever"), inform(3, "symptom", "cough"))
        label_sets.append(label_set)
    Occurrence.objects.all().delete()
    LinkedLabelSet.objects.all().delete()
    SurfaceForm.objects.all().delete()
    errors: list[BaseException] = []

    def work(order: list[LabelSet]) -> None:
        try:
            for one in order:
                label_set_collect(label_set=LabelSet.objects.get(pk=one.pk))
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(order,)) for order in (label_sets, label_sets[::-1], label_sets)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert forms(project) == {
        ("symptom", "value", "cough"): ("cough", 8, 8),
        ("symptom", "value", "fever"): ("fever", 4, 4),
    }
