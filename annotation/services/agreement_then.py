"""The labels behind a measurement as they were when it was made: today's with what happened since taken back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from annotation.domain.history import reversed_changes
from annotation.domain.labels import Reading
from annotation.models import EventKind, LabelEvent, LabelSet
from annotation.services.readings import label_from_json, reading_of


def readings_then(label_sets: Iterable[LabelSet], versions: Mapping[int, int]) -> dict[int, Reading]:
    """Each label set's reading at the version that `versions` gives for it, otherwise as it is now.

    One query for the events of all of them.
    """
    rows = {row.pk: row for row in label_sets}
    since: dict[int, list[dict[str, Any]]] = defaultdict(list)
    changed = [pk for pk, row in rows.items() if versions.get(pk, row.version) < row.version]
    events = LabelEvent.objects.filter(label_set__in=changed).exclude(kind=EventKind.STATUS)
    for pk, sequence, changes in events.order_by("sequence").values_list("label_set", "sequence", "changes"):
        if sequence > versions[pk]:
            since[pk] += changes
    return {pk: _taken_back(reading_of(row), since[pk]) for pk, row in rows.items()}


def _taken_back(reading: Reading, changes: list[dict[str, Any]]) -> Reading:
    if not changes:
        return reading
    labels = {label.id: label for label in reading.labels}
    for change in reversed_changes(changes):
        if change["after"]:
            labels[change["id"]] = label_from_json(change["after"])
        else:
            labels.pop(change["id"], None)
    return reading.with_labels(labels.values())
