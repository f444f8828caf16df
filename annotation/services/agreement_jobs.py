"""Measuring agreement in the background whenever somebody finishes or reopens a dialogue."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from kombu.exceptions import OperationalError

from annotation.models import AgreementSnapshot, EventKind, LabelEvent, Owner, Project
from annotation.services.agreement import agreement_snapshots_refresh
from annotation.services.agreement_sources import COMPARED_PURPOSES

logger = logging.getLogger(__name__)

QUIET_SECONDS = 20  # how long to wait for further dialogues before measuring
LONGEST_SECONDS = 300  # while dialogues are finished all the time, it is measured this often


def agreement_outdated(*, event: LabelEvent) -> None:
    """Have agreement measured anew some seconds after this change of a label set's status is stored.

    The same for all work, whether anybody else has the dialogue or not, so that nobody can tell from it.
    """
    label_set = event.label_set
    if label_set.owner != Owner.ANNOTATOR or label_set.purpose not in COMPARED_PURPOSES:
        return
    project_id, sequence = label_set.dialogue.project_id, event.pk

    def send() -> None:
        from annotation import tasks

        try:
            tasks.measure_agreement.apply_async([project_id, sequence], countdown=QUIET_SECONDS)
        except (OperationalError, OSError):
            logger.exception("The agreement of project %s could not be handed to a worker", project_id)

    transaction.on_commit(send)


def agreement_refresh(*, project: Project, event_id: int) -> list[AgreementSnapshot]:
    """What the task does: leave it to a later event's task if there is one, unless that has gone on for long."""
    later = LabelEvent.objects.filter(
        kind=EventKind.STATUS,
        pk__gt=event_id,
        label_set__dialogue__project=project,
        label_set__owner=Owner.ANNOTATOR,
        label_set__purpose__in=COMPARED_PURPOSES,
    )
    long_ago = timezone.now() - timedelta(seconds=LONGEST_SECONDS)
    lately = AgreementSnapshot.objects.filter(project=project, created_at__gte=long_ago).exists()
    if lately and later.exists():
        return []
    return agreement_snapshots_refresh(project=project)


def agreement_unmeasured() -> list[tuple[int, int]]:
    """(project, its newest change of a status) for open projects in which that is newer than every snapshot: the task
    may have been lost with its worker."""
    events = LabelEvent.objects.filter(
        kind=EventKind.STATUS,
        label_set__dialogue__project__archived_at=None,
        label_set__owner=Owner.ANNOTATOR,
        label_set__purpose__in=COMPARED_PURPOSES,
    )
    by_project = events.order_by().values_list("label_set__dialogue__project")
    measured = dict(AgreementSnapshot.objects.order_by().values_list("project").annotate(at=Max("created_at")))
    return [
        (project, event)
        for project, event, at in by_project.annotate(event=Max("pk"), at=Max("created_at"))
        if project not in measured or measured[project] < at
    ]
