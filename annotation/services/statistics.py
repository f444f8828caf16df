"""The statistics of a project: one reading of each dialogue, read in batches, and how its labels came about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeVar

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation.domain.damage import damage
from annotation.domain.labels import Label as LabelData
from annotation.domain.labels import Reading
from annotation.domain.labels import Utterance as UtteranceData
from annotation.domain.statistics import Grown, Statistics, growth, statistics
from annotation.models import Dialogue, EventKind, Label, LabelEvent, LabelSet, Owner, Project, Purpose, User, Utterance
from annotation.services.concept_linking import linker
from annotation.services.exports import FINISHED
from annotation.services.readings import LABEL_COLUMNS, label_from_row

T = TypeVar("T")

_AT_ONCE = 100  # dialogues in one query


@dataclass(frozen=True, slots=True)
class ProjectStatistics:
    """`readings` says of how many dialogues the gold was read, of how many somebody's labels, and how many lack any.
    `damaged` says by dialogue why its labels cannot be read; such a dialogue is counted as one without labels. `fixed`
    counts the dialogues that keep the split they came with where splits are drawn."""

    statistics: Statistics
    growth: list[Grown]
    readings: Mapping[str, int]
    damaged: Mapping[str, str] = field(default_factory=dict)
    fixed: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "readings": dict(self.readings),
            "damaged": dict(self.damaged),
            **self.statistics.as_json(),
            "growth": [one.as_json() for one in self.growth],
        }


def project_statistics(
    *,
    project: Project,
    annotator: User | None = None,
    gold: bool = False,
    splits: Mapping[str, str] | None = None,
    chosen: Mapping[int, LabelSet] | None = None,
) -> ProjectStatistics:
    """All dialogues that are not archived, each with one reading: the gold where there is one, else the work of the
    first person who finished it, else of the first who began. One without labels counts as unlabelled.

    With `annotator` or `gold` only those dialogues count that have labels of this person, or gold. `chosen` says by
    dialogue which label set is read, instead of `label_sets_counted`.
    """
    if chosen is None:
        chosen = label_sets_counted(project=project, annotator=annotator, gold=gold)
    rows = Dialogue.objects.filter(project=project).open().order_by("external_id")
    if annotator or gold:
        rows = rows.filter(pk__in=list(chosen))
    dialogues = list(rows.values_list("pk", "external_id"))
    canon = linker().canon(project.pk)
    damaged: dict[str, str] = {}
    found = statistics(project.questionnaire, _readings(dialogues, chosen, damaged), splits, canon)
    owners = [chosen[pk].owner if pk in chosen else "" for pk, _ in dialogues]
    readings = {
        "gold": owners.count(Owner.GOLD),
        "annotator": owners.count(Owner.ANNOTATOR),
        "without_labels": owners.count(""),
    }
    return ProjectStatistics(found, growth(_changes([one.pk for one in chosen.values()])), readings, damaged)


def label_sets_counted(*, project: Project, annotator: User | None = None, gold: bool = False) -> dict[int, LabelSet]:
    """By dialogue, the label set that `project_statistics` reads; a dialogue without labels has none."""
    return _chosen(_candidates(project, annotator=annotator, gold=gold))


def _candidates(project: Project, *, annotator: User | None, gold: bool) -> QuerySet[LabelSet]:
    """The label sets that may be read: of people's real work, and the gold of it."""
    rows = LabelSet.objects.filter(dialogue__project=project, dialogue__archived_at=None).select_related("dialogue")
    rows = rows.filter(Exists(Label.objects.filter(label_set=OuterRef("pk"))))
    people, finished = rows.real_work(), rows.filter(owner=Owner.GOLD, purpose=Purpose.WORK)
    if annotator:
        return people.filter(annotator=annotator)
    return finished if gold else people | finished


def _chosen(rows: QuerySet[LabelSet]) -> dict[int, LabelSet]:
    """By dialogue, the label set that is read."""

    def rank(row: LabelSet) -> tuple[bool, bool, int]:
        return row.owner != Owner.GOLD, row.status not in FINISHED, row.pk

    found: dict[int, LabelSet] = {}
    for row in sorted(rows, key=rank):
        found.setdefault(row.dialogue_id, row)
    return found


def _readings(
    dialogues: Sequence[tuple[int, str]], chosen: Mapping[int, LabelSet], damaged: dict[str, str]
) -> Iterator[Reading]:
    """Each dialogue with its labels; never more than a batch of them is held. Damaged labels are left out, and said in
    `damaged`."""
    for some in _batches(dialogues):
        turns = _turns([pk for pk, _ in some])
        labels = _labels([chosen[pk].pk for pk, _ in some if pk in chosen])
        for pk, external_id in some:
            mine = labels.get(chosen[pk].pk, []) if pk in chosen else []
            if reason := damage(mine):
                damaged[external_id], mine = reason, []
            yield Reading(external_id, tuple(turns.get(pk, [])), tuple(mine))


def _turns(dialogues: Iterable[int]) -> dict[int, list[UtteranceData]]:
    found: dict[int, list[UtteranceData]] = {}
    rows = Utterance.objects.filter(dialogue__in=list(dialogues)).order_by("dialogue", "position")
    for dialogue, position, speaker, text in rows.values_list("dialogue_id", "position", "speaker", "text"):
        found.setdefault(dialogue, []).append(UtteranceData(position, speaker, text))
    return found


def _labels(label_sets: Iterable[int]) -> dict[int, list[LabelData]]:
    found: dict[int, list[LabelData]] = {}
    rows = Label.objects.filter(label_set__in=list(label_sets)).order_by("label_set", "utterance__position", "rank")
    for label_set, *values in rows.values_list("label_set_id", *LABEL_COLUMNS):
        found.setdefault(label_set, []).append(label_from_row(values))
    return found


def _changes(label_sets: Sequence[int]) -> Iterator[tuple[date, int]]:
    """By the days of the portal's time zone, what every event made (+) and took away (−)."""
    for some in _batches(label_sets):
        events = LabelEvent.objects.filter(label_set__in=some).exclude(kind=EventKind.STATUS).order_by()
        for created_at, changes in events.values_list("created_at", "changes").iterator(chunk_size=500):
            change = sum(bool(one.get("after")) - bool(one.get("before")) for one in changes)
            yield timezone.localdate(created_at), change


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), _AT_ONCE):
        yield items[start : start + _AT_ONCE]
