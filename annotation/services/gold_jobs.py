"""Gold that was finished comes back in the background when a label it was made from has changed."""

from __future__ import annotations

import logging

from django.db import transaction
from django.db.models import Exists, OuterRef
from kombu.exceptions import OperationalError

from annotation.models import LabelEvent, LabelSet, Owner, Purpose, Status

logger = logging.getLogger(__name__)


def gold_outdated(*, event: LabelEvent) -> None:
    """Have the dialogue's gold looked at once this change of a label set's status is stored.

    The same for all work, whether there is gold or not, so that nobody can tell from it.
    """
    label_set = event.label_set
    if label_set.owner != Owner.ANNOTATOR or label_set.purpose not in (Purpose.WORK, Purpose.SEED):
        return
    if event.changes[0]["after"] != Status.DONE:
        return
    dialogue_id = label_set.dialogue_id

    def send() -> None:
        from annotation import tasks

        try:
            tasks.refresh_gold.delay(dialogue_id)
        except (OperationalError, OSError):
            # The queue and the page say all the same what has changed, as soon as somebody looks.
            logger.exception("The gold of dialogue %s could not be handed to a worker", dialogue_id)

    transaction.on_commit(send)


def gold_unrefreshed() -> list[int]:
    """Keys of dialogues with finished gold that an annotator has changed since: the task may have been lost with its
    worker."""
    newer = LabelSet.objects.real_work().filter(dialogue=OuterRef("dialogue"), changed_at__gt=OuterRef("changed_at"))
    rows = LabelSet.objects.filter(Exists(newer), owner=Owner.GOLD, purpose=Purpose.WORK, status=Status.DONE)
    rows = rows.filter(dialogue__archived_at=None, dialogue__project__archived_at=None)
    return list(rows.values_list("dialogue", flat=True))
