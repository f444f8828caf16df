"""Rows into readings and labels into rows' values, the one place where the two meet."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from annotation.domain.labels import Label as LabelData
from annotation.domain.labels import Reading
from annotation.domain.labels import Utterance as UtteranceData
from annotation.models import Label, LabelSet, Utterance

_COLUMNS = (
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
    """The label set as a reading: one query for the labels, one for the turns unless they were read before."""
    dialogue = label_set.dialogue
    turns = utterances_of(dialogue.pk, dialogue.fingerprint)
    return Reading(dialogue.external_id, turns, tuple(labels_of(label_set)))


@lru_cache(maxsize=256)
def utterances_of(dialogue_id: int, fingerprint: str) -> tuple[UtteranceData, ...]:
    """The turns of a dialogue. They never change under one fingerprint, so every process may keep them."""
    rows = Utterance.objects.filter(dialogue_id=dialogue_id).order_by("position")
    return tuple(row.as_data() for row in rows)


def labels_of(label_set: LabelSet) -> list[LabelData]:
    """The labels in the order of (position, rank)."""
    rows = Label.objects.filter(label_set=label_set).order_by("utterance__position", "rank")
    return [
        LabelData(
            id=str(pk),
            position=position,
            rank=rank,
            intent=intent,
            intent_name=intent_name,
            slot=slot,
            answers=answers,
            checks=tuple(checks),
            kept=kept,
            origin=origin,
            questionnaire_version=version,
        )
        for pk, position, rank, intent, intent_name, slot, answers, checks, kept, origin, version in rows.values_list(
            *_COLUMNS
        )
    ]


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


def labels_by_position(labels: Iterable[LabelData]) -> dict[int, list[LabelData]]:
    table: dict[int, list[LabelData]] = {}
    for label in labels:
        table.setdefault(label.position, []).append(label)
    return table
