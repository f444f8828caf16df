"""One person's open page as a test plays it: every change through the services, against the version the page knows."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from annotation.domain.labels import Label as LabelData
from annotation.models import EventKind, LabelSet
from annotation.services.label_sets import label_set_finish, label_set_reopen
from annotation.services.labelling import Change, Saved, label_set_change, label_set_redo, label_set_undo
from annotation.services.readings import labels_of
from tests.factory import TURNS, inform

FREE_REASONS = dict.fromkeys(range(len(TURNS)), "nothing to label")


def new_id() -> str:
    return str(uuid.uuid4())


class Editor:
    """One person's open page: it knows the version and sends one request after the other."""

    def __init__(self, label_set: LabelSet) -> None:
        self.pk = label_set.pk
        self.version = label_set.version

    @property
    def label_set(self) -> LabelSet:
        return LabelSet.objects.select_related("dialogue__project", "annotator").get(pk=self.pk)

    def _send(self, service: Callable[..., Saved], **more: Any) -> Saved:
        label_set = self.label_set
        request = {"version": self.version, "key": new_id(), **more}
        saved = service(label_set=label_set, actor=label_set.annotator, **request)
        self.version = saved.version
        return saved

    def change(self, *changes: Change, **more: Any) -> Saved:
        return self._send(label_set_change, changes=changes, **more)

    def add(self, *labels: LabelData, **more: Any) -> list[str]:
        ids = [new_id() for _ in labels]
        self.change(*(Change(pk, label) for pk, label in zip(ids, labels, strict=True)), **more)
        return ids

    def edit(self, pk: str, label: LabelData) -> Saved:
        return self.change(Change(pk, label))

    def delete(self, *ids: str, **more: Any) -> Saved:
        return self.change(*(Change(pk, None) for pk in ids), **more)

    def undo(self, **more: Any) -> Saved:
        return self._send(label_set_undo, **more)

    def redo(self, **more: Any) -> Saved:
        return self._send(label_set_redo, **more)

    def finish(self) -> Saved:
        return self._send(label_set_finish, reasons=FREE_REASONS)

    def reopen(self) -> Saved:
        return self._send(label_set_reopen)

    def rows(self) -> list[LabelData]:
        return labels_of(self.label_set)

    def values(self) -> list[str]:
        """The first value of each label, in order."""
        return [label.answers["value"][0] for label in self.rows()]


def cough(position: int = 1, value: str = "cough", **answers: Any) -> LabelData:
    return inform(position, "symptom", value, status="yes", **answers)


def replayed(label_set: LabelSet) -> dict[str, dict[str, Any]]:
    """The labels that the history alone gives, by id."""
    labels: dict[str, dict[str, Any]] = {}
    for event in label_set.events.exclude(kind=EventKind.STATUS).order_by("sequence"):
        for change in event.changes:
            assert labels.get(change["id"]) == change["before"]
            labels.pop(change["id"], None)
            if change["after"]:
                labels[change["id"]] = change["after"]
    return labels
