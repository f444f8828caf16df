"""A project with training and a test, for tests."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from annotation.domain.labels import Label as LabelData
from annotation.models import Dialogue, ExamDialogue, ExamKind, LabelSet, Project, User
from annotation.services.exams import exam_add
from annotation.services.label_imports import labels_import
from annotation.services.qualification import gold_of
from annotation.services.readings import labels_of
from tests import factory
from tests.editor import Editor
from tests.factory import inform, inquire

GOLD = (
    LabelData(0, "salutations"),
    inform(1, "symptom", "cough", status="yes", onset="two weeks"),
    inquire(2, "symptom", "fever", "night sweats"),
    inform(3, "symptom", "fever", "night sweats", status="no"),
    inquire(4, "symptom", "cough", checks=["onset"]),
    inform(5, "symptom", "cough", status="yes", onset="15 days ago"),
    inquire(6, "habit", "smoking"),
    inform(7, "habit", "smoking", status="yes", frequency="half a pack per day"),
    LabelData(8, "nod_prompt"),
    LabelData(9, "salutations"),
)


def make_exam(dialogue: Dialogue, kind: str, actor: User, gold: Sequence[LabelData] = GOLD) -> ExamDialogue:
    """A training or test dialogue with its gold; without labels the gold stays empty."""
    exam = exam_add(dialogue=dialogue, kind=kind, actor=actor)
    label_set = gold_of(dialogue.pk, kind)
    assert label_set is not None
    if gold:
        labels_import(label_set=label_set, actor=actor, labels=gold, key=str(uuid.uuid4()))
    return exam


def make_training(project: Project, actor: User, external_id: str = "TRAIN-1") -> ExamDialogue:
    return make_exam(factory.make_dialogue(project, external_id), ExamKind.TRAINING, actor)


def make_test(project: Project, actor: User, external_id: str = "TEST-1") -> ExamDialogue:
    return make_exam(factory.make_dialogue(project, external_id), ExamKind.TEST, actor)


def fill(label_set: LabelSet, labels: Sequence[LabelData] = GOLD) -> LabelSet:
    """Label it as given, in place of what was there."""
    label_set.refresh_from_db()
    editor = Editor(label_set)
    present = labels_of(label_set)
    if present:
        editor.delete(*(label.id for label in present))
    if labels:
        editor.add(*labels)
    return editor.label_set


def finish(label_set: LabelSet) -> LabelSet:
    label_set.refresh_from_db()
    editor = Editor(label_set)
    editor.finish()
    return editor.label_set
