"""Rows into readings and labels into rows' values, the one place where the two meet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from annotation.domain.labels import Label as LabelData
from annotation.domain.labels import Reading
from annotation.domain.labels import Utterance as UtteranceData
from annotation.models import EventKind, Label, LabelEvent, LabelSet, Utterance
from annotation.services.recent_readings import Stamp, recall, recall_older, remember, stamp_of

LABEL_COLUMNS = (
    "id",
    "utterance__position",
    "rank",
    "intent",
    "intent_name",
    "slot",
    "answers",
    "checks",
    "kept",
    "origin",
    "questionnaire_version",
)


def reading_of(label_set: LabelSet) -> Reading:
    """The label set as a reading: one query for the labels and one for the turns, or none when this process has just
    read or written the same version, or one for what another process has changed since."""
    stamp = stamp_of(label_set)
    reading = recall(label_set.pk, stamp) or _caught_up(label_set)
    if reading is None:
        dialogue = label_set.dialogue
        turns = utterances_of(dialogue.pk, dialogue.fingerprint)
        reading = Reading(dialogue.external_id, turns, tuple(labels_of(label_set)))
    remember(label_set.pk, stamp, reading)
    return reading


def _caught_up(label_set: LabelSet) -> Reading | None:
    """An older reading that this process knows, with the events since then carried out on it."""
    known = recall_older(label_set.pk, label_set.version)
    if known is None:
        return None
    version, reading = known
    events = LabelEvent.objects.filter(label_set=label_set, sequence__gt=version, sequence__lte=label_set.version)
    rows = list(events.order_by("sequence").values_list("kind", "changes"))
    if len(rows) != label_set.version - version:
        return None
    return _with_changes(reading, (change for kind, changes in rows if kind != EventKind.STATUS for change in changes))


def reading_carried_on(label_set: LabelSet, before: Stamp, changes: Iterable[Mapping[str, Any]]) -> None:
    """Carry a reading that this process knows over a change (an event's `changes`), once that is written.

    `before` is `stamp_of` the label set before the change.
    """
    reading = recall(label_set.pk, before)
    if reading is None:
        return
    remember(label_set.pk, stamp_of(label_set), _with_changes(reading, changes))


def _with_changes(reading: Reading, changes: Iterable[Mapping[str, Any]]) -> Reading:
    labels = {label.id: label for label in reading.labels}
    for change in changes:
        if change["after"]:
            labels[change["id"]] = label_from_json(change["after"])
        else:
            labels.pop(change["id"], None)
    return reading.with_labels(labels.values())


@lru_cache(maxsize=256)
def utterances_of(dialogue_id: int, fingerprint: str) -> tuple[UtteranceData, ...]:  # noqa: ARG001 – part of the key
    """The turns of a dialogue. They never change under one fingerprint, so every process may keep them."""
    rows = Utterance.objects.filter(dialogue_id=dialogue_id).order_by("position")
    columns = rows.values_list("position", "speaker", "text", "keywords", "warning")
    return tuple(
        UtteranceData(position, speaker, text, tuple(keywords), warning)
        for position, speaker, text, keywords, warning in columns
    )


@lru_cache(maxsize=256)
def utterance_ids_of(dialogue_id: int, fingerprint: str) -> Mapping[int, int]:  # noqa: ARG001 – part of the key
    """The rows of the turns by position; as lasting as the turns."""
    return dict(Utterance.objects.filter(dialogue_id=dialogue_id).values_list("position", "pk"))


def labels_of(label_set: LabelSet) -> list[LabelData]:
    """The labels in the order of (position, rank)."""
    rows = Label.objects.filter(label_set=label_set).order_by("utterance__position", "rank")
    return [label_from_row(row) for row in rows.values_list(*LABEL_COLUMNS)]


def label_from_row(row: Sequence[Any]) -> LabelData:
    """A label from the values of LABEL_COLUMNS."""
    pk, position, rank, intent, intent_name, slot, answers, checks, kept, origin, version = row
    return LabelData(
        id=str(pk),
        position=position,
        rank=rank,
        intent=intent,
        intent_name=intent_name,
        slot=slot,
        answers=answers,
        checks=tuple(checks) if isinstance(checks, list) else (checks,),  # see `domain.damage`
        kept=kept,
        origin=origin,
        questionnaire_version=version,
    )


def label_as_json(label: LabelData) -> dict[str, Any]:
    """A label as events, pages and the API carry it."""
    return {
        "id": label.id,
        "position": label.position,
        "rank": label.rank,
        "intent": label.intent,
        "intent_name": label.intent_name,
        "slot": label.slot,
        "answers": dict(label.answers),
        "checks": list(label.checks),
        "kept": dict(label.kept),
        "origin": label.origin,
        "questionnaire_version": label.questionnaire_version,
    }


def label_from_json(data: dict[str, Any]) -> LabelData:
    """The reverse of `label_as_json`; the data comes from our own history."""
    return LabelData(**{**data, "checks": tuple(data["checks"])})
