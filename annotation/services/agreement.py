"""Agreement of a project's annotators: measured now, and kept as snapshots while the work goes on."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.domain.agreement import DEFINITION, AgreementReport, agreement, csv_rows, methods_paragraph
from annotation.domain.concepts import Canon
from annotation.models import AgreementSnapshot, Project, User
from annotation.services.agreement_places import Places, places_of
from annotation.services.agreement_scope import Scope
from annotation.services.agreement_sources import Compared, compared, paired_readings, sources_of
from annotation.services.concept_linking import linker
from annotation.services.errors import Refused

# The figures that the trend follows, as dotted names in `figures["headline"]`.
TREND = ("intents.kappa_whole_set", "slot_values.f", "slot_values.kappa")
_FOLLOWED = 20  # scopes that are measured anew in the background
LISTED = 100  # the newest snapshots of a scope that keep what is behind their figures; older ones keep the figures


@dataclass(frozen=True, slots=True)
class Measured:
    """A report's figures and what is behind them. `kept`: they come from a snapshot and were not computed now."""

    figures: Mapping[str, Any]
    places: Places
    at: datetime
    kept: bool

    @property
    def methods(self) -> str:
        return str(self.figures["methods"])


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """The headline figures at one time, by dotted name; None where undefined. `snapshot` is its row number."""

    snapshot: int
    at: datetime
    values: Mapping[str, float | None]
    used: int


def agreement_report(*, project: Project, scope: Scope) -> tuple[AgreementReport, list[Compared]]:
    """The report over the scope as the labels are now, with the pairs it is made from."""
    pairs = compared(project, scope)
    canon = linker().canon(project.pk)
    return agreement(project.questionnaire, paired_readings(pairs), concepts=canon), pairs


def agreement_measured(*, project: Project, scope: Scope) -> Measured:
    """The figures as they are now: those of the newest snapshot where nothing has changed since, or computed anew.

    Writes nothing.
    """
    pairs, canon = compared(project, scope), linker().canon(project.pk)
    newest = _newest(project, scope)
    if newest is not None and _is_current(newest, pairs, canon):
        return Measured(newest.figures, Places(newest.places), newest.created_at, kept=True)
    return _measured(project, pairs, canon)


def agreement_snapshot_keep(*, project: Project, scope: Scope) -> tuple[AgreementSnapshot, bool]:
    """A snapshot of the scope as it is now, and whether it is new: where nothing has changed, the newest one stays.

    Raises Refused where no dialogue of the scope is labelled doubly.
    """
    pairs = compared(project, scope)
    if not pairs:
        raise Refused("There is nothing to keep yet: no dialogue among these is labelled by two people.")
    newest, canon = _newest(project, scope), linker().canon(project.pk)
    if newest is not None and _is_current(newest, pairs, canon):
        return newest, False
    measured = _measured(project, pairs, canon)
    with transaction.atomic():
        _forget_long_lists(project, scope)
        snapshot = AgreementSnapshot.objects.create(
            project=project,
            scope=scope.as_json(),
            scope_key=scope.key,
            definition=DEFINITION,
            figures=dict(measured.figures),
            places=dict(measured.places.data),
        )
    return snapshot, True


def _forget_long_lists(project: Project, scope: Scope) -> None:
    """Make room for one more snapshot with what is behind its figures: a list is as long as the dialogues are."""
    listed = AgreementSnapshot.objects.filter(project=project, scope_key=scope.key).exclude(places={})
    beyond = list(listed.order_by("-created_at", "-pk").values_list("pk", flat=True)[LISTED - 1 :])
    if beyond:
        AgreementSnapshot.objects.filter(pk__in=beyond).update(places={})


def agreement_snapshots_refresh(*, project: Project) -> list[AgreementSnapshot]:
    """New snapshots of every followed scope in which something has changed; calling it again makes none.

    Followed are the whole project, its seed dialogues, and whatever scope somebody has kept a snapshot of. A scope in
    which nothing is labelled doubly yet gets none.
    """
    made = []
    for scope in _followed(project):
        pairs = compared(project, scope)
        if not any(pair.a.version and pair.b.version for pair in pairs):
            continue
        snapshot, new = agreement_snapshot_keep(project=project, scope=scope)
        if new:
            made.append(snapshot)
    return made


def agreement_trend(*, project: Project, scope: Scope) -> list[TrendPoint]:
    """The headline figures of the scope's snapshots under today's definitions, oldest first."""
    rows = AgreementSnapshot.objects.filter(project=project, scope_key=scope.key, definition=DEFINITION)
    columns = ("pk", "created_at", "figures__headline", "figures__coverage__n_used")
    return [
        TrendPoint(pk, at, {name: (headline or {}).get(name, {}).get("mean") for name in TREND}, used or 0)
        for pk, at, headline, used in rows.order_by("created_at", "pk").values_list(*columns)
    ]


def agreement_as_kept(snapshot: AgreementSnapshot) -> Measured:
    """The figures of a snapshot as they were then, with the utterances behind them."""
    return Measured(snapshot.figures, Places(snapshot.places), snapshot.created_at, kept=True)


def agreement_json(*, figures: Mapping[str, Any], names: Mapping[int, str]) -> dict[str, Any]:
    """The figures with people's names in place of their row numbers."""
    result = copy.deepcopy(dict(figures))
    for cell in result.get("pairs", []):
        for side in ("a", "b"):
            cell[side] = names.get(int(cell[side]), cell[side])
    return result


def agreement_csv(
    *, project: Project, scope: Scope, report: AgreementReport, names: Mapping[int, str]
) -> list[tuple[str | int | float, ...]]:
    """All figures as rows of a table, with a header. The first rows say what they were measured over, and when."""
    header, *rows = csv_rows(report, {str(pk): name for pk, name in names.items()})
    about = {
        "project": project.name,
        "chosen": scope.sentence(names),
        "measured_at": timezone.now().isoformat(),
        "definition": report.definition,
    }
    empty = [""] * (len(header) - 3)
    return [header, *(("report", name, value, *empty) for name, value in about.items()), *rows]


def usernames(pks: Sequence[int]) -> dict[int, str]:
    """User names by row number, those of archived people too."""
    return dict(User.objects.filter(pk__in=set(pks)).values_list("pk", "username"))


def figures_of(report: AgreementReport) -> dict[str, Any]:
    """What a snapshot keeps of a report, and what pages and the command show."""
    return {**report.as_json(), "methods": methods_paragraph(report)}


def _measured(project: Project, pairs: Sequence[Compared], canon: Canon) -> Measured:
    report = agreement(project.questionnaire, paired_readings(pairs), concepts=canon)
    places = places_of(report, pairs)
    known = Places({**places.data, "sources": sources_of(pairs), "concepts": canon.fingerprint})
    return Measured(figures_of(report), known, timezone.now(), kept=False)


def _newest(project: Project, scope: Scope) -> AgreementSnapshot | None:
    rows = AgreementSnapshot.objects.filter(project=project, scope_key=scope.key)
    return rows.order_by("-created_at", "-pk").first()


def _is_current(snapshot: AgreementSnapshot, pairs: Sequence[Compared], canon: Canon) -> bool:
    """Whether it was measured by today's definition, on the same labels, when the same concepts were decided."""
    known = Places(snapshot.places)
    same = known.sources == sources_of(pairs) and known.concepts == canon.fingerprint
    return same and known.complete and snapshot.definition == DEFINITION


def _followed(project: Project) -> list[Scope]:
    rows = AgreementSnapshot.objects.filter(project=project).order_by("-created_at")
    kept = dict.fromkeys([Scope(), Scope(seeds=True)])
    for scope in rows.values_list("scope", flat=True)[:500]:
        if len(kept) < _FOLLOWED:
            kept[Scope.from_json(scope)] = None
    return list(kept)
