"""The life of a label set: finished, reopened, locked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import transaction

from annotation.domain.notices import shortened
from annotation.models import EventKind, LabelEvent, LabelSet, Owner, Purpose, Status, User
from annotation.services.agreement_jobs import agreement_outdated
from annotation.services.errors import Refused
from annotation.services.gold_jobs import gold_outdated
from annotation.services.labelling import EDITABLE, Saved, once, take_version
from annotation.services.readings import reading_of
from annotation.services.returned_items import returned_items_resolve


class Unlabelled(Refused):
    """Utterances without a label stand in the way of finishing. `positions` are theirs, in order."""

    def __init__(self, positions: list[int]) -> None:
        shown = ", ".join(str(position) for position in positions[:8]) + ("…" if len(positions) > 8 else "")
        count = f"{len(positions)} utterances have" if len(positions) > 1 else "One utterance has"
        super().__init__(f"{count} no label yet ({shown}); label them, or choose a reason for each.")
        self.positions = positions


def label_set_finish(
    *, label_set: LabelSet, actor: User, version: int, key: str, reasons: Mapping[int, str] | None = None
) -> Saved:
    """Mark as done. Every utterance needs a label, or one of the questionnaire's listed reasons.

    Raises Unlabelled, and Conflict or NotEditable as a change does.
    """
    return _to_status(label_set, actor, version, key, Status.DONE, reasons=reasons or {})


def label_set_decided(*, label_set: LabelSet, actor: User | None, version: int, key: str) -> Saved:
    """Mark gold as done. Whoever calls has seen to it that everything is decided; utterances may stay without a label.

    Raises Conflict and NotEditable as a change does.
    """
    return _to_status(label_set, actor, version, key, Status.DONE)


def label_set_reopen(*, label_set: LabelSet, actor: User, version: int, key: str) -> Saved:
    """Go on with a finished dialogue. Raises NotEditable when it is locked, or was not finished."""
    return _to_status(label_set, actor, version, key, Status.IN_PROGRESS, allowed=[Status.DONE])


def label_set_lock(*, label_set: LabelSet, actor: User, version: int, key: str) -> Saved:
    """Close a finished dialogue for good, by a supervisor."""
    return _to_status(label_set, actor, version, key, Status.LOCKED, allowed=[Status.DONE])


def label_set_close(*, label_set: LabelSet, actor: User, version: int, key: str) -> Saved:
    """Close a test that is handed in, whether or not its annotator marked it as done."""
    return _to_status(label_set, actor, version, key, Status.LOCKED, allowed=[*EDITABLE, Status.DONE])


def label_set_unlock(*, label_set: LabelSet, actor: User, version: int, key: str) -> Saved:
    """Take a lock back: the dialogue is done again and can be reopened by its annotator. A test stays as it was handed
    in; raises Refused."""
    if label_set.owner == Owner.ANNOTATOR and label_set.purpose == Purpose.TEST:
        raise Refused("A test stays as it was handed in; its annotator can take it again.")
    return _to_status(label_set, actor, version, key, Status.DONE, allowed=[Status.LOCKED])


def label_set_return(*, label_set: LabelSet, actor: User | None, version: int, key: str) -> Saved:
    """Give a finished dialogue back to its annotator, by a supervisor. `services.completeness` has the questions."""
    return _to_status(label_set, actor, version, key, Status.RETURNED, allowed=[Status.DONE])


def label_set_take_back(*, label_set: LabelSet, actor: User, version: int, key: str) -> Saved:
    """A returned dialogue that its annotator has not touched is done again: nothing is asked of it any more."""
    return _to_status(label_set, actor, version, key, Status.DONE, allowed=[Status.RETURNED])


def unlabelled(label_set: LabelSet) -> list[int]:
    """Positions of the utterances without a label, in order."""
    return [position for position, labels in sorted(reading_of(label_set).by_position().items()) if not labels]


def _reasons(label_set: LabelSet, given: Mapping[int, str]) -> dict[str, str]:
    """The reasons that apply, in the order of the dialogue: checked against the list, those of labelled utterances
    left out. Raises Unlabelled where one is missing."""
    listed = label_set.dialogue.project.questionnaire.unlabelled_reasons
    for position, reason in given.items():
        if reason not in listed:
            raise Refused(
                f"“{shortened(reason)}” is not one of the listed reasons (utterance {position}).", field="reasons"
            )
    needed = unlabelled(label_set)
    missing = [position for position in needed if position not in given]
    if missing:
        raise Unlabelled(missing)
    return {str(position): given[position] for position in needed}


def _to_status(
    label_set: LabelSet,
    actor: User | None,
    version: int,
    key: str,
    status: Status,
    *,
    allowed: Sequence[str] = EDITABLE,
    reasons: Mapping[int, str] | None = None,
) -> Saved:
    before = Status(label_set.status)
    with once(label_set, key) as earlier, transaction.atomic():
        take_version(label_set, version, key, status=status, allowed=allowed)
        if reasons is not None:
            label_set.unlabelled_reasons = _reasons(label_set, reasons)
            label_set.save(update_fields=["unlabelled_reasons"])
        event = LabelEvent.objects.create(
            label_set=label_set,
            sequence=label_set.version,
            kind=EventKind.STATUS,
            changes=[{"before": before.value, "after": status.value}],
            actor=actor,
            key=key,
        )
        if reasons is not None:
            returned_items_resolve(label_set=label_set)
        agreement_outdated(event=event)
        gold_outdated(event=event)
        return Saved(label_set.version, event)
    return earlier.saved()
