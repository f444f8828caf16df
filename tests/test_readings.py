"""Rows into readings, and labels into what events and answers carry."""

from __future__ import annotations

import json
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from django.db import transaction
from pytest_django import DjangoAssertNumQueries

from annotation.domain.labels import Label as LabelData
from annotation.models import Dialogue, Label, LabelSet, User
from annotation.services import recent_readings
from annotation.services.label_imports import labels_import
from annotation.services.label_sets import Unlabelled, label_set_finish
from annotation.services.labelling import Change, label_set_change
from annotation.services.readings import label_as_json, label_from_json, labels_of, reading_of, utterances_of
from annotation.services.recent_readings import remember, stamp_of
from tests import factory
from tests.conftest import People
from tests.factory import TURNS, inform

FULL = LabelData(
    position=1,
    intent="other",
    slot="symptom",
    answers={"value": ["cough"], "ana_factors": [{"value": "cold", "rating": "neither"}]},
    checks=("location", "onset"),
    kept={"colour": ["?"]},
    intent_name="asks for a note",
    id=str(uuid.uuid4()),
    rank=4,
    origin="copied",
    questionnaire_version="1.0",
)


def load(label_set: LabelSet) -> LabelSet:
    return LabelSet.objects.select_related("dialogue__project").get(pk=label_set.pk)


def test_a_reading_has_all_turns_and_the_labels_by_position_and_rank(label_set: LabelSet):
    factory.make_labels(label_set, inform(5, "symptom", "c"), inform(1, "symptom", "b"), inform(1, "symptom", "a"))
    reading = reading_of(load(label_set))
    assert reading.dialogue == "RES-TEST"
    assert [(turn.speaker, turn.text) for turn in reading.utterances] == TURNS
    assert [(label.position, label.answers["value"]) for label in reading.labels] == [
        (1, ["b"]),
        (1, ["a"]),
        (5, ["c"]),
    ]


def test_a_reading_is_of_one_label_set_only(label_set: LabelSet, dialogue: Dialogue, people: People):
    other = factory.make_label_set(dialogue, people.second)
    factory.make_labels(label_set, inform(1, "symptom", "mine"))
    factory.make_labels(other, inform(1, "symptom", "theirs"))
    assert [label.answers["value"] for label in reading_of(load(label_set)).labels] == [["mine"]]
    assert [label.answers["value"] for label in reading_of(load(other)).labels] == [["theirs"]]


def test_a_label_goes_through_json_and_back_unchanged():
    assert label_from_json(json.loads(json.dumps(label_as_json(FULL)))) == FULL


def test_a_label_goes_through_its_row_and_back_unchanged(label_set: LabelSet):
    factory.make_labels(label_set, FULL)
    (label,) = labels_of(label_set)
    assert label == LabelData(**{**label_as_json(FULL), "checks": FULL.checks, "rank": 0})
    assert Label.objects.get().as_data(position=1) == label


def test_the_json_form_shares_nothing_that_could_be_changed_with_the_label():
    data = label_as_json(FULL)
    data["answers"]["value"] = []
    data["checks"].clear()
    data["kept"].clear()
    assert FULL.answers["value"] == ["cough"]
    assert FULL.checks
    assert FULL.kept


def test_the_turns_of_a_dialogue_are_read_once(dialogue: Dialogue, django_assert_num_queries: DjangoAssertNumQueries):
    first = utterances_of(dialogue.pk, dialogue.fingerprint)
    with django_assert_num_queries(0):
        assert utterances_of(dialogue.pk, dialogue.fingerprint) is first
    with django_assert_num_queries(1):
        utterances_of(dialogue.pk, "another fingerprint")


def test_a_version_that_was_just_written_is_not_read_again(
    transactional_db: None, label_set: LabelSet, django_assert_num_queries: DjangoAssertNumQueries
):
    reading_of(load(label_set))
    factory.make_labels(label_set, inform(1, "symptom", "cough"))
    fresh = load(label_set)
    with django_assert_num_queries(0):
        reading = reading_of(fresh)
    assert list(reading.labels) == labels_of(fresh)


def test_a_save_through_an_object_that_was_loaded_before_another_save_loses_nothing_of_it(
    transactional_db: None, label_set: LabelSet, people: People
):
    early = load(label_set)
    known = reading_of(early)
    factory.make_labels(label_set, inform(1, "symptom", "first"))
    remember(early.pk, stamp_of(early), known)  # as in a process that did not make that change
    label_set_change(
        label_set=early,
        actor=people.annotator,
        version=1,
        key="second",
        changes=[Change(str(uuid.uuid4()), inform(3, "symptom", "second"))],
    )
    assert list(reading_of(early).labels) == labels_of(early)
    assert [label.answers["value"][0] for label in reading_of(load(label_set)).labels] == ["first", "second"]


def test_what_another_process_wrote_is_read(transactional_db: None, label_set: LabelSet):
    reading_of(load(label_set))
    factory.make_labels(label_set, inform(1, "symptom", "cough"))
    row = load(label_set)
    reading_of(row)
    # As another process would: the rows and the version change, and this one hears nothing of it.
    Label.objects.update(answers={"value": ["fever"]})
    LabelSet.objects.update(version=2)
    assert reading_of(load(label_set)).labels[0].answers == {"value": ["fever"]}


def test_what_a_rollback_took_back_does_not_come_again(transactional_db: None, label_set: LabelSet):
    reading_of(load(label_set))
    with transaction.atomic():
        factory.make_labels(label_set, inform(1, "symptom", "never happened"))
        transaction.set_rollback(True)
    assert reading_of(load(label_set)).labels == ()
    label_set.refresh_from_db()
    factory.make_labels(label_set, inform(1, "symptom", "cough"))
    assert [label.answers["value"] for label in reading_of(load(label_set)).labels] == [["cough"]]


def refused_finish(label_set: LabelSet, actor: User) -> None:
    """Moves to the next version, reads the labels under it, and takes it back."""
    with pytest.raises(Unlabelled):
        label_set_finish(label_set=load(label_set), actor=actor, version=0, key="finish")


def undone_import(label_set: LabelSet, actor: User) -> None:
    """Writes the next version, and the transaction around it is taken back."""
    with transaction.atomic():
        labels_import(label_set=load(label_set), actor=actor, labels=[inform(1, "symptom", "no")], key="import")
        transaction.set_rollback(True)


@pytest.mark.parametrize("take_back", [refused_finish, undone_import])
def test_other_processes_changes_are_not_put_on_top_of_what_was_rolled_back(
    transactional_db: None, label_set: LabelSet, people: People, take_back: Callable[[LabelSet, User], None]
):
    """The version number of what was taken back is given again, to a change that this process never saw."""
    reading_of(load(label_set))
    take_back(label_set, people.annotator)
    with another_process():
        factory.make_labels(label_set, inform(1, "symptom", "first"))
        factory.make_labels(label_set, inform(3, "symptom", "second"))
    assert list(reading_of(load(label_set)).labels) == labels_of(label_set)


@contextmanager
def another_process() -> Iterator[None]:
    """What happens in this block is neither known to this process afterwards, nor did it know anything before."""
    with patch.object(recent_readings, "_recent", OrderedDict()):
        yield
