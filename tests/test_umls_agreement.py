"""Agreement measured in the background after decisions."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from annotation.models import AgreementSnapshot, LabelSet, Project, User
from annotation.services.agreement_scope import Scope
from annotation.services.label_sets import label_set_finish
from tests import factory
from tests.conftest import People
from tests.factory import inform
from tests.reviewing import form_of, link, make_vocabulary
from umls_linker import tasks
from umls_linker.services.agreement import EVERY_SECONDS, WAIT_SECONDS
from umls_linker.services.decisions import (
    decision_for_label,
    decision_nil,
    decision_revert,
    decision_take,
    decision_undo,
)
from umls_linker.services.messages import Seldom
from umls_linker.services.migration import migration_accept

pytestmark = pytest.mark.django_db
DYSPNEA = "C0013404"


Sent = list[tuple[str, int, int]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """What was sent, in place of sending: (task, argument, countdown)."""
    found: Sent = []
    monkeypatch.setattr(
        "umls_linker.services.agreement.send",
        lambda name, argument, countdown=0: found.append((name, argument, countdown)),
    )
    return found


@pytest.fixture
def doubly(project: Project, people: People) -> list[LabelSet]:
    """Two people say the same in two wordings."""
    make_vocabulary()
    dialogue = factory.make_dialogue(project)
    made = [
        finished(factory.make_label_set(dialogue, person), person, words)
        for person, words in ((people.annotator, "SOB"), (people.second, "short of breath"))
    ]
    link(project, *made)
    return made


def finished(label_set: LabelSet, owner: User, words: str) -> LabelSet:
    factory.make_labels(label_set, inform(1, "symptom", words, status="yes"))
    label_set.refresh_from_db()
    reasons = dict.fromkeys([0, *range(2, label_set.dialogue.utterance_count)], "nothing to label")
    given = {"version": label_set.version, "key": str(uuid.uuid4()), "reasons": reasons}
    label_set_finish(label_set=label_set, actor=owner, **given)
    return label_set


def by_concept() -> list[float]:
    """The agreement on slot and concept of the whole project, snapshot by snapshot."""
    rows = AgreementSnapshot.objects.filter(scope_key=Scope().key).order_by("pk")
    return [row.figures["slot_values"]["ladder"]["slot_cui"]["f"] for row in rows]


def decide_both(project: Project, doctor: User) -> None:
    for words in ("sob", "short of breath"):
        decision_take(form=form_of(project, words), actor=doctor, cui=DYSPNEA, expected=None)


def test_decisions_have_agreement_measured_when_they_are_stored(
    project: Project, people: People, doubly: list[LabelSet], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        decide_both(project, people.doctor)
    assert by_concept()[-1] == 1
    count = AgreementSnapshot.objects.count()
    tasks.measure_agreement(project.pk)  # a message that comes twice
    tasks.measure_agreement(0)
    assert AgreementSnapshot.objects.count() == count
    with django_capture_on_commit_callbacks(execute=True):
        decision_revert(decision=form_of(project, "sob").decisions.get(), actor=people.doctor)
    assert by_concept()[-1] == 0


def test_every_kind_of_decision_has_it_measured_once_it_is_committed(
    project: Project, people: People, doubly: list[LabelSet], sent: Sent, django_capture_on_commit_callbacks: Any
) -> None:
    form, doctor = form_of(project, "sob"), people.doctor
    label_id = form.occurrences.get().label_id
    with django_capture_on_commit_callbacks(execute=True):
        made = decision_nil(form=form, actor=doctor, expected=None)
        assert sent == []
    for act in (
        lambda: None,
        lambda: decision_for_label(form=form, label_id=label_id, actor=doctor, cui=DYSPNEA),
        lambda: migration_accept(decision=made, actor=doctor, cui=DYSPNEA),
        lambda: decision_undo(project=project, actor=doctor),
    ):
        with django_capture_on_commit_callbacks(execute=True):
            act()
        assert set(sent) == {("measure_agreement", project.pk, WAIT_SECONDS)}
        sent.clear()


def test_whoever_decides_all_the_time_sends_one_message_that_covers_all(
    project: Project,
    people: People,
    doubly: list[LabelSet],
    sent: Sent,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    monkeypatch.setattr("umls_linker.services.agreement.in_place", lambda: False)
    monkeypatch.setattr("umls_linker.services.agreement._due", Seldom(EVERY_SECONDS))
    with django_capture_on_commit_callbacks(execute=True):
        decide_both(project, people.doctor)
    assert len(sent) == 1
    assert WAIT_SECONDS > EVERY_SECONDS
