"""Who may be given real work, and what supervisors decide about it.

The gate closes by itself: as soon as a project has a test dialogue with gold, real work goes only to those who have
passed the test. A supervisor can let one person through, or switch the test off for everybody; both need a reason, are
kept, and can be revoked. Work that was given out before stays with its annotators.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, QuerySet
from django.utils import timezone

from annotation.models import (
    ExamDialogue,
    ExamKind,
    ExtraAttempt,
    Label,
    Membership,
    Owner,
    Project,
    Purpose,
    QualificationOverride,
    Role,
    TestAttempt,
    User,
)
from annotation.services.errors import Refused

MAX_REASON = 1000


class NotQualified(Refused):
    """Somebody who would be given real work has not passed the test, and nobody lets them work without it."""

    def __init__(self, project: Project, person: User) -> None:
        super().__init__(
            f"{person.display_name} has not passed the test of {project} yet; "
            "let them take it, or let them work without it, with a reason, under “Training and test”.",
            field="annotators",
        )


@dataclass(frozen=True, slots=True)
class Gate:
    """Whether new work waits for the test in a project, and why. `tests` are its test dialogues that have gold."""

    tests: int
    waiver: QualificationOverride | None

    @property
    def closed(self) -> bool:
        return bool(self.tests) and self.waiver is None


def gate_of(project: Project) -> Gate:
    waiver = project.overrides.filter(annotator=None).standing().select_related("decided_by").first()
    return Gate(tests=ready_exams(project, ExamKind.TEST).count(), waiver=waiver)


def projects_with_test(projects: QuerySet[Project]) -> QuerySet[Project]:
    """Those among the projects in which new work waits for the test."""
    tests = _ready(ExamDialogue.objects.filter(dialogue__project=OuterRef("pk"), kind=ExamKind.TEST))
    waivers = QualificationOverride.objects.standing().filter(project=OuterRef("pk"), annotator=None)
    return projects.filter(Exists(tests), ~Exists(waivers))


def ready_exams(project: Project, kind: ExamKind) -> QuerySet[ExamDialogue]:
    """The project's training or test dialogues that people can be given, in their order: not archived, and with gold.

    One without gold takes no part yet, so that preparing a further dialogue neither opens the gate nor blocks anybody.
    """
    return _ready(ExamDialogue.objects.filter(dialogue__project=project, kind=kind)).select_related("dialogue__project")


def may_work(project: Project, user: User) -> bool:
    """Whether the person may be given real work: no test is needed, they passed it, or a supervisor decided so."""
    return user.pk in those_who_may_work(project, [user])


def those_who_may_work(project: Project, people: Iterable[User]) -> set[int]:
    """The keys of those among `people` who may be given real work (see `may_work`), in three queries at most."""
    keys = {person.pk for person in people}
    if not projects_with_test(Project.objects.filter(pk=project.pk)).exists():
        return keys
    passed = TestAttempt.objects.filter(project=project, annotator__in=keys, passed=True)
    let = QualificationOverride.objects.standing().filter(project=project, annotator__in=keys)
    found = {*passed.values_list("annotator_id", flat=True), *let.values_list("annotator_id", flat=True)}
    return {key for key in found if key is not None}


def check_may_work(project: Project, person: User) -> None:
    """Raises NotQualified for somebody who may not be given real work."""
    if not may_work(project, person):
        raise NotQualified(project, person)


@transaction.atomic
def qualification_override(
    *, project: Project, annotator: User, reason: str, actor: User | None
) -> QualificationOverride:
    """Let somebody work who has not passed; `actor` is None for the command line.

    Raises Refused without a reason, for somebody who is no annotator, and for somebody who is let through already.
    """
    check_annotator(project, annotator)
    if project.overrides.standing().filter(annotator=annotator).exists():
        raise Refused(f"{annotator.display_name} may work without the test already.", field="annotator")
    text = _reason(reason, "Say why they may work without having passed the test.")
    return QualificationOverride.objects.create(project=project, annotator=annotator, reason=text, decided_by=actor)


@transaction.atomic
def qualification_waive(*, project: Project, reason: str, actor: User | None) -> QualificationOverride:
    """Switch the test off: everybody may work without it. Raises Refused without a reason, or where it is off."""
    _check_open(project)
    if project.overrides.standing().filter(annotator=None).exists():
        raise Refused("The test is switched off already.")
    text = _reason(reason, "Say why no test is needed in this project.")
    return QualificationOverride.objects.create(project=project, annotator=None, reason=text, decided_by=actor)


@transaction.atomic
def override_revoke(*, override: QualificationOverride, actor: User) -> QualificationOverride:
    """Take a decision back; who did and when is kept. Revoking again changes nothing. Raises Refused when archived."""
    _check_open(override.project)
    rows = QualificationOverride.objects.standing().filter(pk=override.pk)
    rows.update(revoked_at=timezone.now(), revoked_by=actor)
    override.refresh_from_db()
    return override


@transaction.atomic
def attempt_allow(*, project: Project, annotator: User, reason: str, actor: User) -> ExtraAttempt:
    """One attempt more than the project's limit. Raises Refused without a reason, or where none is needed."""
    check_annotator(project, annotator)
    text = _reason(reason, "Say why they may take the test once more.")
    attempts = TestAttempt.objects.filter(project=project, annotator=annotator)
    if attempts.filter(passed=True).exists():
        raise Refused(f"{annotator.display_name} has passed the test.", field="annotator")
    used = attempts.count()
    allowed = attempts_allowed(project, annotator)
    if allowed is None or used < allowed or attempts.filter(submitted_at=None).exists():
        raise Refused(f"{annotator.display_name} has an attempt left.", field="annotator")
    return ExtraAttempt.objects.create(
        project=project, annotator=annotator, number=used + 1, reason=text, decided_by=actor
    )


def attempts_allowed(project: Project, annotator: User) -> int | None:
    """How many attempts the person has in all, those used among them; None where there is no limit."""
    if project.attempt_limit is None:
        return None
    extra = ExtraAttempt.objects.filter(project=project, annotator=annotator).aggregate(last=Max("number"))["last"]
    return max(project.attempt_limit, extra or 0)


def check_test_stays(project: Project, without: Iterable[int]) -> None:
    """Refuse to take out these dialogues (keys) if that would end a test that work waits for: that is decided with a
    reason, not in passing."""
    if gate_of(project).closed and not ready_exams(project, ExamKind.TEST).exclude(dialogue__in=without).exists():
        raise Refused(
            "Work waits for the test, and without this dialogue there would be none; "
            "switch the test off first, with a reason, under “Training and test”."
        )


def check_not_in_test(project: Project, dialogues: Iterable[int]) -> None:
    """Refuse what would spoil a test that somebody is taking with one of these dialogues (keys). Raises Refused."""
    under_way = TestAttempt.objects.filter(project=project, submitted_at=None).select_related("annotator")
    members = project.memberships.filter(role=Role.ANNOTATOR).values("user")  # who has left blocks nothing
    for attempt in under_way.filter(annotator__in=members):
        sets = attempt.annotator.label_sets.filter(purpose=Purpose.TEST, attempt=attempt.number)
        label_set = sets.filter(dialogue__in=dialogues).select_related("dialogue").first()
        if label_set is not None:
            raise Refused(
                f"{attempt.annotator.display_name} is taking a test with {label_set.dialogue}; "
                "wait until they have handed it in."
            )


def check_annotator(project: Project, person: User) -> None:
    """Raises Refused for somebody without the role, and in an archived project."""
    _check_open(project)
    if not Membership.objects.filter(project=project, user=person, role=Role.ANNOTATOR).exists():
        raise Refused(f"{person.display_name} is no annotator of {project}.", field="annotator")


def _ready(exams: QuerySet[ExamDialogue]) -> QuerySet[ExamDialogue]:
    gold = Label.objects.filter(
        label_set__owner=Owner.GOLD, label_set__purpose=OuterRef("kind"), label_set__dialogue=OuterRef("dialogue")
    )
    return exams.filter(Exists(gold), dialogue__archived_at=None)


def _check_open(project: Project) -> None:
    if project.archived_at is not None:
        raise Refused(f"{project} is archived; nothing in it changes.")


def _reason(text: str, missing: str) -> str:
    text = text.replace("\r\n", "\n").strip()
    if not text:
        raise Refused(missing, field="reason")
    if len(text) > MAX_REASON:
        raise Refused(f"The reason is longer than {MAX_REASON:,} signs.", field="reason")
    return text
