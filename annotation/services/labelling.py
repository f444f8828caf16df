"""The one way in which labels change: a batch of changes against a named version becomes one event."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotation.domain.history import Stacks, Step, reversed_changes, stacks
from annotation.domain.labels import Label as LabelData
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.unusual import checked_import
from annotation.domain.validation import InvalidLabel, Problem, checked_label
from annotation.models import EventKind, Label, LabelEvent, LabelSet, Status, User
from annotation.services.concept_linking import linker
from annotation.services.errors import Conflict, NotEditable, Refused
from annotation.services.readings import (
    label_as_json,
    label_from_json,
    reading_carried_on,
    reading_of,
    utterance_ids_of,
    utterances_of,
)
from annotation.services.recent_readings import Stamp
from annotation.services.returned_items import returned_items_resolve

EDITABLE = [status.value for status in Status if status.editable]


@dataclass(frozen=True, slots=True)
class Change:
    """What somebody wants of one label: `label` is its new content, None to delete it. `id` is a UUID in text form.

    `provenance` says of a gold label where it comes from; the label and the history keep it.
    """

    id: str
    label: LabelData | None
    provenance: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of a request. `replayed`: it had been carried out before and nothing was done again."""

    version: int
    event: LabelEvent
    replayed: bool = False

    @property
    def labels(self) -> list[LabelData]:
        """The labels that the event touched, as they were before it and as they are after it."""
        sides = [change.get(side) for change in self.event.changes for side in ("before", "after")]
        return [label_from_json(side) for side in sides if isinstance(side, dict)]


def label_set_change(
    *,
    label_set: LabelSet,
    actor: User | None,
    version: int,
    key: str,
    changes: Sequence[Change],
    kind: EventKind = EventKind.CHANGE,
    seconds: int = 0,
    deciding: bool = False,
) -> Saved:
    """Carry out `changes` as one event.

    Raises Conflict when `version` is not the newest, NotEditable, InvalidLabel, and Refused for a label that is not
    this set's. The same `key` again returns what it did the first time. An import may hold labels whose intent or slot
    is unusual for the speaker (see `checked_import`), and so may gold, which takes over what others made: `deciding`
    says that this is a decision on it, which may also leave every label as it is.
    """
    if not changes and not deciding:
        raise Refused("There is nothing to change.")
    with once(label_set, key) as earlier:
        # Everything is worked out before the transaction begins: others wait for it. That the version is still the
        # same when it does is what makes this safe.
        _bring_up_to(label_set, version)
        planned = _planned(label_set, changes, imported=deciding or kind is EventKind.IMPORT)
        with transaction.atomic():
            before = take_version(label_set, version, key, seconds=seconds)
            saved = _write(label_set, actor, key, kind, planned)
            # Only where a question is open does this read anything while others wait.
            returned_items_resolve(label_set=label_set)
        reading_carried_on(label_set, before, planned)
        return saved
    return earlier.saved()


def label_set_undo(*, label_set: LabelSet, actor: User, version: int, key: str) -> Saved:
    """Take back the newest change that stands. Raises Refused when there is none, and as `label_set_change` does."""
    return _step(label_set, actor, version, key, EventKind.UNDO)


def label_set_redo(*, label_set: LabelSet, actor: User, version: int, key: str) -> Saved:
    """Bring back the change that was undone last. Raises as `label_set_undo` does."""
    return _step(label_set, actor, version, key, EventKind.REDO)


def history_stacks(label_set: LabelSet) -> Stacks:
    """What can be undone and redone, as sequence numbers."""
    rows = label_set.events.order_by("sequence").values_list("sequence", "kind", "reverts__sequence")
    return stacks(Step(sequence, kind, reverts) for sequence, kind, reverts in rows)


def _step(label_set: LabelSet, actor: User, version: int, key: str, kind: EventKind) -> Saved:
    with once(label_set, key) as earlier, transaction.atomic():
        take_version(label_set, version, key)
        found = history_stacks(label_set)
        stack = found.undo if kind is EventKind.UNDO else found.redo
        if not stack:
            raise Refused(f"There is nothing to {kind.value}.")
        target = label_set.events.get(sequence=stack[-1])
        planned = reversed_changes(target.changes) if kind is EventKind.UNDO else target.changes
        _refuse_taken_ids(planned)
        saved = _write(label_set, actor, key, kind, planned, reverts=target)
        returned_items_resolve(label_set=label_set)
        return saved
    return earlier.saved()


@dataclass(slots=True)
class Earlier:
    """The request that was carried out before under a key that somebody used a second time."""

    label_set: LabelSet
    event: LabelEvent | None = None

    def saved(self) -> Saved:
        assert self.event is not None
        self.label_set.refresh_from_db(fields=["version", "status", "changed_at"])
        return Saved(self.label_set.version, self.event, replayed=True)


@contextmanager
def once(label_set: LabelSet, key: str) -> Iterator[Earlier]:
    """One request. If it was carried out before, it cannot be carried out again: the database refuses its key, or the
    version has moved on, or what it deletes is gone. Whatever it is, the block then ends early, and what it yielded
    knows the earlier request. What the block writes must be one transaction.
    """
    earlier = Earlier(label_set)
    before = label_set.version, label_set.status, label_set.changed_at
    try:
        yield earlier
    except (IntegrityError, Refused, InvalidLabel) as error:
        if not isinstance(error, Conflict | NotEditable):
            label_set.version, label_set.status, label_set.changed_at = before
        earlier.event = LabelEvent.objects.filter(label_set=label_set, key=key).first()
        if earlier.event is None:
            raise


def take_version(
    label_set: LabelSet,
    version: int,
    key: str,
    *,
    status: Status = Status.IN_PROGRESS,
    allowed: Sequence[str] = EDITABLE,
    seconds: int = 0,
) -> Stamp:
    """Move the label set from `version` to the next one, or raise Conflict or NotEditable. Returns its stamp before.

    The comparison and the move are one statement, so that of two saves against one version only one gets through.
    `seconds` of active work are added with it. Call it inside `once`, in a transaction.
    """
    if not key or len(key) > 64:
        raise Refused("A request needs a key of 1 to 64 characters.", field="key")
    if label_set.dialogue.archived_at or label_set.dialogue.project.archived_at:
        raise NotEditable("This dialogue is archived; its labels can be read but not changed.")
    # Under the version that was asked for: what was loaded may be older, and then no known reading has this stamp.
    before, now = (version, label_set.changed_at), timezone.now()
    if _moved(label_set.pk, version, allowed, status=status, now=now, seconds=seconds):
        label_set.version, label_set.status, label_set.changed_at = version + 1, status, now
        pk = label_set.pk
        transaction.on_commit(lambda: linker().labels_changed(pk))
        return before
    label_set.refresh_from_db(fields=["version", "status", "changed_at"])
    if label_set.version != version:
        raise Conflict(label_set.version, events_since(label_set, version))
    raise NotEditable(_why_not(Status(label_set.status)))


def _moved(pk: int, version: int, allowed: Sequence[str], *, status: Status, now: datetime, seconds: int) -> bool:
    """The one statement. Every save waits for it, so it is not composed anew each time."""
    places = ", ".join(["%s"] * len(allowed))
    statement = f"""
        UPDATE annotation_labelset
        SET version = version + 1, status = %s, changed_at = %s, active_seconds = active_seconds + %s
        WHERE id = %s AND version = %s AND status IN ({places})
    """  # noqa: S608 – nothing but placeholders is put in
    changed_at = connection.ops.adapt_datetimefield_value(now)
    with connection.cursor() as cursor:
        cursor.execute(statement, [status.value, changed_at, seconds, pk, version, *allowed])
        return bool(cursor.rowcount == 1)


def _bring_up_to(label_set: LabelSet, version: int) -> None:
    """See that the object is at the version a request names. Raises Conflict where the database is not."""
    if label_set.version != version:
        label_set.refresh_from_db(fields=["version", "status", "changed_at"])
    if label_set.version != version:
        raise Conflict(label_set.version, events_since(label_set, version))


def _why_not(status: Status) -> str:
    if status is Status.LOCKED:
        return "This dialogue was locked by a supervisor; its labels can be read but not changed."
    if status is Status.DONE:
        return "This dialogue is marked as done; reopen it to change a label."
    return f"This dialogue is {status.label}; that is not possible now."


def events_since(label_set: LabelSet, version: int) -> list[dict[str, Any]]:
    """What happened after `version`, oldest first, for whoever missed it."""
    events = label_set.events.filter(sequence__gt=version).select_related("actor").order_by("sequence")[:200]
    return [
        {
            "sequence": event.sequence,
            "kind": event.kind,
            "by": event.actor.display_name if event.actor else "",
            "at": event.created_at.isoformat(),
            "changes": event.changes,
        }
        for event in events
    ]


def _planned(label_set: LabelSet, changes: Sequence[Change], *, imported: bool = False) -> list[dict[str, Any]]:
    """The changes as an event keeps them, each label checked against the questionnaire."""
    dialogue = label_set.dialogue
    questionnaire = dialogue.project.questionnaire
    speakers = {turn.position: turn.speaker for turn in utterances_of(dialogue.pk, dialogue.fingerprint)}
    ids = [_uuid(change.id) for change in changes]
    if len(set(ids)) != len(ids):
        raise Refused("One request may change a label only once.")
    present = {label.id: label for label in reading_of(label_set).labels}
    rank = max((label.rank for label in present.values()), default=-1) + 1
    planned: list[dict[str, Any]] = []
    for change, pk in zip(changes, ids, strict=True):
        before = present.get(str(pk))
        if change.label is None and before is None:
            raise Refused("That label is not there any more.")
        after = None
        if change.label is not None:
            after = replace(change.label, id=str(pk), rank=before.rank if before else rank)
            after = _checked(questionnaire, after, speakers, imported=imported)
            rank += before is None
        planned.append(
            {
                "id": str(pk),
                "before": label_as_json(before) if before else None,
                "after": label_as_json(after) if after else None,
            }
        )
        if change.provenance is not None:
            planned[-1]["provenance"] = dict(change.provenance)
    return planned


def _checked(questionnaire: Questionnaire, label: LabelData, speakers: dict[int, str], *, imported: bool) -> LabelData:
    speaker = speakers.get(label.position)
    if speaker is None:
        raise InvalidLabel([Problem("position", f"This dialogue has no utterance {label.position}.")])
    if imported:
        return checked_import(questionnaire, label, speaker)[0]
    return checked_label(questionnaire, label, speaker)


def _refuse_taken_ids(planned: Sequence[dict[str, Any]]) -> None:
    """Raise Refused where a label would come back whose id somebody has given to another one since."""
    back = [change["id"] for change in planned if change["before"] is None]
    if back and Label.objects.filter(pk__in=back).exists():
        raise Refused("A label of that change exists in another dialogue now, so it cannot be brought back.")


def _uuid(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except (ValueError, AttributeError, TypeError):
        raise Refused("A label's id must be a UUID.", field="id") from None


def _write(
    label_set: LabelSet,
    actor: User | None,
    key: str,
    kind: EventKind,
    changes: list[dict[str, Any]],
    *,
    reverts: LabelEvent | None = None,
) -> Saved:
    """Bring the rows to the `after` sides and append the event."""
    gone = [change["id"] for change in changes if change["after"] is None]
    if gone:
        Label.objects.filter(label_set=label_set, pk__in=gone).delete()
    added = [change for change in changes if change["before"] is None and change["after"]]
    edited = [change for change in changes if change["before"] and change["after"]]
    if added or edited:
        dialogue = label_set.dialogue
        utterance_ids = utterance_ids_of(dialogue.pk, dialogue.fingerprint)
        try:
            Label.objects.bulk_create(_row(label_set, item, utterance_ids) for item in added)
        except IntegrityError as error:
            raise Refused("A label of this id belongs to another dialogue.") from error
        for item in edited:
            _row(label_set, item, utterance_ids).save(force_update=True)
    event = LabelEvent.objects.create(
        label_set=label_set,
        sequence=label_set.version,
        kind=kind,
        changes=changes,
        reverts=reverts,
        actor=actor,
        key=key,
    )
    return Saved(label_set.version, event)


def _row(label_set: LabelSet, change: dict[str, Any], utterance_ids: Mapping[int, int]) -> Label:
    data = label_from_json(change["after"])
    return Label(
        id=data.id,
        label_set=label_set,
        utterance_id=utterance_ids[data.position],
        rank=data.rank,
        intent=data.intent,
        intent_name=data.intent_name,
        slot=data.slot,
        answers=dict(data.answers),
        checks=list(data.checks),
        kept=dict(data.kept),
        origin=data.origin,
        provenance=change.get("provenance", {}),
        questionnaire_version=data.questionnaire_version,
    )
