"""What was decided in a project, for whoever turns its readings into canonical wording."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from datetime import datetime
from threading import Lock

from django.db.models import Count, Max

from annotation.domain.concepts import (
    NOTHING_DECIDED,
    Canon,
    DecidedConcept,
    DecidedConcepts,
    Outcome,
    Place,
    last_names,
)
from annotation.models import Label, LabelSet
from umls_linker.models import Decision, DecisionException, StatedAttribution, SurfaceForm, Vocabulary

KEPT = 16  # projects

# Changes with every decision and every one that is taken back.
Stamp = tuple[int, int]
# Utterances with a decision of their own, and when the label sets of their dialogues changed last.
Touched = tuple[frozenset[int], datetime | None]
Entries = Mapping[tuple[int, Place], DecidedConcept | None]  # by utterance

_kept: OrderedDict[int, tuple[Stamp, Touched, Canon]] = OrderedDict()
_lock = Lock()


def canon_of(project_id: int) -> Canon:
    """What stands now: one query where nothing has changed, two where some utterances have a decision of their own.

    No concept (NIL) and nothing decided are the same here: the value stays as it is written. A decision about one
    utterance comes before the one about its surface form.
    """
    stamp = _stamp(project_id)
    if stamp == (0, 0):
        return NOTHING_DECIDED
    known = _kept.get(project_id)
    if known and known[0] == stamp and known[1][1] == _changed_at(known[1][0]):
        return known[2]
    forms, entries = _decided_now(project_id)
    utterances = frozenset(utterance_id for utterance_id, _ in entries)
    touched = utterances, _changed_at(utterances)  # before the labels are read
    canon = DecidedConcepts(forms, _labels(entries)).canon()
    with _lock:
        _kept[project_id] = (stamp, touched, canon)
        _kept.move_to_end(project_id)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return canon


def decided_concepts(project_id: int) -> DecidedConcepts:
    """All decisions that stand now, in full."""
    forms, entries = _decided_now(project_id)
    return DecidedConcepts(forms, _labels(entries), _attributions(project_id))


def project_names(project_id: int) -> dict[str, str]:
    """What a project's files call the concepts of its standing decisions, by CUI."""
    rows = Decision.objects.filter(surface_form__project_id=project_id).standing().order_by("decided_at", "pk")
    return last_names(rows.values_list("cui", "name"))


def forget() -> None:
    """Know nothing, as a process that has just started."""
    _kept.clear()


def _stamp(project_id: int) -> Stamp:
    rows = Decision.objects.filter(surface_form__project_id=project_id)
    found = rows.order_by().aggregate(newest=Max("pk"), reverted=Count("reverted_at"))
    return found["newest"] or 0, found["reverted"]


def _changed_at(utterances: Iterable[int]) -> datetime | None:
    if not utterances:
        return None
    rows = LabelSet.objects.filter(dialogue__utterances__in=utterances)
    newest: datetime | None = rows.order_by().aggregate(newest=Max("changed_at"))["newest"]
    return newest


def _decided_now(project_id: int) -> tuple[dict[Place, DecidedConcept], Entries]:
    """What was decided about surface forms, and what was decided, or left out of a decision, for single utterances."""
    rows = Decision.objects.filter(surface_form__project_id=project_id).standing().order_by("decided_at", "pk")
    standing = list(rows.select_related("surface_form"))
    names = last_names((row.cui, row.name) for row in standing)
    forms = {_place(row.surface_form): _decided(row, names) for row in standing if row.utterance_id is None}
    entries: dict[tuple[int, Place], DecidedConcept | None] = {}
    excepted = DecisionException.objects.filter(
        decision__surface_form__project_id=project_id, decision__reverted_at=None
    )
    form = "decision__surface_form__"
    for utterance_id, *place in excepted.values_list("utterance_id", f"{form}slot", f"{form}field", f"{form}key"):
        entries[utterance_id, (place[0], place[1], place[2])] = None
    for row in standing:
        if row.utterance_id is not None:
            entries[row.utterance_id, _place(row.surface_form)] = _decided(row, names)
    return forms, entries


def _place(form: SurfaceForm) -> Place:
    return form.slot, form.field, form.key


def _decided(row: Decision, names: Mapping[str, str]) -> DecidedConcept:
    """The decision as it was written down, whatever the vocabulary says today, with the one name of its concept."""
    name, types = names.get(row.cui, ""), tuple(row.semantic_types)
    return DecidedConcept(Outcome(row.kind), row.cui, name, types, row.vocabulary_name, row.vocabulary_version)


def _attributions(project_id: int) -> dict[tuple[str, str], str]:
    """Of the builds under which was decided, of two builds of one version the later; then those of imported exports."""
    stated = StatedAttribution.objects.filter(project_id=project_id)
    found = {(row.name, row.version): row.attribution for row in stated}
    rows = Vocabulary.objects.filter(decisions__surface_form__project_id=project_id).distinct().order_by("built_at")
    return found | {(row.name, row.version): row.attribution for row in rows}


def _labels(entries: Entries) -> dict[tuple[str, Place], DecidedConcept | None]:
    """The entries by label: they hold for every label of the utterance, also those that were made later."""
    labels: dict[int, list[str]] = {}
    utterances = {utterance_id for utterance_id, _ in entries}
    for pk, utterance_id in Label.objects.filter(utterance__in=utterances).order_by().values_list("pk", "utterance_id"):
        if utterance_id is not None:
            labels.setdefault(utterance_id, []).append(str(pk))
    return {
        (pk, place): concept
        for (utterance_id, place), concept in entries.items()
        for pk in labels.get(utterance_id, ())
    }
