"""Putting dialogues away, and deleting those that nobody worked on."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone

from annotation.models import Dialogue, Project
from annotation.services.concept_linking import linker
from annotation.services.errors import HasWork, Refused
from annotation.services.work_gate import check_not_in_test, check_test_stays


@transaction.atomic
def dialogues_archive(*, project: Project, dialogues: Collection[Dialogue]) -> int:
    """Put dialogues of one project away; returns how many were not archived before. Raises Refused when the project is
    archived itself, where that would end a test that work waits for, and while somebody takes a test with them."""
    _check_open(project)
    check_test_stays(project, [row.pk for row in dialogues])
    check_not_in_test(project, [row.pk for row in dialogues])
    open_ones = Dialogue.objects.filter(project=project, pk__in=[row.pk for row in dialogues], archived_at=None)
    archived = open_ones.update(archived_at=timezone.now())
    _tell(project)
    return archived


@transaction.atomic
def dialogue_restore(*, dialogue: Dialogue) -> None:
    """Take a dialogue up again, with the label sets it had. Raises Refused when its project is archived."""
    _check_open(dialogue.project)
    dialogue.archived_at = None
    dialogue.save(update_fields=["archived_at"])
    _tell(dialogue.project)


@transaction.atomic
def dialogue_delete(*, dialogue: Dialogue) -> None:
    """Delete a dialogue that nobody labelled; assignments nobody touched go with it. Raises HasWork otherwise."""
    _check_open(dialogue.project)
    exam = dialogue.exams.first()
    if exam is not None:
        raise HasWork(f"{dialogue} is a {exam.kind} dialogue; take it out under “Training and test” first.")
    worked_on = dialogue.label_sets.exclude(version=0)
    if worked_on.exists():
        raise HasWork(
            f"{dialogue.external_id} has labels, so it cannot be deleted. Archive it instead: it leaves everybody's "
            "list, and the labels stay."
        )
    try:
        dialogue.label_sets.all().delete()
        dialogue.delete()
    except ProtectedError as error:
        raise HasWork(f"Something was said about {dialogue}, so it cannot be deleted. Archive it instead.") from error


def _tell(project: Project) -> None:
    """The values of archived dialogues do not count."""
    project_id = project.pk
    transaction.on_commit(lambda: linker().dialogues_archived(project_id))


def _check_open(project: Project) -> None:
    if project.archived_at is not None:
        raise Refused("This project is archived; restore it to change its dialogues.")
