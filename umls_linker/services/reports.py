"""How many medical values there are, and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Sum

from annotation.models import Project
from umls_linker.models import SurfaceForm
from umls_linker.services.queue import with_state


@dataclass(slots=True)
class Counts:
    """Surface forms in use: `decided` as a concept of the vocabulary or a proposed one, `nil` as none, `open` not yet.

    `occurrences` are the labels that use them, a label with two values counting twice.
    """

    values: int = 0
    decided: int = 0
    nil: int = 0
    occurrences: int = 0

    @property
    def open(self) -> int:
        return self.values - self.decided - self.nil

    def add(self, state: str, values: int, occurrences: int) -> None:
        self.values += values
        self.occurrences += occurrences
        if state == "nil":
            self.nil += values
        elif state in ("decided", "proposed"):
            self.decided += values

    def as_json(self) -> dict[str, int]:
        counts = {"values": self.values, "decided": self.decided, "nil": self.nil, "open": self.open}
        return {**counts, "occurrences": self.occurrences}


@dataclass(slots=True)
class Report:
    """The counts of all values, and of each slot's by its name."""

    all: Counts = field(default_factory=Counts)
    by_slot: dict[str, Counts] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {**self.all.as_json(), "by_slot": {slot: counts.as_json() for slot, counts in self.by_slot.items()}}


def canonical_counts(project: Project) -> Report:
    """The report over what is collected by now, slots in the order of the questionnaire: one query."""
    rows = with_state(SurfaceForm.objects.filter(project=project, labels__gt=0)).order_by()
    report = Report()
    found: dict[str, Counts] = {}
    for row in rows.values("slot", "state").annotate(n=Count("pk"), used=Sum("labels")):
        for counts in (report.all, found.setdefault(row["slot"], Counts())):
            counts.add(row["state"], row["n"], row["used"])
    order = [slot.name for slot in project.questionnaire.slots]
    known = [slot for slot in dict.fromkeys(order) if slot in found]
    report.by_slot = {slot: found[slot] for slot in (*known, *sorted(found.keys() - set(known)))}
    return report
