"""Fetching an object for a request **is** checking the person's role in its project.

An outsider gets 404, as if the object did not exist; a member whose roles do not reach gets 403. No view and no
endpoint fetches by a bare id.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404

from annotation.models import (
    AgreementSnapshot,
    Concern,
    Dialogue,
    Evaluation,
    ExamDialogue,
    ExportJob,
    GuidelineNote,
    ImportJob,
    LabelSet,
    Membership,
    Owner,
    Project,
    Purpose,
    QualificationOverride,
    ReturnedItem,
    Role,
    TestAttempt,
    User,
)

if TYPE_CHECKING:
    from uuid import UUID

ANY = frozenset(Role)
SUPERVISOR = frozenset({Role.SUPERVISOR})
ANNOTATOR = frozenset({Role.ANNOTATOR})
ANSWERING = frozenset({Role.SUPERVISOR, Role.DOCTOR})  # who answers annotators' questions
LINKING = frozenset({Role.SUPERVISOR, Role.DOCTOR, Role.CURATOR})  # who sees the values to be linked to concepts
SHORTLISTING = frozenset({Role.DOCTOR, Role.CURATOR})
DOCTOR = frozenset({Role.DOCTOR})  # who decides what a value means
LARGEST_ID = 2**63 - 1  # that a database can compare; only what is written as SQL must mind it


def roles_of(user: User, project_id: int) -> frozenset[Role]:
    """The person's roles in a project; a superuser has the supervisor's everywhere."""
    rows = Membership.objects.filter(project_id=project_id, user_id=user.pk).values_list("role", flat=True)
    roles = frozenset(Role(role) for role in rows)
    return roles | SUPERVISOR if user.is_superuser else roles


def require(user: User, project_id: int, needed: frozenset[Role] = ANY) -> frozenset[Role]:
    """The person's roles, or Http404 for an outsider and PermissionDenied for a member who lacks all `needed` ones."""
    roles = roles_of(user, project_id)
    if not roles:
        raise Http404
    if not roles & needed:
        raise PermissionDenied(_needs(needed))
    return roles


def _needs(needed: frozenset[Role]) -> str:
    return f"This needs the role of {' or '.join(sorted(role.label for role in needed))} in this project."


def set_own_roles(user: User, projects: Iterable[Project]) -> None:
    """Set `own_roles` of each project to the names of the person's roles in it, with one query for all of them."""
    rows = list(projects)
    held: dict[int, set[str]] = {row.pk: set() for row in rows}
    memberships = Membership.objects.filter(user_id=user.pk, project_id__in=held)
    for project_id, role in memberships.values_list("project_id", "role"):
        held[project_id].add(role)
    for row in rows:
        extra = {Role.SUPERVISOR.value} if user.is_superuser else set()
        row.own_roles = sorted(held[row.pk] | extra)  # type: ignore[attr-defined]


def set_shown_purpose(user: User, label_sets: Iterable[LabelSet]) -> None:
    """Set `shown_purpose` of each label set, with one query for all of them: only supervisors are told a seed from
    other work."""
    rows = list(label_sets)
    projects = {row.dialogue.project_id for row in rows}
    supervised = Membership.objects.filter(user_id=user.pk, project_id__in=projects, role=Role.SUPERVISOR)
    told = projects if user.is_superuser else set(supervised.values_list("project_id", flat=True))
    for row in rows:
        hidden = row.purpose == Purpose.SEED and row.dialogue.project_id not in told
        row.shown_purpose = Purpose.WORK.value if hidden else row.purpose  # type: ignore[attr-defined]


def get_project(user: User, slug: str, needed: frozenset[Role] = ANY) -> Project:
    """The project under this slug, with `roles` set to the person's roles in it."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise Http404
    project.roles = require(user, project.pk, needed)  # type: ignore[attr-defined]
    return project


def get_researched(user: User, slug: str) -> Project:
    """The project for who studies it: supervisors, and doctors who label nothing in it. Splits tell which dialogues are
    seeds, and everything there speaks of the gold."""
    project = get_project(user, slug, ANSWERING)
    labels = learns_by_gold(project.roles) or labels_dialogue(user).filter(dialogue__project=project).exists()  # type: ignore[attr-defined]
    if labels and Role.SUPERVISOR not in project.roles:  # type: ignore[attr-defined]
        raise PermissionDenied("You label dialogues of this project, so its splits and its gold are not shown to you.")
    return project


def get_dialogue(user: User, slug: str, pk: int, needed: frozenset[Role] = SUPERVISOR) -> Dialogue:
    """A dialogue of this project. Annotators reach a dialogue through their label set, never directly."""
    dialogue = Dialogue.objects.select_related("project").filter(pk=pk, project__slug=slug).first()
    if dialogue is None:
        raise Http404
    dialogue.project.roles = require(user, dialogue.project_id, needed)  # type: ignore[attr-defined]
    return dialogue


def get_label_set(user: User, pk: int, slug: str | None = None) -> LabelSet:
    """A label set that is the person's own, or of a project they supervise. Another member's is 404 to an annotator:
    that it exists is already more than they may know, so that it is not even looked at."""
    rows = LabelSet.objects.visible_to(user).select_related("dialogue__project", "annotator").filter(pk=pk)
    label_set = (rows.filter(dialogue__project__slug=slug) if slug is not None else rows).first()
    if label_set is None:
        raise Http404
    project = label_set.dialogue.project
    project.roles = roles = require(user, project.pk)  # type: ignore[attr-defined]
    if Role.SUPERVISOR not in roles and label_set.annotator_id != user.pk:
        raise Http404
    return label_set


def get_annotator(user: User, project: Project, username: str) -> User:
    """The person whose labels in this project are asked for: oneself, or for a supervisor anybody who has some or is
    a member. `project` comes from `get_project`."""
    if username == user.username:
        return user
    if Role.SUPERVISOR not in project.roles:  # type: ignore[attr-defined]
        raise PermissionDenied("Only a supervisor can ask for other people's labels.")
    here = Q(memberships__project=project) | Q(label_sets__dialogue__project=project)
    person = User.objects.filter(here, username=username).first()
    if person is None:
        raise Http404(f"Nobody in this project has the user name “{username}”.")
    return person


def get_own_label_set(user: User, pk: int, slug: str | None = None) -> LabelSet:
    """A label set the person may change: their own, as an annotator or doctor of the project. Supervisors read only."""
    row: Any
    wanted = {"pk": min(pk, LARGEST_ID), "user": user.pk}  # an address may name any number; there is no such row
    for row in LabelSet.objects.raw(_OWN_LABEL_SET, wanted):
        if slug is None or slug == row.project_slug:
            return _with_dialogue(row)
    # Not the usual case: say in which way.
    label_set = get_label_set(user, pk, slug)
    if label_set.annotator_id != user.pk:
        raise PermissionDenied("Only the annotator whose labels these are can change them.")
    return label_set


# Every save begins here. As one statement of fixed wording it takes a tenth of the time that composing it anew does.
_OWN_LABEL_SET = """
    SELECT own.id, own.dialogue_id, own.annotator_id, own.owner, own.purpose, own.status, own.version, own.changed_at,
           dialogue.external_id AS dialogue_external_id, dialogue.fingerprint AS dialogue_fingerprint,
           dialogue.archived_at IS NOT NULL AS dialogue_archived, dialogue.project_id AS project_id,
           project.slug AS project_slug, project.archived_at IS NOT NULL AS project_archived,
           project.questionnaire_name AS project_questionnaire_name,
           project.questionnaire_version AS project_questionnaire_version,
           EXISTS (SELECT 1 FROM annotation_returneditem item
                   WHERE item.label_set_id = own.id AND item.resolved_at IS NULL) AS has_returned
    FROM annotation_labelset own
    JOIN annotation_dialogue dialogue ON dialogue.id = own.dialogue_id
    JOIN annotation_project project ON project.id = dialogue.project_id
    WHERE own.id = %(pk)s AND own.annotator_id = %(user)s AND EXISTS (
        SELECT 1 FROM annotation_membership member WHERE member.project_id = project.id AND member.user_id = %(user)s)
"""


def _with_dialogue(row: Any) -> LabelSet:
    """The label set of such a row with its dialogue and project; what was not asked for is fetched when it is read."""
    project = {
        "id": row.project_id,
        "slug": row.project_slug,
        "questionnaire_name": row.project_questionnaire_name,
        "questionnaire_version": row.project_questionnaire_version,
    }
    dialogue = {
        "id": row.dialogue_id,
        "project_id": row.project_id,
        "external_id": row.dialogue_external_id,
        "fingerprint": row.dialogue_fingerprint,
    }
    if not row.project_archived:
        project["archived_at"] = None
    if not row.dialogue_archived:
        dialogue["archived_at"] = None
    label_set: LabelSet = row
    label_set.dialogue = Dialogue.from_db(row._state.db, list(dialogue), list(dialogue.values()))
    label_set.dialogue.project = Project.from_db(row._state.db, list(project), list(project.values()))
    return label_set


def get_import_job(user: User, slug: str, pk: UUID) -> ImportJob:
    job = ImportJob.objects.select_related("project", "created_by").filter(pk=pk, project__slug=slug).first()
    if job is None:
        raise Http404
    job.project.roles = require(user, job.project_id, SUPERVISOR)  # type: ignore[attr-defined]
    return job


def get_export_job(user: User, slug: str, pk: UUID) -> ExportJob:
    """An export: of everybody's labels, so for supervisors only."""
    rows = ExportJob.objects.select_related("project", "created_by", "files_deleted_by")
    job = rows.filter(pk=pk, project__slug=slug).first()
    if job is None:
        raise Http404
    job.project.roles = require(user, job.project_id, SUPERVISOR)  # type: ignore[attr-defined]
    return job


def get_evaluation(user: User, slug: str, pk: UUID) -> Evaluation:
    """A system that was compared with the project's gold."""
    project = get_researched(user, slug)
    evaluation = Evaluation.objects.select_related("created_by").filter(pk=pk, project=project).first()
    if evaluation is None:
        raise Http404
    evaluation.project = project
    return evaluation


def require_superuser(user: User) -> None:
    """Raise PermissionDenied for everybody but administrators."""
    if not user.is_superuser:
        raise PermissionDenied("This page is for administrators of the portal.")


def get_person(user: User, pk: int) -> User:
    """Any account, for administrators only."""
    require_superuser(user)
    person = User.objects.filter(pk=pk).first()
    if person is None:
        raise Http404
    return person


def get_member(project: Project, pk: int) -> User:
    """A member of a project that was fetched for its supervisor before; anybody else is 404."""
    person = User.objects.filter(pk=pk, memberships__project=project).first()
    if person is None:
        raise Http404
    return person


def get_exam(user: User, slug: str, pk: int) -> ExamDialogue:
    """A training or test dialogue, for supervisors: it leads to the gold."""
    exam = ExamDialogue.objects.select_related("dialogue__project").filter(pk=pk, dialogue__project__slug=slug).first()
    if exam is None:
        raise Http404
    project = exam.dialogue.project
    project.roles = require(user, project.pk, SUPERVISOR)  # type: ignore[attr-defined]
    return exam


def get_override(user: User, slug: str, pk: int) -> QualificationOverride:
    """A decision that somebody, or everybody, may work without the test; for supervisors."""
    rows = QualificationOverride.objects.select_related("project", "annotator")
    override = rows.filter(pk=pk, project__slug=slug).first()
    if override is None:
        raise Http404
    override.project.roles = require(user, override.project_id, SUPERVISOR)  # type: ignore[attr-defined]
    return override


def get_attempt(user: User, slug: str, pk: int) -> TestAttempt:
    """An attempt at a test that is the person's own, or of a project they supervise."""
    attempt = TestAttempt.objects.select_related("project", "annotator").filter(pk=pk, project__slug=slug).first()
    if attempt is None:
        raise Http404
    attempt.project.roles = roles = require(user, attempt.project_id)  # type: ignore[attr-defined]
    if Role.SUPERVISOR not in roles and attempt.annotator_id != user.pk:
        raise Http404
    return attempt


def get_concern(user: User, slug: str, pk: int) -> Concern:
    """A concern for who answers it. One that the person must not see (`readable_by`) does not exist to them.

    The role comes first: whoever lacks it is not told by the answer how much others ask.
    """
    roles = get_project(user, slug, ANSWERING).roles  # type: ignore[attr-defined]
    rows = Concern.objects.readable_by(user, roles)
    rows = rows.select_related("label_set__dialogue__project", "utterance", "raised_by")
    concern: Concern | None = rows.filter(pk=pk, label_set__dialogue__project__slug=slug).first()
    if concern is None:
        raise Http404
    concern.label_set.dialogue.project.roles = roles  # type: ignore[attr-defined]
    return concern


def get_guideline_note(user: User, slug: str, pk: int) -> GuidelineNote:
    """A note in a project's guidelines, for who may change them."""
    project = get_project(user, slug, ANSWERING)
    note = GuidelineNote.objects.filter(pk=pk, project=project).first()
    if note is None:
        raise Http404
    note.project = project
    return note


def get_returned_item(user: User, slug: str, pk: int) -> ReturnedItem:
    """A question that was returned to an annotator, for supervisors."""
    roles = get_project(user, slug, SUPERVISOR).roles  # type: ignore[attr-defined]
    rows = ReturnedItem.objects.select_related("label_set__dialogue__project", "label_set__annotator")
    item = rows.filter(pk=pk, label_set__dialogue__project__slug=slug).first()
    if item is None:
        raise Http404
    item.label_set.dialogue.project.roles = roles  # type: ignore[attr-defined]
    return item


def get_agreement_snapshot(user: User, slug: str, pk: int) -> AgreementSnapshot:
    """A measurement of the agreement in a project, for supervisors."""
    project = get_project(user, slug, SUPERVISOR)
    snapshot = AgreementSnapshot.objects.filter(pk=min(pk, LARGEST_ID), project=project).first()
    if snapshot is None:
        raise Http404
    snapshot.project = project
    return snapshot


def get_adjudicated(user: User, slug: str, pk: int, needed: frozenset[Role] = ANSWERING) -> Dialogue:
    """A dialogue that the person may decide on: as a supervisor or doctor who has not been given it to label.

    That comes before everything else, so that nobody learns from the answer what became of a dialogue of theirs.
    """
    dialogue = get_dialogue(user, slug, pk, needed)
    if learns_by_gold(dialogue.project.roles) and dialogue.exams.exists():  # type: ignore[attr-defined]
        raise PermissionDenied(
            "Annotators are trained or tested with this dialogue, so one of them cannot decide on it."
        )
    if labels_dialogue(user).filter(dialogue=dialogue).exists():
        raise PermissionDenied("You label this dialogue yourself, so somebody else has to decide on it.")
    return dialogue


def learns_by_gold(roles: Collection[Role]) -> bool:
    """Whether somebody is an annotator beside being a doctor: what they are tested with is kept from them."""
    return Role.ANNOTATOR in roles and Role.SUPERVISOR not in roles


def labels_dialogue(user: User) -> QuerySet[LabelSet]:
    """The label sets that keep a person from adjudicating their dialogues."""
    return LabelSet.objects.filter(owner=Owner.ANNOTATOR, annotator=user, purpose__in=[Purpose.WORK, Purpose.SEED])


def gold_shown_to(user: User, project: Project) -> QuerySet[LabelSet]:
    """The gold that a supervisor or doctor may see; `project` comes from `get_project` or `get_dialogue`.

    A doctor who annotates too sees neither what the gold of their own dialogues says nor that there is one, which would
    tell the seeds, and none of the training and the test, whose gold may be the same.
    """
    rows = LabelSet.objects.filter(owner=Owner.GOLD)
    roles = project.roles  # type: ignore[attr-defined]
    if Role.SUPERVISOR in roles:
        return rows
    if learns_by_gold(roles):
        rows = rows.filter(purpose=Purpose.WORK, dialogue__exams=None)
    return rows.exclude(dialogue__in=labels_dialogue(user).values("dialogue"))
