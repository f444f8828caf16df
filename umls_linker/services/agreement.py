"""Measuring agreement in the background after decisions: two wordings of one decided concept are equal there."""

from __future__ import annotations

from django.db import transaction

from umls_linker.services.messages import Seldom, in_place, send

EVERY_SECONDS = 60.0
WAIT_SECONDS = 61  # longer than that, so that a message covers every decision after which none was sent

_due = Seldom(EVERY_SECONDS)


def agreement_outdated(*, project_id: int) -> None:
    """Have agreement measured anew, a minute after the decisions of this transaction are stored. Whoever decides for an
    hour has it measured once a minute, not with every decision."""
    transaction.on_commit(lambda: _tell(project_id))


def _tell(project_id: int) -> None:
    if in_place() or _due.due(project_id):
        send("measure_agreement", project_id, countdown=WAIT_SECONDS)
