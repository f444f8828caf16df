"""What pages say about how far people are with training and the test."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
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
from annotation.services.qualification import FINISHED, MARKED, attempt_label_sets
from annotation.services.work_gate import (
    attempts_allowed,
    gate_of,
    projects_with_test,
    ready_exams,
    those_who_may_work,
)
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
    `needs_test` is whether new work waits for the test, `allowed` the number of attempts in all (None: no limit).
    """

    project: Project
    training: list[tuple[ExamDialogue, LabelSet | None]]
    test: list[LabelSet]
    test_dialogues: int
    test_utterances: int
    attempts: list[TestAttempt]
    may_work: bool
    needs_test: bool
    allowed: int | None = None
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
    def no_attempt_left(self) -> bool:
        return self.allowed is not None and len(self.attempts) >= self.allowed and not self.attempt

    @property
    def next_attempt(self) -> int:
        return len(self.attempts) + 1

    @property
    def test_left(self) -> int:
        """Utterances of the attempt under way without a label or a reason."""
        return sum(label_set.left for label_set in self.test)  # type: ignore[attr-defined]

    @property
    def exists(self) -> bool:
        return bool(self.training or self.test_dialogues or self.attempts)


def steps_of(project: Project, user: User) -> Steps:
    training = list(ready_exams(project, ExamKind.TRAINING))
    tests = list(ready_exams(project, ExamKind.TEST))
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
        needs_test=gate_of(project).closed,
        allowed=attempts_allowed(project, user),
        override=project.overrides.standing().filter(annotator=user).first(),
    )


def steps_to_work(user: User) -> list[Steps]:
    """The person's steps in open projects where they may not work yet, or where training or a test is under way."""
    mine = LabelSet.objects.filter(owner=Owner.ANNOTATOR, annotator=user, dialogue__project=OuterRef("pk"))
    begun = mine.filter(purpose__in=[Purpose.TRAINING, Purpose.TEST]).exclude(status__in=FINISHED)
    attempts = TestAttempt.objects.filter(annotator=user, project=OuterRef("pk"), submitted_at=None)
    rows = Project.objects.open().filter(memberships__user=user, memberships__role=Role.ANNOTATOR)
    rows = rows.filter(Q(pk__in=projects_with_test(Project.objects.open())) | Exists(begun) | Exists(attempts))
    found = [steps_of(project, user) for project in rows]
    return [
        steps
        for steps in found
        if not steps.may_work or steps.attempt or (steps.training_begun and not steps.training_complete)
    ]


@dataclass(slots=True)
class Qualified:
    """One annotator in the supervisor's list."""

    annotator: User
    training_done: int
    attempts: list[TestAttempt]
    override: QualificationOverride | None
    allowed: int | None
    may_work: bool
    has_work: bool
    is_member: bool

    @property
    def used_up(self) -> bool:
        """Whether only a supervisor's decision gives them another attempt."""
        handed_in = all(attempt.submitted_at for attempt in self.attempts)
        return self.allowed is not None and not self.passed and handed_in and len(self.attempts) >= self.allowed

    @property
    def passed(self) -> bool:
        return any(attempt.passed for attempt in self.attempts)


@dataclass(slots=True)
class _Found:
    attempts: dict[int, list[TestAttempt]] = field(default_factory=lambda: defaultdict(list))
    overrides: dict[int, QualificationOverride] = field(default_factory=dict)
    extra: dict[int, int] = field(default_factory=dict)
    trained: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))


def annotators_of(project: Project) -> list[Qualified]:
    """Everybody who annotates in the project or has tried its test, by name."""
    found = _Found()
    for attempt in TestAttempt.objects.filter(project=project).order_by("number"):
        found.attempts[attempt.annotator_id].append(with_figures(attempt))
    for override in project.overrides.standing():
        if override.annotator_id is not None:
            found.overrides[override.annotator_id] = override
    for row in project.extra_attempts.order_by("number"):
        found.extra[row.annotator_id] = row.number
    training = [exam.dialogue_id for exam in ready_exams(project, ExamKind.TRAINING)]
    sets = LabelSet.objects.filter(owner=Owner.ANNOTATOR, dialogue__project=project)
    trained = sets.filter(purpose=Purpose.TRAINING, dialogue__in=training, status__in=FINISHED)
    for person, dialogue in trained.values_list("annotator_id", "dialogue_id"):
        assert person is not None
        found.trained[person].add(dialogue)
    here = Q(memberships__project=project, memberships__role=Role.ANNOTATOR) | Q(attempts__project=project)
    people = list(User.objects.filter(here).distinct())
    members = set(project.memberships.filter(role=Role.ANNOTATOR).values_list("user_id", flat=True))
    allowed, limit = those_who_may_work(project, people), project.attempt_limit
    working = set(sets.real_work().values_list("annotator_id", flat=True))
    return [
        Qualified(
            annotator=person,
            training_done=len(found.trained[person.pk]),
            attempts=found.attempts[person.pk],
            override=found.overrides.get(person.pk),
            allowed=None if limit is None else max(limit, found.extra.get(person.pk, 0)),
            may_work=person.pk in allowed,
            has_work=person.pk in working,
            is_member=person.is_active and person.pk in members,
        )
        for person in sorted(people, key=lambda person: person.display_name.lower())
    ]


@dataclass(frozen=True, slots=True)
class Decision:
    """What a supervisor decided, in words, and what became of it. `revocable` is an override that stands."""

    what: str
    person: User | None
    reason: str
    decided_by: User | None
    decided_at: datetime
    revoked_by: User | None = None
    revoked_at: datetime | None = None
    revocable: QualificationOverride | None = None


def decisions_of(project: Project) -> list[Decision]:
    """All decisions about who may work and who may take the test again, the newest first, in two queries."""
    found = [
        Decision(
            "works without the test" if row.annotator else "the test is switched off",
            row.annotator,
            row.reason,
            row.decided_by,
            row.decided_at,
            row.revoked_by,
            row.revoked_at,
            None if row.revoked_at else row,
        )
        for row in project.overrides.select_related("annotator", "decided_by", "revoked_by")
    ]
    found += [
        Decision(f"may take attempt {row.number}", row.annotator, row.reason, row.decided_by, row.decided_at)
        for row in project.extra_attempts.select_related("annotator", "decided_by")
    ]
    return sorted(found, key=lambda decision: decision.decided_at, reverse=True)


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
