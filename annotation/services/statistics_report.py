"""The statistics of a project as a page shows them: by split, kept for as long as nothing in them changes."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from threading import Lock

from annotation.domain.splits import Shares
from annotation.models import Dialogue, LabelSet, Project, User
from annotation.services.concept_linking import linker
from annotation.services.export_readings import (
    GOLD,
    ExportOptions,
    ExportPart,
    parts_of,
    refuse_unknown_specialties,
    splits_of,
)
from annotation.services.statistics import ProjectStatistics, label_sets_counted, project_statistics

KEPT = 8  # reports

_kept: OrderedDict[str, ProjectStatistics] = OrderedDict()
_lock = Lock()


@dataclass(frozen=True, slots=True)
class StatisticsChoice:
    """Which readings count (finished gold only, one person's, or the best reading of every dialogue), and how splits
    are drawn. `specialties` are those within the domain, by default the commonest."""

    gold: bool = False
    random_seed: int = 1
    shares: Shares = field(default_factory=Shares)
    specialties: tuple[str, ...] = ()
    annotator: User | None = None


def statistics_report(*, project: Project, choice: StatisticsChoice) -> ProjectStatistics:
    """The project's statistics by split. A dialogue without a reading that counts is in no split.

    With gold only, dialogues and splits are those of an export of the gold with the same random seed and shares. What
    was counted is kept in memory under the versions of all label sets that it was counted from. Raises Refused for a
    specialty that no dialogue has.
    """
    options = ExportOptions(
        source=GOLD, random_seed=choice.random_seed, shares=choice.shares, specialties=choice.specialties
    )
    refuse_unknown_specialties(project, choice.specialties)
    if choice.gold:
        chosen = {row.dialogue_id: row for part in parts_of(project, options) for row in part.label_sets}
    else:
        chosen = label_sets_counted(project=project, annotator=choice.annotator)
    splits = splits_of(project, [ExportPart("", list(chosen.values()))], options)
    stated = {name: split.value for name, split in splits.items()}
    key = _key(project, choice, chosen, stated)
    with _lock:
        known = _kept.get(key)
    if known is None:
        known = project_statistics(
            project=project, annotator=choice.annotator, gold=choice.gold, splits=stated, chosen=chosen
        )
        _keep(key, known)
    return replace(known, fixed=sum(bool(row.dialogue.fixed_split) for row in chosen.values()))


def _key(project: Project, choice: StatisticsChoice, chosen: dict[int, LabelSet], splits: dict[str, str]) -> str:
    """Changes with everything that the figures depend on."""
    dialogues = Dialogue.objects.filter(project=project).open().order_by("pk")
    parts = [
        (project.pk, project.secret, project.questionnaire_name, project.questionnaire_version),
        (choice.gold, choice.annotator and choice.annotator.pk),
        list(dialogues.values_list("pk", "external_id", "fingerprint")),
        sorted((row.pk, row.version, str(row.changed_at), row.owner) for row in chosen.values()),
        sorted(splits.items()),
        linker().canon(project.pk).fingerprint,
    ]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _keep(key: str, found: ProjectStatistics) -> None:
    with _lock:
        _kept[key] = found
        _kept.move_to_end(key)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
