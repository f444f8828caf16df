"""What pages say about how far people are with training and the test."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, OuterRef, Q

from annotation.domain.scoring import Rung
from annotation.models import (
    ExamDialogue,
    ExamKind,
    LabelSet,
    Owner,
    Project,
    Purpose,
    QualificationOverride,
    Role,
    TestAttempt,
    User,
)
from annotation.services.qualification import FINISHED, MARKED, attempt_label_sets, open_exams, those_who_may_work
from annotation.views.progress import add_left

RUNG_TITLES = {
    Rung.INTENTS: "Intents",
    Rung.SLOT: "Slots",
    Rung.SLOT_VALUE: "Slots with values",
    Rung.SLOT_VALUE_ATTRIBUTES: "Slots with values and attributes",
}


@dataclass(slots=True)
class Steps:
    """One person's way to real work in one project.

    `training` are the dialogues, each with the person's label set or None; `test` those of the attempt under way.
    """

    project: Project
    training: list[tuple[ExamDialogue, LabelSet | None]]
    test: list[LabelSet]
    test_dialogues: int
    test_utterances: int
    attempts: list[TestAttempt]
    may_work: bool
    needs_test: bool
    override: QualificationOverride | None = None

    @property
    def training_begun(self) -> bool:
        return any(label_set for _, label_set in self.training)

    @property
    def training_unopened(self) -> bool:
        """Whether a dialogue was added since the person began."""
        return self.training_begun and any(label_set is None for _, label_set in self.training)

    @property
    def training_done(self) -> int:
        return sum(bool(label_set and label_set.status in FINISHED) for _, label_set in self.training)

    @property
    def training_complete(self) -> bool:
        return self.training_done == len(self.training)

    @property
    def attempt(self) -> TestAttempt | None:
        """The attempt that is under way."""
        return next((attempt for attempt in self.attempts if attempt.submitted_at is None), None)

    @property
    def handed_in(self) -> list[TestAttempt]:
        return [attempt for attempt in self.attempts if attempt.submitted_at is not None]

    @property
    def passed(self) -> bool:
        return any(attempt.passed for attempt in self.attempts)

    @property
    def test_left(self) -> int:
        """Utterances of the attempt under way without a label or a reason."""
        return sum(label_set.left for label_set in self.test)  # type: ignore[attr-defined]

    @property
    def exists(self) -> bool:
        return bool(self.training or self.test_dialogues or self.attempts or self.needs_test)


def steps_of(project: Project, user: User) -> Steps:
    training = open_exams(project, ExamKind.TRAINING)
    tests = open_exams(project, ExamKind.TEST)
    attempts = list(TestAttempt.objects.filter(project=project, annotator=user).order_by("number"))
    own = LabelSet.objects.filter(owner=Owner.ANNOTATOR, annotator=user, dialogue__project=project)
    trained = own.filter(purpose=Purpose.TRAINING).select_related("dialogue").with_progress()
    by_dialogue = {row.dialogue_id: row for row in add_left(trained)}
    open_attempt = next((attempt for attempt in attempts if attempt.submitted_at is None), None)
    tested = own.filter(purpose=Purpose.TEST, attempt=open_attempt.number) if open_attempt else own.none()
    return Steps(
        project=project,
        training=[(exam, by_dialogue.get(exam.dialogue_id)) for exam in training],
        test=add_left(tested.select_related("dialogue").with_progress().order_by("queue_order", "pk")),
        test_dialogues=len(tests),
        test_utterances=sum(exam.dialogue.utterance_count for exam in tests),
        attempts=attempts,
        may_work=user.pk in those_who_may_work(project, [user]),
        needs_test=project.needs_test,
        override=QualificationOverride.objects.filter(project=project, annotator=user).first(),
    )


def steps_to_work(user: User) -> list[Steps]:
    """The person's steps in open projects where they may not work yet, or where training or a test is under way."""
    mine = LabelSet.objects.filter(owner=Owner.ANNOTATOR, annotator=user, dialogue__project=OuterRef("pk"))
    begun = mine.filter(purpose__in=[Purpose.TRAINING, Purpose.TEST]).exclude(status__in=FINISHED)
    attempts = TestAttempt.objects.filter(annotator=user, project=OuterRef("pk"), submitted_at=None)
    rows = Project.objects.open().filter(memberships__user=user, memberships__role=Role.ANNOTATOR)
    rows = rows.filter(Q(needs_test=True) | Exists(begun) | Exists(attempts))
    found = [steps_of(project, user) for project in rows]
    return [steps for steps in found if not steps.may_work or steps.attempt or not steps.training_complete]


@dataclass(slots=True)
class Qualified:
    """One annotator in the supervisor's list."""

    annotator: User
    training_done: int
    attempts: list[TestAttempt]
    overrides: list[QualificationOverride]
    may_work: bool
    has_work: bool

    @property
    def passed(self) -> bool:
        return any(attempt.passed for attempt in self.attempts)


@dataclass(slots=True)
class _Found:
    attempts: dict[int, list[TestAttempt]] = field(default_factory=lambda: defaultdict(list))
    overrides: dict[int, list[QualificationOverride]] = field(default_factory=lambda: defaultdict(list))
    trained: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))


def annotators_of(project: Project) -> list[Qualified]:
    """Everybody who annotates in the project or has tried its test, by name."""
    found = _Found()
    for attempt in TestAttempt.objects.filter(project=project).order_by("number"):
        found.attempts[attempt.annotator_id].append(with_figures(attempt))
    for override in QualificationOverride.objects.filter(project=project).select_related("decided_by"):
        found.overrides[override.annotator_id].append(override)
    training = [exam.dialogue_id for exam in open_exams(project, ExamKind.TRAINING)]
    sets = LabelSet.objects.filter(owner=Owner.ANNOTATOR, dialogue__project=project)
    trained = sets.filter(purpose=Purpose.TRAINING, dialogue__in=training, status__in=FINISHED)
    for person, dialogue in trained.values_list("annotator_id", "dialogue_id"):
        assert person is not None
        found.trained[person].add(dialogue)
    here = Q(memberships__project=project, memberships__role=Role.ANNOTATOR) | Q(attempts__project=project)
    people = list(User.objects.filter(here).distinct())
    allowed = those_who_may_work(project, people)
    working = set(sets.real_work().values_list("annotator_id", flat=True))
    return [
        Qualified(
            annotator=person,
            training_done=len(found.trained[person.pk]),
            attempts=found.attempts[person.pk],
            overrides=found.overrides[person.pk],
            may_work=person.pk in allowed,
            has_work=person.pk in working,
        )
        for person in sorted(people, key=lambda person: person.display_name.lower())
    ]


def with_figures(attempt: TestAttempt) -> TestAttempt:
    """Give an attempt `figures`, a row for each rung of the ladder, marked where the pass mark is held against it."""
    rungs: dict[str, Any] = attempt.scores.get("rungs", {})
    figures = [
        {"title": title, "marked": rung in MARKED, **rungs[rung]}
        for rung, title in RUNG_TITLES.items()
        if rung in rungs
    ]
    vars(attempt)["figures"] = figures
    return attempt


def add_attempt_progress(attempt: TestAttempt) -> list[LabelSet]:
    """The label sets of an attempt with `covered` and `left`."""
    keys = [row.pk for row in attempt_label_sets(attempt)]
    rows = LabelSet.objects.filter(pk__in=keys).select_related("dialogue__project").with_progress()
    return add_left(rows.order_by("queue_order", "pk"))
