"""Giving dialogues to annotators, and taking back what nobody has begun."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max

from annotation.models import Dialogue, ExamDialogue, LabelSet, Membership, Owner, Purpose, Role, User
from annotation.models.labels import REAL_WORK
from annotation.services.errors import HasWork, Refused
from annotation.services.work_gate import check_may_work


@dataclass(frozen=True, slots=True)
class Assigned:
    """What became of an assignment: label sets made, and how many were there before."""

    created: tuple[LabelSet, ...]
    existing: int


@transaction.atomic
def label_set_assign(
    *, dialogues: Iterable[Dialogue], annotator: User, purpose: str = Purpose.WORK, actor: User | None
) -> Assigned:
    """One label set for each dialogue that the annotator has none of for this purpose; doing it again changes nothing.

    Raises Refused when the annotator lacks the role in a dialogue's project or is archived, when a dialogue or its
    project is archived, for an unknown purpose, and for that of a test, which `attempt_start` begins.
    """
    rows = list(Dialogue.objects.filter(pk__in=[row.pk for row in dialogues]).select_related("project"))
    check_assignable(rows, annotator, purpose)
    # Nobody has a dialogue twice for work: the second one would tell which is the seed.
    same = REAL_WORK if purpose in REAL_WORK else [purpose]
    mine = LabelSet.objects.filter(owner=Owner.ANNOTATOR, annotator=annotator, purpose__in=same)
    held = set(mine.filter(dialogue__in=rows).values_list("dialogue_id", flat=True))
    last = mine.aggregate(last=Max("queue_order"))["last"] or 0
    created = LabelSet.objects.bulk_create(
        LabelSet(
            dialogue=row,
            owner=Owner.ANNOTATOR,
            annotator=annotator,
            purpose=purpose,
            queue_order=order,
            assigned_by=actor,
        )
        for order, row in enumerate((row for row in rows if row.pk not in held), start=last + 1)
    )
    return Assigned(tuple(created), len(held))


@transaction.atomic
def label_set_unassign(*, label_set: LabelSet) -> None:
    """Take back an assignment nobody has touched. Raises HasWork when there was a change, even one that was undone, and
    Refused for a part of a test, which would be scored without it, and for gold."""
    if label_set.owner != Owner.ANNOTATOR or label_set.purpose == Purpose.TEST:
        raise Refused(f"{label_set} is not work that was given out, so it cannot be taken back.")
    deleted, _ = LabelSet.objects.untouched().filter(pk=label_set.pk).delete()
    if not deleted:
        who = label_set.annotator.display_name if label_set.annotator else "Somebody"
        raise HasWork(f"{who} has begun {label_set.dialogue}, so it stays assigned and the work is kept.")


def check_assignable(rows: Sequence[Dialogue], annotator: User, purpose: str) -> None:
    """Whether the annotator can be given these dialogues (with their projects). Raises Refused."""
    if purpose not in Purpose.values:
        raise Refused(f"There is no purpose “{purpose}”; there are {', '.join(Purpose.values)}.", field="purpose")
    if purpose == Purpose.TEST:
        raise Refused("A test is not given out: its annotator begins it, with all its dialogues.", field="purpose")
    if not annotator.is_active:
        raise Refused(f"The account of {annotator.display_name} is archived.", field="annotators")
    projects = {row.project for row in rows}
    holding = set(
        Membership.objects.filter(project__in=projects, user=annotator, role=Role.ANNOTATOR).values_list(
            "project_id", flat=True
        )
    )
    for project in projects:
        if project.pk not in holding:
            raise Refused(f"{annotator.display_name} is no annotator of {project}.", field="annotators")
        if project.archived_at is not None:
            raise Refused(f"{project} is archived; restore it before assigning its dialogues.")
        if purpose in REAL_WORK:
            check_may_work(project, annotator)
    archived = [row.external_id for row in rows if row.archived_at is not None]
    if archived:
        raise Refused(f"{archived[0]} is archived; restore it before assigning it.", field="dialogues")
    shown = ExamDialogue.objects.filter(dialogue__in=rows).select_related("dialogue").first()
    if purpose in REAL_WORK and shown:
        raise Refused(
            f"{shown.dialogue} is a {shown.kind} dialogue, whose gold annotators come to know; it is no real work.",
            field="dialogues",
        )
