"""What pages say about how far the work is: queries whose number does not grow with the rows shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Case, Count, IntegerField, Sum, Value, When

from annotation.models import Dialogue, LabelSet, Membership, Project, Role, Status, User, Utterance
from annotation.models.labels import LabelSetQuerySet

# What somebody should look at first: what came back, what they began, what is next.
_FIRST = [Status.RETURNED, Status.IN_PROGRESS, Status.TODO, Status.DONE, Status.LOCKED]
OPEN = [Status.RETURNED, Status.IN_PROGRESS, Status.TODO]
CLOSED = [Status.DONE, Status.LOCKED]


@dataclass(slots=True)
class Counts:
    """Figures of one project, archived dialogues left out."""

    dialogues: int = 0
    utterances: int = 0
    unassigned: int = 0
    by_status: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Status.values, 0))

    @property
    def label_sets(self) -> int:
        return sum(self.by_status.values())

    @property
    def finished(self) -> int:
        return sum(self.by_status[status] for status in CLOSED)


@dataclass(slots=True)
class AnnotatorProgress:
    """How far one annotator is; `turns` and `labelled` are utterances of all their dialogues."""

    annotator: User
    by_status: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Status.values, 0))
    turns: int = 0
    labelled: int = 0
    changed_at: datetime | None = None

    @property
    def label_sets(self) -> int:
        return sum(self.by_status.values())

    @property
    def finished(self) -> int:
        return sum(self.by_status[status] for status in CLOSED)

    @property
    def left(self) -> int:
        return max(0, self.turns - self.labelled)


def add_left(label_sets: Iterable[LabelSet]) -> list[LabelSet]:
    """Give each label set (`with_progress`) its `covered` and `left` utterances; a stated reason counts as covered."""
    rows = list(label_sets)
    for row in rows:
        total = row.dialogue.utterance_count
        covered = min(total, row.labelled_count + len(row.unlabelled_reasons))  # type: ignore[attr-defined]
        row.covered, row.left = covered, total - covered  # type: ignore[attr-defined]
    return rows


def own_label_sets(user: User) -> LabelSetQuerySet:
    """The person's open label sets in projects they can still see, most urgent first within each project."""
    urgency = Case(
        *[When(status=status, then=Value(rank)) for rank, status in enumerate(_FIRST)], output_field=IntegerField()
    )
    rows: LabelSetQuerySet = (
        LabelSet.objects.open()
        .filter(annotator=user, dialogue__project__in=Project.objects.visible_to(user))
        .select_related("dialogue__project")
        .annotate(urgency=urgency)
        .order_by("dialogue__project__name", "urgency", "dialogue__external_id")
    )
    return rows


def project_counts(projects: Iterable[Project]) -> dict[int, Counts]:
    """The figures of several projects by their key, in three queries."""
    keys = [project.pk for project in projects]
    counts = {key: Counts() for key in keys}
    dialogues = Dialogue.objects.open().filter(project__in=keys).order_by()
    sizes = dialogues.values("project").annotate(n=Count("pk"), turns=Sum("utterance_count"))
    for key, number, turns in sizes.values_list("project", "n", "turns"):
        counts[key].dialogues, counts[key].utterances = number, turns
    unassigned = dialogues.filter(label_sets=None).values("project").annotate(n=Count("pk"))
    for key, number in unassigned.values_list("project", "n"):
        counts[key].unassigned = number
    label_sets = LabelSet.objects.filter(dialogue__project__in=keys, dialogue__archived_at=None, owner="annotator")
    statuses = label_sets.order_by().values("dialogue__project", "status").annotate(n=Count("pk"))
    for key, status, number in statuses.values_list("dialogue__project", "status", "n"):
        counts[key].by_status[status] = number
    return counts


def annotator_progress(project: Project) -> list[AnnotatorProgress]:
    """Everybody who annotates in the project or has label sets there, by name."""
    holders = Membership.objects.filter(project=project, role=Role.ANNOTATOR).select_related("user")
    found = {row.user_id: AnnotatorProgress(row.user) for row in holders}
    label_sets = (
        LabelSet.objects.filter(dialogue__project=project, dialogue__archived_at=None, owner="annotator")
        .select_related("annotator", "dialogue")
        .with_progress()
    )
    for row in add_left(label_sets):
        assert row.annotator is not None  # the database holds annotators' label sets to it
        entry = found.setdefault(row.annotator.pk, AnnotatorProgress(row.annotator))
        entry.by_status[row.status] += 1
        entry.turns += row.dialogue.utterance_count
        entry.labelled += row.covered  # type: ignore[attr-defined]
        if row.version and (entry.changed_at is None or row.changed_at > entry.changed_at):
            entry.changed_at = row.changed_at
    return sorted(found.values(), key=lambda entry: entry.annotator.display_name.lower())


def add_dialogue_details(dialogues: Iterable[Dialogue], *, with_label_sets: bool) -> list[Dialogue]:
    """Give each dialogue its `warnings` (a number) and, for those who may see them, its `sets`."""
    rows = list(dialogues)
    warnings = dict(
        Utterance.objects.filter(dialogue__in=rows)
        .exclude(warning="")
        .order_by()
        .values("dialogue")
        .annotate(n=Count("pk"))
        .values_list("dialogue", "n")
    )
    sets: dict[int, list[LabelSet]] = defaultdict(list)
    if with_label_sets:
        found = LabelSet.objects.filter(dialogue__in=rows).select_related("annotator", "dialogue").with_progress()
        for label_set in add_left(found.order_by("annotator__username", "pk")):
            sets[label_set.dialogue_id].append(label_set)
    for row in rows:
        extras: dict[str, Any] = {"warnings": warnings.get(row.pk, 0), "sets": sets[row.pk]}
        vars(row).update(extras)
    return rows
