"""What agreement compares: which label sets, which of their utterances, in which pairs.

Compared are the label sets of people (not gold, imports or models) for work or as a seed; training and tests are
exercises. Archived dialogues are left out. Of several label sets of one person on a dialogue the seed one counts.

An utterance is *submitted* when its label set is done or locked, or when it carries a label or a chosen reason for
having none. In a label set that is still being worked on, an utterance without either is missing, not empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, Min, Q
from django.utils import timezone

from annotation.domain.agreement import PairedReading, SubmittedReading, paired
from annotation.domain.labels import Label as LabelData
from annotation.domain.labels import Reading
from annotation.models import EventKind, Label, LabelSet, Owner, Project, Purpose, Status
from annotation.services.agreement_scope import Scope
from annotation.services.readings import LABEL_COLUMNS, label_from_row, utterances_of

COMPARED_PURPOSES = [Purpose.WORK.value, Purpose.SEED.value]
FINISHED = [Status.DONE.value, Status.LOCKED.value]
_AT_ONCE = 400  # label sets in one query


@dataclass(frozen=True, slots=True)
class Compared:
    """Two label sets on one dialogue, A's the one of the person with the smaller id (as text, as pairs are ordered)."""

    a: LabelSet
    b: LabelSet

    @property
    def people(self) -> tuple[int, int]:
        assert self.a.annotator_id is not None
        assert self.b.annotator_id is not None
        return self.a.annotator_id, self.b.annotator_id


def compared(project: Project, scope: Scope) -> list[Compared]:
    """The pairs of label sets in the scope, in the order of the dialogues' ids: one query."""
    return [pair for pair in _pairs(_label_sets(project, scope)) if _within(pair, scope)]


def sources_of(pairs: Iterable[Compared]) -> list[list[int | str]]:
    """What a report was made from: its label sets with their versions. The same sources give the same report."""
    rows: dict[int, list[int | str]] = {}
    for pair in pairs:
        for row in (pair.a, pair.b):
            rows[row.pk] = [row.pk, row.version, row.status]
    return [rows[pk] for pk in sorted(rows)]


def paired_readings(pairs: Sequence[Compared]) -> list[PairedReading]:
    """The pairs as the domain compares them, each label set read once."""
    sets = {row.pk: row for pair in pairs for row in (pair.a, pair.b)}
    labels = _labels_of(sets)
    read = {pk: _submitted(row, labels.get(pk, [])) for pk, row in sets.items()}
    return [one for pair in pairs for one in paired([read[pair.a.pk], read[pair.b.pk]])]


def submitted_positions(label_set: LabelSet, reading: Reading) -> frozenset[int]:
    """The utterances that count as answered (see the top of this file)."""
    if label_set.status in FINISHED:
        return frozenset(turn.position for turn in reading.utterances)
    reasons = {int(position) for position in label_set.unlabelled_reasons}
    return frozenset({label.position for label in reading.labels} | reasons)


def _label_sets(project: Project, scope: Scope) -> list[LabelSet]:
    purposes = [Purpose.SEED.value] if scope.seeds else COMPARED_PURPOSES
    rows = LabelSet.objects.filter(
        dialogue__project=project, dialogue__archived_at=None, owner=Owner.ANNOTATOR, purpose__in=purposes, attempt=1
    )
    if scope.specialty:
        rows = rows.filter(dialogue__specialty=scope.specialty)
    if scope.pair:
        rows = rows.filter(annotator__in=scope.pair)
    if scope.since or scope.until:
        status = Q(events__kind=EventKind.STATUS)
        rows = rows.annotate(
            labelled_at=Max("events__created_at", filter=~status), moved_at=Min("events__created_at", filter=status)
        )
    return list(rows.select_related("dialogue").order_by("dialogue__external_id", "pk"))


def _pairs(label_sets: Iterable[LabelSet]) -> Iterator[Compared]:
    """Every two people of a dialogue once."""
    by_dialogue: dict[int, dict[int, LabelSet]] = {}
    for row in label_sets:
        assert row.annotator_id is not None
        mine = by_dialogue.setdefault(row.dialogue_id, {})
        if row.annotator_id not in mine or row.purpose == Purpose.SEED:
            mine[row.annotator_id] = row
    for found in by_dialogue.values():
        people = sorted(found, key=str)
        for place, one in enumerate(people):
            for other in people[place + 1 :]:
                yield Compared(found[one], found[other])


def _within(pair: Compared, scope: Scope) -> bool:
    if not (scope.since or scope.until):
        return True
    times = [_time_of(row) for row in (pair.a, pair.b)]
    known = [time for time in times if time is not None]
    if len(known) < len(times):
        return False  # not both have begun
    day = timezone.localdate(max(known))
    return (scope.since is None or scope.since <= day) and (scope.until is None or day <= scope.until)


def _time_of(row: LabelSet) -> datetime | None:
    """When it was labelled last; when it was finished, if that was without a single label; None if not begun."""
    labelled_at: datetime | None = getattr(row, "labelled_at", None)
    moved_at: datetime | None = getattr(row, "moved_at", None)
    return labelled_at or (moved_at if row.status in FINISHED else None)


def _labels_of(pks: Iterable[int]) -> dict[int, list[LabelData]]:
    """The labels of many label sets, each list in the order of (position, rank)."""
    found: dict[int, list[LabelData]] = {}
    chosen = list(pks)
    for start in range(0, len(chosen), _AT_ONCE):
        rows = Label.objects.filter(label_set__in=chosen[start : start + _AT_ONCE])
        ordered = rows.order_by("label_set", "utterance__position", "rank")
        for pk, *values in ordered.values_list("label_set_id", *LABEL_COLUMNS):
            found.setdefault(pk, []).append(label_from_row(values))
    return found


def _submitted(label_set: LabelSet, labels: Sequence[LabelData]) -> SubmittedReading:
    dialogue = label_set.dialogue
    reading = Reading(str(dialogue.pk), utterances_of(dialogue.pk, dialogue.fingerprint), tuple(labels))
    return SubmittedReading(str(label_set.annotator_id), reading, submitted_positions(label_set, reading))
