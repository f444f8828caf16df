"""The life of a label set: finished, reopened, locked."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.utils import timezone

from annotation.domain.labels import Label as LabelData
from annotation.models import Dialogue, EventKind, Label, LabelEvent, LabelSet, Status
from annotation.services.errors import Conflict, NotEditable, Refused
from annotation.services.label_sets import (
    Unlabelled,
    label_set_finish,
    label_set_lock,
    label_set_reopen,
    label_set_unlock,
    unlabelled,
)
from annotation.services.labelling import Saved
from tests import factory
from tests.conftest import People
from tests.factory import TURNS, inform

EVERY = range(len(TURNS))
REASON = "nothing to label"


def do(service: Callable[..., Saved], label_set: LabelSet, **more: Any) -> Saved:
    """Against the newest version, by the annotator, under a new key."""
    fresh = LabelSet.objects.select_related("dialogue__project", "annotator").get(pk=label_set.pk)
    request = {"version": fresh.version, "key": str(uuid.uuid4()), "actor": fresh.annotator, **more}
    return service(label_set=fresh, **request)


def label_all(label_set: LabelSet, *but: int) -> None:
    labels = [LabelData(position, "salutations") for position in EVERY if position not in but]
    factory.make_labels(label_set, *labels)


def reasons(*positions: int, reason: str = REASON) -> Mapping[int, str]:
    return dict.fromkeys(positions, reason)


def status_of(label_set: LabelSet) -> str:
    label_set.refresh_from_db()
    return label_set.status


def test_a_dialogue_with_a_label_on_every_utterance_can_be_finished(label_set: LabelSet, people: People):
    label_all(label_set)
    saved = do(label_set_finish, label_set)
    assert status_of(label_set) == Status.DONE
    assert (saved.event.kind, saved.event.changes) == (
        EventKind.STATUS,
        [{"before": "in_progress", "after": "done"}],
    )
    assert (saved.event.actor, saved.version, label_set.version) == (people.annotator, 2, 2)
    assert label_set.unlabelled_reasons == {}


def test_an_utterance_without_a_label_stands_in_the_way(label_set: LabelSet):
    label_all(label_set, 3, 7)
    assert unlabelled(label_set) == [3, 7]
    with pytest.raises(Unlabelled, match=r"2 utterances have no label yet \(3, 7\)") as caught:
        do(label_set_finish, label_set)
    assert caught.value.positions == [3, 7]
    with pytest.raises(Unlabelled, match=r"One utterance has no label yet \(7\)"):
        do(label_set_finish, label_set, reasons=reasons(3))
    assert status_of(label_set) == Status.IN_PROGRESS


def test_many_of_them_are_named_in_short(label_set: LabelSet):
    with pytest.raises(Unlabelled, match=r"10 utterances have no label yet \(0, 1, 2, 3, 4, 5, 6, 7…\)") as caught:
        do(label_set_finish, label_set)
    assert caught.value.positions == list(EVERY)


def test_a_listed_reason_takes_the_place_of_a_label(label_set: LabelSet):
    label_all(label_set, 3, 7)
    given = {3: "cannot be understood", 7: REASON}
    do(label_set_finish, label_set, reasons=given)
    assert status_of(label_set) == Status.DONE
    assert label_set.unlabelled_reasons == {"3": "cannot be understood", "7": REASON}


def test_reasons_of_utterances_that_have_a_label_are_not_kept(label_set: LabelSet):
    label_all(label_set, 3)
    do(label_set_finish, label_set, reasons=reasons(3, 4, 99))
    label_set.refresh_from_db()
    assert label_set.unlabelled_reasons == {"3": REASON}


@pytest.mark.parametrize("reason", ["because", "", "Nothing to label"])
def test_a_reason_that_is_not_listed_is_refused(label_set: LabelSet, reason: str):
    label_all(label_set, 3)
    with pytest.raises(Refused, match=r"not one of the listed reasons \(utterance 3\)") as caught:
        do(label_set_finish, label_set, reasons=reasons(3, reason=reason))
    assert caught.value.field == "reasons"
    assert status_of(label_set) == Status.IN_PROGRESS


def test_a_finished_dialogue_is_reopened_with_its_labels_and_reasons(label_set: LabelSet):
    label_all(label_set, 3)
    do(label_set_finish, label_set, reasons=reasons(3))
    do(label_set_reopen, label_set)
    assert status_of(label_set) == Status.IN_PROGRESS
    assert label_set.unlabelled_reasons == {"3": REASON}
    factory.make_labels(label_set, inform(3, "symptom", "fever", status="no"))
    do(label_set_finish, label_set)
    label_set.refresh_from_db()
    assert label_set.unlabelled_reasons == {}


@pytest.mark.parametrize("status", [Status.TODO, Status.IN_PROGRESS, Status.RETURNED, Status.LOCKED])
def test_only_what_is_finished_can_be_reopened(label_set: LabelSet, status: Status):
    LabelSet.objects.update(status=status)
    with pytest.raises(NotEditable):
        do(label_set_reopen, label_set)
    assert status_of(label_set) == status


def test_a_supervisor_locks_for_good_and_can_take_it_back(label_set: LabelSet, people: People):
    label_all(label_set)
    do(label_set_finish, label_set)
    saved = do(label_set_lock, label_set, actor=people.supervisor)
    assert (status_of(label_set), saved.event.actor) == (Status.LOCKED, people.supervisor)
    with pytest.raises(NotEditable, match="locked by a supervisor"):
        do(label_set_reopen, label_set)
    with pytest.raises(NotEditable, match="locked by a supervisor"):
        factory.make_labels(label_set, LabelData(0, "salutations"))
    do(label_set_unlock, label_set, actor=people.supervisor)
    assert status_of(label_set) == Status.DONE
    do(label_set_reopen, label_set)
    assert status_of(label_set) == Status.IN_PROGRESS


@pytest.mark.parametrize("status", [Status.TODO, Status.IN_PROGRESS, Status.RETURNED, Status.LOCKED])
def test_only_what_is_finished_can_be_locked(label_set: LabelSet, status: Status):
    LabelSet.objects.update(status=status)
    with pytest.raises(NotEditable):
        do(label_set_lock, label_set)
    assert status_of(label_set) == status


@pytest.mark.parametrize("status", [Status.TODO, Status.IN_PROGRESS, Status.DONE])
def test_only_what_is_locked_can_be_unlocked(label_set: LabelSet, status: Status):
    LabelSet.objects.update(status=status)
    with pytest.raises(NotEditable):
        do(label_set_unlock, label_set)


def test_a_dialogue_cannot_be_finished_twice_but_the_same_request_may_come_again(label_set: LabelSet):
    label_all(label_set)
    first = do(label_set_finish, label_set, key="once")
    again = do(label_set_finish, label_set, key="once", version=1)
    assert again.replayed
    assert again.event == first.event
    with pytest.raises(NotEditable, match="marked as done"):
        do(label_set_finish, label_set)
    assert LabelEvent.objects.filter(kind=EventKind.STATUS).count() == 1


def test_a_request_to_finish_is_answered_again_even_when_a_label_went_missing_since(label_set: LabelSet):
    label_all(label_set)
    first = do(label_set_finish, label_set, key="once")
    do(label_set_reopen, label_set)
    Label.objects.filter(utterance__position=3).delete()
    again = do(label_set_finish, label_set, key="once", version=1)
    assert again.event == first.event
    assert status_of(label_set) == Status.IN_PROGRESS


def test_finishing_what_was_changed_elsewhere_is_a_conflict(label_set: LabelSet):
    label_all(label_set)
    with pytest.raises(Conflict) as caught:
        do(label_set_finish, label_set, version=0)
    assert caught.value.version == 1
    Label.objects.all().delete()
    with pytest.raises(Conflict):  # that labels are missing is told to a page that can see it
        do(label_set_finish, label_set, version=0)
    assert status_of(label_set) == Status.IN_PROGRESS


@pytest.mark.parametrize("service", [label_set_finish, label_set_reopen, label_set_lock, label_set_unlock])
def test_nothing_happens_to_an_archived_dialogue(label_set: LabelSet, service: Callable[..., Saved]):
    label_all(label_set)
    Dialogue.objects.update(archived_at=timezone.now())
    with pytest.raises(NotEditable, match="archived"):
        do(service, label_set)
    assert LabelEvent.objects.count() == 1
