"""Who may be given real work: the test that guards by itself, and what supervisors decide about it."""

from __future__ import annotations

import uuid

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.models import ExtraAttempt, LabelSet, QualificationOverride, Role, Status
from annotation.services.assignments import label_set_assign
from annotation.services.dialogues import dialogues_archive
from annotation.services.errors import Refused
from annotation.services.exams import exam_add, exam_gold_copy, exam_remove, exam_settings
from annotation.services.group_assignment import annotators_of, assignment_write
from annotation.services.group_changes import changes_plan, changes_write, staff
from annotation.services.label_imports import label_set_for_import
from annotation.services.projects import project_delete
from annotation.services.qualification import attempt_hand_in, attempt_label_sets, attempt_start
from annotation.services.work_gate import (
    NotQualified,
    attempt_allow,
    gate_of,
    may_work,
    override_revoke,
    projects_with_test,
    qualification_override,
    qualification_waive,
    those_who_may_work,
)
from tests import factory
from tests.editor import Editor
from tests.factory import inform
from tests.qualifying import GOLD, fill, make_exam, make_test, make_training

BARRED = "alice has not passed the test of Chest clinic yet; let them take it, or let them work without it"


def take(project, person, labels=GOLD) -> None:
    attempt = attempt_start(project=project, annotator=person)
    for label_set in attempt_label_sets(attempt):
        fill(label_set, labels)
    attempt_hand_in(attempt=attempt)


def override(project, people, **change) -> QualificationOverride:
    asked = {"project": project, "annotator": people.annotator, "reason": "Wrote the gold.", "actor": people.supervisor}
    return qualification_override(**{**asked, **change})


# --- when the gate is closed ---


def test_the_gate_closes_when_a_test_dialogue_gets_its_gold(project, people, label_set):
    factory.make_labels(label_set, *GOLD)
    make_training(project, people.supervisor)
    exam = exam_add(dialogue=label_set.dialogue, kind="test", actor=people.supervisor)
    assert not gate_of(project).closed
    assert may_work(project, people.annotator)
    exam_gold_copy(exam=exam, source=label_set, actor=people.supervisor, key=str(uuid.uuid4()))
    assert gate_of(project).closed
    assert gate_of(project).tests == 1
    assert not may_work(project, people.annotator)


def test_a_further_test_dialogue_without_gold_leaves_it_closed(project, people):
    make_test(project, people.supervisor)
    make_exam(factory.make_dialogue(project, "NEXT"), "test", people.supervisor, gold=())
    assert gate_of(project).closed
    take(project, people.annotator)
    assert may_work(project, people.annotator)


def test_a_test_guards_its_own_project_only(project, people):
    make_test(project, people.supervisor)
    elsewhere = factory.make_project("Elsewhere")
    factory.make_member(elsewhere, people.annotator, Role.ANNOTATOR)
    assert list(projects_with_test(type(project).objects.all())) == [project]
    assert may_work(elsewhere, people.annotator)
    make_test(elsewhere, people.supervisor)
    take(elsewhere, people.annotator)
    assert may_work(elsewhere, people.annotator)
    assert not may_work(project, people.annotator)


def test_the_last_test_dialogue_is_not_taken_away_in_passing(project, people):
    first, second = (make_test(project, people.supervisor, name) for name in ("TEST-1", "TEST-2"))
    training = make_training(project, people.supervisor)
    exam_remove(exam=second)
    exam_remove(exam=training)
    with pytest.raises(Refused, match="switch the test off first, with a reason"):
        exam_remove(exam=first)
    with pytest.raises(Refused, match="switch the test off first, with a reason"):
        dialogues_archive(project=project, dialogues=[first.dialogue])
    assert gate_of(project).closed
    qualification_waive(project=project, reason="Over.", actor=people.supervisor)
    assert dialogues_archive(project=project, dialogues=[first.dialogue]) == 1
    exam_remove(exam=first)


# --- nobody gets new work before they pass ---


def test_nobody_is_assigned_real_work_before_the_test_is_passed(project, people, dialogue):
    make_test(project, people.supervisor)
    for purpose in ("work", "seed"):
        with pytest.raises(NotQualified, match=BARRED):
            label_set_assign(dialogues=[dialogue], annotator=people.annotator, purpose=purpose, actor=None)
    take(project, people.annotator, [label for label in GOLD if not label.slot])
    assert not may_work(project, people.annotator)
    take(project, people.annotator)
    assert those_who_may_work(project, [people.annotator, people.second]) == {people.annotator.pk}
    assert label_set_assign(dialogues=[dialogue], annotator=people.annotator, actor=None).created


def test_nothing_is_imported_as_the_work_of_somebody_who_has_not_passed(project, people, dialogue):
    make_test(project, people.supervisor)
    with pytest.raises(NotQualified, match=BARRED):
        label_set_for_import(dialogue=dialogue, annotator=people.annotator)
    assert not LabelSet.objects.real_work().exists()


def test_dialogues_are_divided_only_among_those_who_have_passed(project, people):
    for number in range(4):
        factory.make_dialogue(project, f"D-{number}")
    make_test(project, people.supervisor)
    override(project, people, annotator=people.second)
    assert annotators_of(project) == [people.second]
    asked = {"project": project, "groups": 2, "seeds": 0, "random_seed": 1, "actor": people.supervisor}
    with pytest.raises(NotQualified, match=BARRED):
        assignment_write(**asked, annotators=[people.annotator, people.second])
    assert not LabelSet.objects.real_work().exists()


def test_work_from_before_the_test_stays_and_can_be_gone_on_with(project, people, dialogue):
    (given,) = label_set_assign(dialogues=[dialogue], annotator=people.annotator, actor=None).created
    make_test(project, people.supervisor)
    editor = Editor(LabelSet.objects.get(pk=given.pk))
    editor.add(inform(1, "symptom", "cough", status="yes"))
    assert LabelSet.objects.get(pk=given.pk).status == Status.IN_PROGRESS
    again = label_set_for_import(dialogue=dialogue, annotator=people.annotator)
    assert again == given
    with pytest.raises(NotQualified):
        label_set_assign(dialogues=[factory.make_dialogue(project)], annotator=people.annotator, actor=None)


def test_who_waits_for_the_test_keeps_their_share_and_gets_nothing_when_somebody_leaves(project, people):
    for number in range(6):
        factory.make_dialogue(project, f"D-{number}")
    both = [people.annotator, people.second]
    assignment_write(project=project, annotators=both, groups=2, seeds=0, random_seed=1, actor=people.supervisor)
    mine = set(LabelSet.objects.filter(annotator=people.annotator).values_list("dialogue__external_id", flat=True))
    make_test(project, people.supervisor)
    carol = factory.make_member(project, factory.make_user("carol"), Role.ANNOTATOR)
    override(project, people, annotator=carol)
    found = staff(project)
    assert (found.arrivals, found.leavers, found.gone) == ((carol,), tuple(both), ())
    asked = {"project": project, "random_seed": 2}
    with pytest.raises(NotQualified, match="alice has not passed"):
        changes_plan(**asked, arrivals=[people.annotator], leavers=[people.second])
    changes_write(**asked, arrivals=[carol], leavers=[people.second], actor=people.supervisor)
    after = LabelSet.objects.filter(annotator=people.annotator, dialogue__exams=None)
    assert set(after.values_list("dialogue__external_id", flat=True)) == mine
    assert LabelSet.objects.filter(annotator=carol).count() == 3


# --- what supervisors decide ---


def test_a_supervisor_lets_somebody_work_with_a_reason_and_takes_it_back(project, people, dialogue):
    make_test(project, people.supervisor)
    for reason, sentence in ((" ", "Say why"), ("x" * 1001, "longer than 1,000")):
        with pytest.raises(Refused, match=sentence):
            override(project, people, reason=reason)
    done = override(project, people)
    assert label_set_assign(dialogues=[dialogue], annotator=people.annotator, actor=None).created
    with pytest.raises(Refused, match="alice may work without the test already"):
        override(project, people)
    override_revoke(override=done, actor=people.superuser)
    assert not may_work(project, people.annotator)
    assert LabelSet.objects.real_work().count() == 1
    revoked_at = QualificationOverride.objects.get().revoked_at
    override_revoke(override=done, actor=people.supervisor)
    kept = QualificationOverride.objects.get()
    assert (kept.reason, kept.decided_by, kept.revoked_by) == ("Wrote the gold.", people.supervisor, people.superuser)
    assert kept.revoked_at == revoked_at
    override(project, people, reason="After all.")
    assert may_work(project, people.annotator)


def test_the_test_is_switched_off_for_everybody_with_a_reason_and_on_again(project, people):
    make_test(project, people.supervisor)
    with pytest.raises(Refused, match="Say why no test is needed"):
        qualification_waive(project=project, reason="", actor=people.supervisor)
    done = qualification_waive(project=project, reason="All are consultants.", actor=people.supervisor)
    gate = gate_of(project)
    assert (gate.closed, gate.waiver, gate.tests) == (False, done, 1)
    assert may_work(project, people.annotator)
    with pytest.raises(Refused, match="switched off already"):
        qualification_waive(project=project, reason="Again.", actor=people.supervisor)
    override_revoke(override=done, actor=people.supervisor)
    assert gate_of(project).closed
    assert not may_work(project, people.annotator)


def test_the_database_holds_one_standing_decision_for_each(project, people):
    override(project, people)
    qualification_waive(project=project, reason="x", actor=people.supervisor)
    for annotator in (people.annotator, None):
        with pytest.raises(IntegrityError), transaction.atomic():
            project.overrides.create(annotator=annotator, reason="x", decided_by=people.supervisor)


def test_decisions_are_about_annotators_of_an_open_project(project, people):
    done = override(project, people)
    for person in (people.doctor, people.outsider):
        with pytest.raises(Refused, match="is no annotator"):
            override(project, people, annotator=person)
    project.archived_at = timezone.now()
    project.save()
    for decide in (
        lambda: override(project, people, annotator=people.second),
        lambda: qualification_waive(project=project, reason="x", actor=people.supervisor),
        lambda: override_revoke(override=done, actor=people.supervisor),
    ):
        with pytest.raises(Refused, match="archived"):
            decide()


def test_a_project_that_held_nothing_but_decisions_is_deleted(project, people):
    override(project, people)
    qualification_waive(project=project, reason="x", actor=people.supervisor)
    project.extra_attempts.create(annotator=people.second, number=2, reason="x", decided_by=people.supervisor)
    project_delete(project=project)
    assert not QualificationOverride.objects.exists()
    assert not ExtraAttempt.objects.exists()


def test_another_attempt_is_not_allowed_while_one_is_under_way(project, people):
    make_test(project, people.supervisor)
    exam_settings(project=project, pass_mark=0.8, attempt_limit=1)
    attempt_start(project=project, annotator=people.annotator)
    with pytest.raises(Refused, match="alice has an attempt left"):
        attempt_allow(project=project, annotator=people.annotator, reason="x", actor=people.supervisor)
