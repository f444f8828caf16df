"""Training and tests (who may be given real work is said in `work_gate`).

Training comes first: where a project has training dialogues, they must be done before a test begins. A test is one
attempt at all test dialogues of the project; it is handed in once, scored against gold, and locked.
"""

from __future__ import annotations

import uuid

from django.db import transaction
from django.utils import timezone

from annotation.domain.scoring import Attempt, Rung, ScoringError, score_attempt
from annotation.models import (
    ExamDialogue,
    ExamKind,
    Feedback,
    LabelSet,
    Owner,
    Project,
    Purpose,
    Status,
    TestAttempt,
    User,
    Utterance,
)
from annotation.services.errors import Refused
from annotation.services.label_sets import label_set_close
from annotation.services.readings import reading_of
from annotation.services.work_gate import attempts_allowed, check_annotator, ready_exams

# The figures that must reach a project's pass mark: what is said at all, and which values are given.
MARKED = (Rung.INTENTS, Rung.SLOT_VALUE)
FINISHED = (Status.DONE, Status.LOCKED)
MAX_FEEDBACK = 4000


@transaction.atomic
def training_start(*, project: Project, annotator: User) -> list[LabelSet]:
    """A label set for every training dialogue; those that are there already stay. Raises Refused."""
    check_annotator(project, annotator)
    exams = _exams(project, ExamKind.TRAINING)
    return [_label_set(exam, annotator, attempt=1) for exam in exams]


@transaction.atomic
def attempt_start(*, project: Project, annotator: User) -> TestAttempt:
    """A new attempt at all test dialogues, or the one that is not handed in yet.

    Raises Refused where there is no test, its gold is missing, training is not done, the test was passed before, or no
    attempt is left.
    """
    check_annotator(project, annotator)
    attempts = list(TestAttempt.objects.filter(project=project, annotator=annotator).order_by("number"))
    if attempts and attempts[-1].submitted_at is None:
        return attempts[-1]
    if any(attempt.passed for attempt in attempts):
        raise Refused("You have passed the test already.")
    exams = _exams(project, ExamKind.TEST)
    if training_left(project, annotator):
        raise Refused("Finish the training first: mark every training dialogue as done.")
    allowed = attempts_allowed(project, annotator)
    if allowed is not None and len(attempts) >= allowed:
        raise Refused("You have used all your attempts at the test; your supervisor can allow another one.")
    attempt, _ = TestAttempt.objects.get_or_create(project=project, annotator=annotator, number=len(attempts) + 1)
    for exam in exams:
        _label_set(exam, annotator, attempt=attempt.number)
    return attempt


@transaction.atomic
def attempt_hand_in(*, attempt: TestAttempt) -> TestAttempt:
    """Lock the attempt's label sets and score them against gold; handing in again changes nothing.

    The pass mark is the project's at this time. Raises Refused where the gold cannot be scored against, or a label was
    saved in the very moment.
    """
    now = timezone.now()
    taken = TestAttempt.objects.filter(pk=attempt.pk, submitted_at=None).update(submitted_at=now)
    attempt.refresh_from_db()
    if not taken:
        return attempt
    project = attempt.project
    compared = []
    for label_set in attempt_label_sets(attempt):
        if label_set.status != Status.LOCKED:
            key = f"hand in {uuid.uuid4()}"
            label_set_close(label_set=label_set, actor=attempt.annotator, version=label_set.version, key=key)
        compared.append(_compared(label_set))
    marks = dict.fromkeys(MARKED, project.pass_mark)
    try:
        score = score_attempt(project.questionnaire, compared, pass_marks=marks)
    except ScoringError as error:
        raise Refused(f"The test cannot be scored: {error} Tell your supervisor.") from error
    attempt.scores, attempt.passed, attempt.pass_mark = score.as_json(), score.passed, project.pass_mark
    attempt.save(update_fields=["scores", "passed", "pass_mark"])
    return attempt


@transaction.atomic
def feedback_write(*, attempt: TestAttempt, label_set: LabelSet, author: User, texts: dict[int, str]) -> int:
    """Set what the author says about utterances of a handed-in test, by position; an empty text takes it back.

    Returns how many were changed. Raises Refused for a test that is not handed in, for another one's label set and for
    a text that is too long.
    """
    if attempt.submitted_at is None:
        raise Refused("This test is not handed in yet; feedback comes after it.")
    if label_set.pk not in {row.pk for row in attempt_label_sets(attempt)}:
        raise Refused("This dialogue is no part of the test.")
    rows = Utterance.objects.filter(dialogue_id=label_set.dialogue_id, position__in=texts)
    utterances = {row.position: row for row in rows}
    unknown = sorted(texts.keys() - utterances.keys())
    if unknown:
        raise Refused(f"{label_set.dialogue} has no utterance {unknown[0]}.")
    held = {row.utterance_id: row for row in Feedback.objects.filter(label_set=label_set, author=author)}
    changed = 0
    for position, given in texts.items():
        text = given.replace("\r\n", "\n").replace("\0", "").strip()
        if len(text) > MAX_FEEDBACK:
            raise Refused(f"The feedback on utterance {position} is longer than {MAX_FEEDBACK:,} signs.")
        before = held.get(utterances[position].pk)
        if text == (before.text if before else ""):
            continue
        changed += 1
        if not text:
            Feedback.objects.filter(label_set=label_set, author=author, utterance=utterances[position]).delete()
        elif before:
            before.text = text
            before.save(update_fields=["text"])
        else:
            Feedback.objects.create(label_set=label_set, author=author, utterance=utterances[position], text=text)
    return changed


def training_left(project: Project, annotator: User) -> int:
    """How many training dialogues the person has not finished."""
    done = LabelSet.objects.filter(
        owner=Owner.ANNOTATOR, annotator=annotator, purpose=Purpose.TRAINING, status__in=FINISHED
    )
    return ready_exams(project, ExamKind.TRAINING).exclude(dialogue__in=done.values("dialogue")).count()


def attempt_label_sets(attempt: TestAttempt) -> list[LabelSet]:
    """The label sets of an attempt in the order of the test, read anew."""
    rows = LabelSet.objects.filter(
        owner=Owner.ANNOTATOR,
        annotator_id=attempt.annotator_id,
        purpose=Purpose.TEST,
        attempt=attempt.number,
        dialogue__project_id=attempt.project_id,
    )
    return list(rows.select_related("dialogue__project", "annotator").order_by("queue_order", "pk"))


def gold_of(dialogue_id: int, purpose: str) -> LabelSet | None:
    """The gold that training or a test on a dialogue is compared with."""
    rows = LabelSet.objects.filter(dialogue_id=dialogue_id, owner=Owner.GOLD, purpose=purpose)
    return rows.select_related("dialogue__project").first()


def answered_positions(label_set: LabelSet) -> set[int]:
    """The utterances that somebody has said something about: a label, or a reason why there is none."""
    labelled = {label.position for label in reading_of(label_set).labels}
    return labelled | {int(position) for position in label_set.unlabelled_reasons}


def _compared(label_set: LabelSet) -> Attempt:
    gold = gold_of(label_set.dialogue_id, label_set.purpose)
    if gold is None:
        raise Refused(f"{label_set.dialogue} has no gold any more, so the test cannot be scored. Tell your supervisor.")
    return Attempt(reading_of(gold), reading_of(label_set), answered_positions(label_set))


def _label_set(exam: ExamDialogue, annotator: User, *, attempt: int) -> LabelSet:
    label_set, _ = LabelSet.objects.get_or_create(
        dialogue=exam.dialogue,
        owner=Owner.ANNOTATOR,
        annotator=annotator,
        purpose=exam.kind,
        attempt=attempt,
        defaults={"queue_order": exam.order},
    )
    return label_set


def _exams(project: Project, kind: ExamKind) -> list[ExamDialogue]:
    """The dialogues to give out. Raises Refused where there is none, or none with gold to compare with at the end."""
    exams = list(ready_exams(project, kind))
    if exams:
        return exams
    waiting = ExamDialogue.objects.filter(dialogue__project=project, dialogue__archived_at=None, kind=kind).first()
    if waiting is None:
        raise Refused(f"This project has no {kind} dialogue.")
    raise Refused(f"The gold of {waiting.dialogue} is not there yet; your supervisor has to add it first.")
