"""Training, tests against gold, and who may be given work."""

from __future__ import annotations

import json
import uuid

import pytest
from django.utils import timezone

from annotation.models import (
    Dialogue,
    ExamDialogue,
    ExamKind,
    Feedback,
    Label,
    LabelSet,
    Owner,
    Purpose,
    QualificationOverride,
    Status,
    TestAttempt,
)
from annotation.services.accounts import person_delete
from annotation.services.assignments import label_set_assign, label_set_unassign
from annotation.services.dialogues import dialogue_delete, dialogues_archive
from annotation.services.errors import HasWork, NotEditable, Refused
from annotation.services.exams import (
    exam_add,
    exam_gold_copy,
    exam_gold_import,
    exam_move,
    exam_remove,
    exam_settings,
    explanations_import,
    explanations_of,
    explanations_write,
    gold_candidates,
)
from annotation.services.label_sets import label_set_reopen, label_set_unlock
from annotation.services.projects import member_remove, project_delete
from annotation.services.qualification import (
    attempt_hand_in,
    attempt_label_sets,
    attempt_start,
    feedback_write,
    gold_of,
    training_left,
    training_start,
)
from annotation.services.readings import labels_of
from annotation.services.training import compared
from annotation.services.work_gate import attempt_allow, qualification_override
from tests import factory
from tests.editor import Editor
from tests.factory import inform
from tests.qualifying import GOLD, fill, finish, make_exam, make_test, make_training

WITHOUT_VALUES = [label for label in GOLD if not label.slot]


def take(project, person, labels=GOLD) -> TestAttempt:
    attempt = attempt_start(project=project, annotator=person)
    for label_set in attempt_label_sets(attempt):
        fill(label_set, labels)
    return attempt_hand_in(attempt=attempt)


# --- which dialogues, their gold and explanations ---


def test_a_dialogue_is_for_training_or_for_the_test_and_gets_empty_gold_of_its_own(project, people):
    dialogue = factory.make_dialogue(project, "T1")
    exam = exam_add(dialogue=dialogue, kind="training", actor=people.supervisor)
    gold = gold_of(dialogue.pk, "training")
    assert gold is not None
    assert (gold.owner, gold.purpose, gold.annotator, exam.order) == (Owner.GOLD, Purpose.TRAINING, None, 1)
    with pytest.raises(Refused, match="T1 is a training dialogue already"):
        exam_add(dialogue=dialogue, kind="test", actor=people.supervisor)


def test_a_dialogue_that_people_were_trained_on_is_no_test(project, people):
    exam = make_training(project, people.supervisor)
    training_start(project=project, annotator=people.annotator)
    dialogue = exam.dialogue
    exam_remove(exam=exam)
    with pytest.raises(Refused, match="were trained on TRAIN-1"):
        exam_add(dialogue=dialogue, kind="test", actor=people.supervisor)
    assert exam_add(dialogue=dialogue, kind="training", actor=people.supervisor)


def test_archived_dialogues_and_unknown_kinds_are_refused(project, people, dialogue):
    with pytest.raises(Refused, match="training"):
        exam_add(dialogue=dialogue, kind="fun", actor=None)
    Dialogue.objects.update(archived_at=timezone.now())
    dialogue.refresh_from_db()
    with pytest.raises(Refused, match="archived"):
        exam_add(dialogue=dialogue, kind="test", actor=None)


def test_gold_is_copied_from_somebodys_labels_and_does_not_follow_them(project, people, label_set):
    factory.make_labels(label_set, *GOLD)
    exam = make_exam(label_set.dialogue, "test", people.supervisor, gold=())
    assert list(gold_candidates(exam)) == [label_set]
    done = exam_gold_copy(exam=exam, source=label_set, actor=people.supervisor, key="copy")
    gold = gold_of(exam.dialogue_id, "test")
    assert done.added == len(GOLD)
    assert [(row.position, row.intent, row.answers) for row in labels_of(gold)] == [
        (row.position, row.intent, row.answers) for row in labels_of(label_set)
    ]
    fill(label_set, ())
    assert gold.labels.count() == len(GOLD)


def test_gold_is_not_copied_from_a_trainees_labels_nor_from_another_dialogue(project, people, label_set):
    exam = make_training(project, people.supervisor)
    (own,) = training_start(project=project, annotator=people.annotator)
    fill(own)
    factory.make_labels(label_set, *GOLD)
    for source in (own, label_set):
        with pytest.raises(Refused, match="listed label sets"):
            exam_gold_copy(exam=exam, source=source, actor=people.supervisor, key=str(uuid.uuid4()))


def test_a_portal_file_becomes_the_gold_in_place_of_what_was_there(project, people):
    exam = make_test(project, people.supervisor)
    file = [{"uid": "1", "intent": "inform", "slot": "symptom", "value": "cough", "status": "Yes"}]
    data = json.dumps(file).encode()
    done = exam_gold_import(exam=exam, actor=people.supervisor, data=data, file="gold.json", key="file")
    assert (done.labels, done.removed) == (1, len(GOLD))
    assert gold_of(exam.dialogue_id, "test").labels.get().answers == {"value": ["cough"], "status": "yes"}


def test_the_order_is_changed_step_by_step(project, people):
    exams = [make_test(project, people.supervisor, name) for name in ("A", "B", "C")]
    exam_move(exam=exams[2], by=-1)
    exam_move(exam=exams[0], by=-1)
    rows = ExamDialogue.objects.filter(kind="test").values_list("dialogue__external_id", flat=True)
    assert list(rows) == ["A", "C", "B"]
    attempt = attempt_start(project=project, annotator=people.annotator)
    assert [row.dialogue.external_id for row in attempt_label_sets(attempt)] == ["A", "C", "B"]


def test_explanations_are_typed_in_taken_back_and_imported(dialogue):
    assert explanations_write(dialogue=dialogue, texts={1: "He names the cough.", 3: "Both.", 5: ""}) == 2
    assert explanations_write(dialogue=dialogue, texts={1: "He names the cough.", 3: " "}) == 1
    assert explanations_of(dialogue) == {1: "He names the cough."}
    data = json.dumps({"7": "A habit."}).encode()
    assert explanations_import(dialogue=dialogue, data=data, file="why.json") == 1
    assert explanations_of(dialogue) == {1: "He names the cough.", 7: "A habit."}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"[1]", "must be a JSON object"),
        (b'{"x": "a"}', "“x” in why.json is no number"),
        (b'{"1": 2}', "utterance 1 in why.json must be a text"),
        (b'{"99": "a"}', "RES-TEST has no utterance 99"),
        (b'{"1": "a", "1": "b"}', "names utterance 1 twice"),
        (b'{"1": ', "incomplete"),
    ],
)
def test_a_file_of_explanations_that_is_none_is_refused_with_its_fault(dialogue, data, sentence):
    explanations_write(dialogue=dialogue, texts={1: "as it was"})
    with pytest.raises(Refused, match=sentence):
        explanations_import(dialogue=dialogue, data=data, file="why.json")
    assert explanations_of(dialogue) == {1: "as it was"}


def test_a_file_without_labels_does_not_become_the_gold(project, people):
    exam = make_test(project, people.supervisor)
    with pytest.raises(Refused, match=r"x\.json has no labels, so it cannot be the gold"):
        exam_gold_import(exam=exam, actor=people.supervisor, data=b"[]", file="x.json", key="none")
    assert gold_of(exam.dialogue_id, "test").labels.count() == len(GOLD)


# --- training ---


def test_training_gives_each_person_their_own_label_sets_once(project, people):
    make_training(project, people.supervisor)
    make_training(project, people.supervisor, "TRAIN-2")
    first = training_start(project=project, annotator=people.annotator)
    again = training_start(project=project, annotator=people.annotator)
    training_start(project=project, annotator=people.second)
    assert [row.pk for row in first] == [row.pk for row in again]
    assert LabelSet.objects.filter(owner="annotator", purpose="training").count() == 4
    assert training_left(project, people.annotator) == 2


def test_what_matches_what_differs_and_why_is_said_in_words(project, people):
    exam = make_training(project, people.supervisor)
    explanations_write(dialogue=exam.dialogue, texts={1: "He says since when."})
    (own,) = training_start(project=project, annotator=people.annotator)
    own = fill(own, [inform(1, "symptom", "cough", status="no"), *GOLD[2:4]])
    right, wrong = compared(label_set=own, position=3), compared(label_set=own, position=1)
    assert right.feedback.right
    assert right.feedback.matched == ("inform symptom: fever, night sweats (no)",)
    assert not wrong.feedback.right
    assert wrong.feedback.explanation == "He says since when."
    assert wrong.gold == ("inform symptom: cough (yes), onset: two weeks",)
    (words,) = wrong.feedback.differs
    assert "the gold says yes" in words
    assert "you say no" in words
    assert "two weeks" in words


def test_nothing_of_the_gold_is_told_before_the_utterance_is_labelled(project, people):
    make_training(project, people.supervisor)
    (own,) = training_start(project=project, annotator=people.annotator)
    own = fill(own, GOLD[:1])
    for position in range(1, 10):
        with pytest.raises(Refused) as refusal:
            compared(label_set=own, position=position)
        assert refusal.value.message == f"Label utterance {position} first; then it can be compared with the gold."
    with pytest.raises(Refused, match="has no utterance 10"):
        compared(label_set=own, position=10)


def test_an_utterance_that_was_left_without_a_label_for_a_reason_can_be_compared_afterwards(project, people):
    make_training(project, people.supervisor)
    (own,) = training_start(project=project, annotator=people.annotator)
    own = finish(fill(own, GOLD[:9]))
    (words,) = compared(label_set=own, position=9).feedback.differs
    assert words == "only the gold has “greeting”"


def test_without_gold_nobody_begins(project, people):
    make_exam(factory.make_dialogue(project, "EMPTY"), "training", people.supervisor, gold=())
    with pytest.raises(Refused, match="gold of EMPTY is not there yet"):
        training_start(project=project, annotator=people.annotator)
    assert not LabelSet.objects.filter(owner="annotator").exists()


@pytest.mark.parametrize("kind", ["training", "test"])
def test_a_dialogue_whose_gold_is_not_there_yet_keeps_nobody_from_the_others(project, people, kind):
    make_exam(factory.make_dialogue(project, "EMPTY"), kind, people.supervisor, gold=())
    make_exam(factory.make_dialogue(project, "READY"), kind, people.supervisor)
    if kind == "training":
        (own,) = training_start(project=project, annotator=people.annotator)
        make_test(project, people.supervisor)
        finish(own)
        assert training_left(project, people.annotator) == 0
        assert attempt_start(project=project, annotator=people.annotator)
    else:
        (own,) = attempt_label_sets(attempt_start(project=project, annotator=people.annotator))
    assert own.dialogue.external_id == "READY"


# --- the test ---


def test_a_test_needs_the_training_to_be_done(project, people):
    make_training(project, people.supervisor)
    make_test(project, people.supervisor)
    (own,) = training_start(project=project, annotator=people.annotator)
    with pytest.raises(Refused, match="Finish the training first"):
        attempt_start(project=project, annotator=people.annotator)
    finish(own)
    assert attempt_start(project=project, annotator=people.annotator).number == 1


def test_an_attempt_holds_all_test_dialogues_and_starting_again_goes_on_with_it(project, people):
    for name in ("TEST-1", "TEST-2"):
        make_test(project, people.supervisor, name)
    attempt = attempt_start(project=project, annotator=people.annotator)
    assert attempt_start(project=project, annotator=people.annotator) == attempt
    rows = attempt_label_sets(attempt)
    assert [(row.dialogue.external_id, row.purpose, row.attempt, row.status) for row in rows] == [
        ("TEST-1", "test", 1, "todo"),
        ("TEST-2", "test", 1, "todo"),
    ]


def test_a_perfect_test_passes_and_is_locked_for_good(project, people):
    make_test(project, people.supervisor)
    attempt = take(project, people.annotator)
    assert attempt.passed is True
    assert attempt.submitted_at is not None
    assert {rung: counts["f"] for rung, counts in attempt.scores["rungs"].items()} == {
        "intents": 1.0,
        "slot": 1.0,
        "slot_value": 1.0,
        "slot_value_attributes": 1.0,
    }
    (label_set,) = attempt_label_sets(attempt)
    assert label_set.status == Status.LOCKED
    with pytest.raises(NotEditable):
        Editor(label_set).add(inform(5, "symptom", "pain", status="yes"))
    with pytest.raises(NotEditable):
        label_set_reopen(label_set=label_set, actor=people.annotator, version=label_set.version, key="again")
    with pytest.raises(Refused, match="stays as it was handed in"):
        label_set_unlock(label_set=label_set, actor=people.supervisor, version=label_set.version, key="un")
    with pytest.raises(Refused, match="passed the test already"):
        attempt_start(project=project, annotator=people.annotator)


def test_the_scores_are_those_of_the_ladder(project, people):
    """Of ten utterances two are wrong: another status (an attribute), and one of two values missing."""
    make_test(project, people.supervisor)
    labels = list(GOLD)
    labels[1] = inform(1, "symptom", "cough", status="no", onset="two weeks")
    labels[3] = inform(3, "symptom", "fever", status="no")
    attempt = take(project, people.annotator, labels)
    rungs = attempt.scores["rungs"]
    # Entries in the gold: 1 + 2 + 2 + 1 + 1 + 1 + 1.
    assert rungs["intents"]["f"] == 1.0
    assert (rungs["slot_value"]["hits"], rungs["slot_value"]["missed"], rungs["slot_value"]["extra"]) == (8, 1, 0)
    assert rungs["slot_value"]["f"] == pytest.approx(16 / 17)
    assert rungs["slot_value_attributes"]["hits"] == 7
    assert [item["position"] for item in attempt.scores["feedback"] if not item["right"]] == [1, 3]
    assert attempt.passed is True


@pytest.mark.parametrize("mark", [0.95, 0.5])
def test_both_intents_and_values_must_reach_the_pass_mark_of_the_project(project, people, mark):
    make_test(project, people.supervisor)
    exam_settings(project=project, pass_mark=mark)
    attempt = take(project, people.annotator, WITHOUT_VALUES)
    assert (attempt.passed, attempt.pass_mark) == (False, mark)
    assert any("slot + value" in sentence for sentence in attempt.scores["shortfalls"])
    better = take(project, people.annotator)
    assert (better.number, better.passed) == (2, True)
    assert [row.attempt for row in attempt_label_sets(better)] == [2]
    assert [row.attempt for row in attempt_label_sets(attempt)] == [1]
    assert TestAttempt.objects.get(number=1).passed is False


def test_utterances_that_were_left_out_count_as_missed(project, people):
    make_test(project, people.supervisor)
    attempt = attempt_hand_in(attempt=attempt_start(project=project, annotator=people.annotator))
    assert (attempt.scores["answered"], attempt.scores["total"], attempt.passed) == (0, 10, False)
    assert attempt.scores["rungs"]["intents"]["f"] == 0


def test_handing_in_twice_scores_once(project, people):
    make_test(project, people.supervisor)
    attempt = take(project, people.annotator)
    exam_settings(project=project, pass_mark=1)
    stale = TestAttempt.objects.get(pk=attempt.pk)
    stale.submitted_at = None
    again = attempt_hand_in(attempt=stale)
    assert (again.submitted_at, again.pass_mark) == (attempt.submitted_at, 0.8)


def test_a_test_that_cannot_be_scored_stays_open(project, people):
    make_test(project, people.supervisor)
    attempt = attempt_start(project=project, annotator=people.annotator)
    Label.objects.filter(label_set__owner="gold").delete()
    LabelSet.objects.filter(owner="gold").update(changed_at=timezone.now())
    with pytest.raises(Refused, match="gold has no labels"):
        attempt_hand_in(attempt=attempt)
    attempt.refresh_from_db()
    assert attempt.submitted_at is None
    assert {row.status for row in attempt_label_sets(attempt)} == {"todo"}


def test_gold_that_changes_later_does_not_change_a_score(project, people):
    exam = make_test(project, people.supervisor)
    attempt = take(project, people.annotator)
    data = b'[{"uid": "0", "intent": "salutations"}]'
    exam_gold_import(exam=exam, actor=people.supervisor, data=data, file="x.json", key="later")
    attempt.refresh_from_db()
    assert attempt.passed is True
    assert attempt.scores["rungs"]["intents"]["f"] == 1.0


def test_only_annotators_of_the_project_are_trained_and_tested(project, people):
    make_test(project, people.supervisor)
    for person in (people.doctor, people.outsider, people.supervisor):
        with pytest.raises(Refused, match="is no annotator"):
            attempt_start(project=project, annotator=person)


# --- how often ---


def test_a_limit_ends_the_attempts_and_a_supervisor_allows_one_more_with_a_reason(project, people):
    make_test(project, people.supervisor)
    exam_settings(project=project, pass_mark=0.8, attempt_limit=2)
    for _ in range(2):
        take(project, people.annotator, WITHOUT_VALUES)
    with pytest.raises(Refused, match="used all your attempts"):
        attempt_start(project=project, annotator=people.annotator)
    allow = {"project": project, "annotator": people.annotator, "actor": people.supervisor}
    with pytest.raises(Refused, match="Say why"):
        attempt_allow(**allow, reason=" ")
    assert attempt_allow(**allow, reason="The power failed.").number == 3
    with pytest.raises(Refused, match="alice has an attempt left"):
        attempt_allow(**allow, reason="Again.")
    assert take(project, people.annotator, WITHOUT_VALUES).number == 3
    with pytest.raises(Refused, match="used all your attempts"):
        attempt_start(project=project, annotator=people.annotator)
    attempt_allow(**allow, reason="Once more.")
    assert take(project, people.annotator).passed
    with pytest.raises(Refused, match="has passed the test"):
        attempt_allow(**allow, reason="Again.")


def test_a_lower_limit_does_not_end_an_attempt_that_is_under_way_and_one_more_is_one_more(project, people):
    make_test(project, people.supervisor)
    take(project, people.annotator, WITHOUT_VALUES)
    attempt = attempt_start(project=project, annotator=people.annotator)
    exam_settings(project=project, pass_mark=0.8, attempt_limit=1)
    assert attempt_start(project=project, annotator=people.annotator) == attempt
    attempt_hand_in(attempt=attempt)
    attempt_allow(project=project, annotator=people.annotator, reason="x", actor=people.supervisor)
    assert attempt_start(project=project, annotator=people.annotator).number == 3


def test_without_a_limit_there_is_always_another_attempt_and_none_to_allow(project, people):
    make_test(project, people.supervisor)
    for _ in range(3):
        take(project, people.annotator, WITHOUT_VALUES)
    with pytest.raises(Refused, match="alice has an attempt left"):
        attempt_allow(project=project, annotator=people.annotator, reason="x", actor=people.supervisor)
    assert attempt_start(project=project, annotator=people.annotator).number == 4


@pytest.mark.parametrize(
    ("rules", "field"), [({"pass_mark": 1.5}, "pass_mark"), ({"pass_mark": 0.5, "attempt_limit": 0}, "attempt_limit")]
)
def test_impossible_rules_are_refused_at_their_field(project, rules, field):
    with pytest.raises(Refused) as refusal:
        exam_settings(project=project, **rules)
    assert refusal.value.field == field
    project.refresh_from_db()
    assert (project.pass_mark, project.attempt_limit) == (0.8, None)


# --- feedback ---


def test_feedback_is_written_changed_and_taken_back(project, people):
    make_test(project, people.supervisor)
    attempt = take(project, people.annotator)
    (label_set,) = attempt_label_sets(attempt)
    write = {"attempt": attempt, "label_set": label_set, "author": people.supervisor}
    assert feedback_write(**write, texts={1: "Mind the onset.", 2: ""}) == 1
    assert feedback_write(**write, texts={1: "Mind the onset.", 3: "Good."}) == 1
    assert feedback_write(**{**write, "author": people.superuser}, texts={1: "Yes."}) == 1
    assert feedback_write(**write, texts={1: " "}) == 1
    rows = Feedback.objects.values_list("utterance__position", "author__username", "text")
    assert sorted(rows) == [(1, "root", "Yes."), (3, "sam", "Good.")]


def test_feedback_is_given_only_on_what_was_handed_in(project, people, label_set):
    make_test(project, people.supervisor)
    attempt = attempt_start(project=project, annotator=people.annotator)
    (own,) = attempt_label_sets(attempt)
    with pytest.raises(Refused, match="not handed in"):
        feedback_write(attempt=attempt, label_set=own, author=people.supervisor, texts={1: "x"})
    attempt_hand_in(attempt=attempt)
    with pytest.raises(Refused, match="no part of the test"):
        feedback_write(attempt=attempt, label_set=label_set, author=people.supervisor, texts={1: "x"})
    with pytest.raises(Refused, match="no utterance 99"):
        feedback_write(attempt=attempt, label_set=own, author=people.supervisor, texts={99: "x"})


# --- what takes part ---


@pytest.mark.parametrize("kind", ExamKind.values)
def test_a_dialogue_whose_gold_people_come_to_know_is_no_real_work(project, people, kind):
    exam = make_exam(factory.make_dialogue(project, "KNOWN"), kind, people.supervisor)
    qualification_override(project=project, annotator=people.annotator, reason="x", actor=people.supervisor)
    with pytest.raises(Refused, match=f"KNOWN is a {kind} dialogue"):
        label_set_assign(dialogues=[exam.dialogue], annotator=people.annotator, actor=None)


def test_gold_that_nobody_touched_goes_with_its_dialogue_and_other_gold_stays(project, people):
    empty = make_exam(factory.make_dialogue(project, "E"), "test", people.supervisor, gold=())
    exam_remove(exam=empty)
    make_test(project, people.supervisor, "TEST-2")
    exam_remove(exam=make_test(project, people.supervisor))
    assert list(LabelSet.objects.filter(owner="gold").values_list("dialogue__external_id", flat=True)) == [
        "TEST-1",
        "TEST-2",
    ]


def test_a_dialogue_of_the_test_is_not_deleted_under_it(project, people):
    exam = make_exam(factory.make_dialogue(project, "E"), "test", people.supervisor, gold=())
    with pytest.raises(HasWork, match="E is a test dialogue; take it out"):
        dialogue_delete(dialogue=exam.dialogue)
    exam_remove(exam=exam)
    dialogue_delete(dialogue=exam.dialogue)
    assert not Dialogue.objects.exists()


def test_a_project_that_held_nothing_but_decisions_is_deleted(project, people):
    qualification_override(project=project, annotator=people.annotator, reason="x", actor=people.supervisor)
    project_delete(project=project)
    assert not QualificationOverride.objects.exists()


def test_a_person_who_took_a_test_is_not_deleted(project, people):
    make_test(project, people.supervisor)
    take(project, people.annotator)
    with pytest.raises(HasWork, match="alice has work in the portal"):
        person_delete(person=people.annotator, actor=people.superuser)


# --- a test under way stays whole ---


def test_no_dialogue_of_a_test_under_way_is_archived_or_taught(project, people):
    make_test(project, people.supervisor)
    second = make_test(project, people.supervisor, "TEST-2")
    attempt = attempt_start(project=project, annotator=people.annotator)
    with pytest.raises(Refused, match="alice is taking a test with TEST-2"):
        dialogues_archive(project=project, dialogues=[second.dialogue])
    exam_remove(exam=second)
    with pytest.raises(Refused, match="alice is taking a test with TEST-2"):
        exam_add(dialogue=second.dialogue, kind=ExamKind.TRAINING, actor=people.supervisor)
    attempt_hand_in(attempt=attempt)
    exam_add(dialogue=second.dialogue, kind=ExamKind.TRAINING, actor=people.supervisor)
    assert dialogues_archive(project=project, dialogues=[second.dialogue]) == 1


def test_a_test_that_somebody_left_behind_holds_nothing_up(project, people):
    make_test(project, people.supervisor)
    second = make_test(project, people.supervisor, "TEST-2")
    attempt_start(project=project, annotator=people.annotator)
    member_remove(project=project, person=people.annotator)
    assert dialogues_archive(project=project, dialogues=[second.dialogue]) == 1


def test_a_part_of_a_test_is_not_taken_back(project, people):
    make_test(project, people.supervisor)
    make_test(project, people.supervisor, "TEST-2")
    attempt = attempt_start(project=project, annotator=people.annotator)
    first, second = attempt_label_sets(attempt)
    fill(first)
    with pytest.raises(Refused, match="is not work that was given out"):
        label_set_unassign(label_set=second)
    done = attempt_hand_in(attempt=attempt)
    assert (done.passed, done.scores["total"]) == (False, 20)


def test_feedback_has_a_length(project, people):
    make_test(project, people.supervisor)
    attempt = attempt_start(project=project, annotator=people.annotator)
    (label_set,) = attempt_label_sets(attempt)
    attempt_hand_in(attempt=attempt)
    given = {"attempt": attempt, "label_set": label_set, "author": people.supervisor}
    attempt.refresh_from_db()
    with pytest.raises(Refused, match="utterance 1 is longer than 4,000"):
        feedback_write(**given, texts={1: "x" * 4001})
    assert feedback_write(**given, texts={1: "x" * 4000}) == 1
