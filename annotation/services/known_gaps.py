"""What the label sets of a project lack. A label set that has not changed since is not read again."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

from annotation.domain.completeness import Gap, gaps
from annotation.domain.damage import damage
from annotation.domain.labels import Label as LabelData
from annotation.domain.labels import Reading
from annotation.domain.labels import Utterance as UtteranceData
from annotation.models import Label, LabelSet, Project, Utterance
from annotation.services.readings import LABEL_COLUMNS, label_from_row
from annotation.services.recent_readings import Stamp, stamp_of

KEPT = 20_000  # a few hundred bytes each
_AT_ONCE = 400  # label sets in one query


@dataclass(frozen=True, slots=True)
class Lacks:
    """What one label set lacks; how many labels it has, and how many utterances carry some.

    `damage` says why its labels cannot be read, where that is so; its gaps are then unknown.
    """

    labels: int
    labelled: int
    gaps: tuple[Gap, ...]
    damage: str = ""


_known: OrderedDict[int, tuple[Stamp, Lacks]] = OrderedDict()
_lock = Lock()


def lacks_of(project: Project, label_sets: Sequence[LabelSet]) -> dict[int, Lacks]:
    """By the label set's key. The label sets have their dialogues with them."""
    found: dict[int, Lacks] = {}
    stale: list[LabelSet] = []
    for row in label_sets:
        known = _known.get(row.pk)
        if known and known[0] == stamp_of(row):
            found[row.pk] = known[1]
        else:
            stale.append(row)
    for start in range(0, len(stale), _AT_ONCE):
        for row, lacks in _read(project, stale[start : start + _AT_ONCE]):
            found[row.pk] = lacks
            _remember(row, lacks)
    return found


def _read(project: Project, label_sets: Sequence[LabelSet]) -> Iterator[tuple[LabelSet, Lacks]]:
    """Two queries for all of them."""
    turns: dict[int, list[UtteranceData]] = defaultdict(list)
    spoken = Utterance.objects.filter(dialogue__in={row.dialogue_id for row in label_sets}).order_by("position")
    for dialogue, position, speaker in spoken.values_list("dialogue", "position", "speaker"):
        turns[dialogue].append(UtteranceData(position, speaker, ""))
    labels: dict[int, list[LabelData]] = defaultdict(list)
    rows = Label.objects.filter(label_set__in=label_sets).order_by("label_set", "rank")
    for label_set, *row in rows.values_list("label_set", *LABEL_COLUMNS):
        labels[label_set].append(label_from_row(row))
    questionnaire = project.questionnaire
    for one in label_sets:
        mine = labels[one.pk]
        reading = Reading(one.dialogue.external_id, tuple(turns[one.dialogue_id]), tuple(mine))
        damaged = damage(mine)
        found = [] if damaged else gaps(questionnaire, reading, excused=map(int, one.unlabelled_reasons))
        yield one, Lacks(len(mine), len({label.position for label in mine}), tuple(found), damaged)


def _remember(row: LabelSet, lacks: Lacks) -> None:
    with _lock:
        _known[row.pk] = (stamp_of(row), lacks)
        _known.move_to_end(row.pk)
        while len(_known) > KEPT:
            _known.popitem(last=False)
