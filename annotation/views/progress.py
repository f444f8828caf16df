"""What pages say about how far the work is: queries whose number does not grow with the rows shown."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Case, Count, IntegerField, Sum, Value, When

from annotation.models import Dialogue, LabelSet, Membership, Project, Purpose, Role, Status, User, Utterance
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
    seeds: int = 0
    seeds_done: int = 0
    timed_seconds: int = 0  # active ones, of label sets in which time was taken
    timed_turns: int = 0  # labelled utterances of these

    @property
    def label_sets(self) -> int:
        return sum(self.by_status.values())

    @property
    def finished(self) -> int:
        return sum(self.by_status[status] for status in CLOSED)

    @property
    def left(self) -> int:
        return max(0, self.turns - self.labelled)

    @property
    def pace(self) -> float | None:
        """Active seconds for each labelled utterance; None where no time was taken, as for imported labels."""
        return self.timed_seconds / self.timed_turns if self.timed_turns and self.timed_seconds else None

    def add(self, row: LabelSet, *, seed: bool) -> None:
        """Count a label set that `add_left` has been over."""
        self.by_status[row.status] += 1
        self.turns += row.dialogue.utterance_count
        self.labelled += row.covered  # type: ignore[attr-defined]
        if row.version and (self.changed_at is None or row.changed_at > self.changed_at):
            self.changed_at = row.changed_at
        self.seeds += seed
        self.seeds_done += seed and row.status in CLOSED
        if row.active_seconds:
            self.timed_seconds += row.active_seconds
            self.timed_turns += row.labelled_count  # type: ignore[attr-defined]


def add_left(label_sets: Iterable[LabelSet]) -> list[LabelSet]:
    """Give each label set (`with_progress`) its `covered` and `left` utterances; a stated reason counts as covered."""
    rows = list(label_sets)
    for row in rows:
        total = row.dialogue.utterance_count
        covered = min(total, row.labelled_count + len(row.unlabelled_reasons))  # type: ignore[attr-defined]
        row.covered, row.left = covered, total - covered  # type: ignore[attr-defined]
    return rows


def own_label_sets(user: User) -> LabelSetQuerySet:
    """The person's open label sets in projects they can still see, most urgent first within each project. Training and
    tests are steps of their own (see `views.qualified`)."""
    urgency = Case(
        *[When(status=status, then=Value(rank)) for rank, status in enumerate(_FIRST)], output_field=IntegerField()
    )
    rows: LabelSetQuerySet = (
        LabelSet.objects.open()
        .filter(annotator=user, dialogue__project__in=Project.objects.visible_to(user))
        .exclude(purpose__in=[Purpose.TRAINING, Purpose.TEST])
        .select_related("dialogue__project")
        .annotate(urgency=urgency)
        .order_by("dialogue__project__name", "urgency", "queue_order", "dialogue__external_id")
    )
    return rows


def next_label_set(mine: LabelSetQuerySet) -> LabelSet | None:
    """What to go on with: what came back, else what was worked on last, else the first in the queue."""
    for status, order in (
        (Status.RETURNED, "changed_at"),
        (Status.IN_PROGRESS, "-changed_at"),
        (Status.TODO, "queue_order"),
    ):
        chosen = mine.filter(status=status).order_by(order, "pk").first()
        if chosen:
            return chosen
    return None


@dataclass(slots=True)
class Queue:
    """A person's label sets in figures; `left` are the utterances of open ones that nothing was said about."""

    by_status: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Status.values, 0))
    left: int = 0

    @property
    def total(self) -> int:
        return sum(self.by_status.values())

    @property
    def open(self) -> int:
        return sum(self.by_status[status] for status in OPEN)

    @property
    def finished(self) -> int:
        return self.total - self.open


def queue_of(mine: LabelSetQuerySet) -> Queue:
    """The figures of these label sets, in two queries."""
    queue = Queue()
    for status, version, turns in mine.order_by().values_list("status", "version", "dialogue__utterance_count"):
        queue.by_status[status] += 1
        if status in OPEN and not version:
            queue.left += turns
    begun = mine.filter(status__in=OPEN, version__gt=0).with_progress()
    queue.left += sum(row.left for row in add_left(begun))  # type: ignore[attr-defined]
    return queue


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
    label_sets = LabelSet.objects.real_work().filter(dialogue__project__in=keys, dialogue__archived_at=None)
    statuses = label_sets.order_by().values("dialogue__project", "status").annotate(n=Count("pk"))
    for key, status, number in statuses.values_list("dialogue__project", "status", "n"):
        counts[key].by_status[status] = number
    return counts


def annotator_progress(project: Project) -> list[AnnotatorProgress]:
    """Everybody who annotates in the project or has work there, by name; training and tests do not count.

    A dialogue that two have counts as a seed of both, however it came to that.
    """
    holders = Membership.objects.filter(project=project, role=Role.ANNOTATOR).select_related("user")
    found = {row.user_id: AnnotatorProgress(row.user) for row in holders}
    label_sets = (
        LabelSet.objects.real_work()
        .filter(dialogue__project=project, dialogue__archived_at=None)
        .select_related("annotator", "dialogue")
        .with_progress()
    )
    rows = add_left(label_sets)
    readers = Counter(row.dialogue_id for row in rows)
    for row in rows:
        assert row.annotator is not None  # the database holds annotators' label sets to it
        entry = found.setdefault(row.annotator.pk, AnnotatorProgress(row.annotator))
        entry.add(row, seed=row.purpose == Purpose.SEED or readers[row.dialogue_id] > 1)
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
