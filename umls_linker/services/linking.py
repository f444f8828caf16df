"""Candidates for surface forms: found in the background, form by form, each form's replaced as one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import Project
from umls_linker.domain.rank import Candidate as Found
from umls_linker.domain.rank import Earlier
from umls_linker.index.manifest import UnusableVocabulary
from umls_linker.index.reader import VocabularyIndex
from umls_linker.index.search import search
from umls_linker.models import Candidate, Decision, DecisionKind, Occurrence, SurfaceForm
from umls_linker.services.project_vocabulary import index_of, stamp_of, vocabulary_of
from umls_linker.services.surface_forms import label_set_collect, label_sets_waiting

CANDIDATES = 10
SYNONYMS = 20
CONTEXT_UTTERANCES = 5
CONTEXT_CHARACTERS = 1000
AT_ONCE = 50  # forms that are looked up before the database is asked for more

Progress = Callable[[int, int], None]  # done, left


@dataclass(frozen=True, slots=True)
class Linked:
    """What one call did, and what is left to do. `without_vocabulary`: nothing can be found, for there is none."""

    linked: int = 0
    left: int = 0
    without_vocabulary: bool = False


def forms_waiting(project: Project, stamp: str) -> QuerySet[SurfaceForm]:
    """The forms in use whose candidates do not come from `stamp`, the most frequent first."""
    rows = SurfaceForm.objects.filter(project=project, labels__gt=0).exclude(linked_with=stamp)
    return rows.order_by("-utterances", "pk")


def label_sets_collect(*, project: Project, seconds: float | None = None) -> bool:
    """Collect the values of all label sets that have changed since; False where the time was too short for all."""
    ends = _end_of(seconds)
    for label_set in label_sets_waiting(project).iterator(chunk_size=AT_ONCE):
        if time.monotonic() > ends:
            return False
        label_set_collect(label_set=label_set)
    return True


def forms_link(
    *, project: Project, limit: int | None = None, seconds: float | None = None, progress: Progress | None = None
) -> Linked:
    """Find candidates for forms that have none from the present vocabulary and ranking, `limit` at most.

    Nothing is locked while a form is looked up. What another worker has linked meanwhile is left as that one wrote it,
    so that whoever dies, and whenever, every form has the candidates of one whole search.
    """
    vocabulary = vocabulary_of(project)
    index = index_of(vocabulary) if vocabulary else None
    if vocabulary is None or index is None:
        return Linked(left=SurfaceForm.objects.filter(project=project, labels__gt=0).count(), without_vocabulary=True)
    stamp, ends, done = stamp_of(vocabulary), _end_of(seconds), 0
    earlier = earlier_decisions(project)
    for form in _in_turn(project, stamp, limit):
        try:
            rows = _candidates(form, index, earlier)
        except UnusableVocabulary:  # its folder is being deleted
            return Linked(done, forms_waiting(project, stamp).count(), without_vocabulary=True)
        done += _replace_candidates(form, stamp, rows)
        if progress:
            progress(done, forms_waiting(project, stamp).count())
        if time.monotonic() > ends:
            break
    return Linked(done, forms_waiting(project, stamp).count())


def earlier_decisions(project: Project) -> Sequence[Earlier]:
    """What the project's doctors have decided so far, as the ranking takes it into account."""
    rows = Decision.objects.filter(surface_form__project=project).standing().of_forms()
    found = rows.filter(kind=DecisionKind.CONCEPT).select_related("surface_form", "decided_by")
    return [
        Earlier(row.surface_form.text, row.cui, row.decided_by.display_name, row.surface_form.slot) for row in found
    ]


def context_of(form: SurfaceForm) -> str:
    """The first utterances that use the form, as one text."""
    rows = Occurrence.objects.filter(surface_form=form, label_set__dialogue__archived_at=None).order_by("utterance")
    texts = dict.fromkeys(rows.values_list("utterance__text", flat=True)[: 2 * CONTEXT_UTTERANCES])
    return " ".join(list(texts)[:CONTEXT_UTTERANCES])[:CONTEXT_CHARACTERS]


def _in_turn(project: Project, stamp: str, limit: int | None) -> Iterator[SurfaceForm]:
    """Forms that wait, asked for anew after every few, so that two workers do not go through the same list."""
    seen: set[int] = set()
    while limit is None or len(seen) < limit:
        wanted = AT_ONCE if limit is None else min(AT_ONCE, limit - len(seen))
        some = [form for form in forms_waiting(project, stamp)[: wanted + len(seen)] if form.pk not in seen][:wanted]
        if not some:
            return
        for form in some:
            seen.add(form.pk)
            yield form


def _replace_candidates(form: SurfaceForm, stamp: str, rows: Sequence[Candidate]) -> bool:
    """Put the candidates in the place of the form's old ones, unless somebody has linked it since it was read."""
    with transaction.atomic():
        unchanged = SurfaceForm.objects.filter(pk=form.pk, linked_with=form.linked_with)
        if not unchanged.update(linked_with=stamp, linked_at=timezone.now()):
            return False
        Candidate.objects.filter(surface_form=form).delete()
        Candidate.objects.bulk_create(rows)
    return True


def _candidates(form: SurfaceForm, index: VocabularyIndex, earlier: Sequence[Earlier]) -> list[Candidate]:
    found = search(
        index,
        form.text,
        slot=form.slot,
        field=form.field,
        context=context_of(form),
        decisions=earlier,
        limit=CANDIDATES,
    )
    return [_row(form, index, rank, one) for rank, one in enumerate(found, start=1)]


def _row(form: SurfaceForm, index: VocabularyIndex, rank: int, found: Found) -> Candidate:
    concept = index.concept(found.cui)
    return Candidate(
        surface_form=form,
        rank=rank,
        cui=found.cui,
        name=found.name,
        semantic_types=list(found.semantic_types),
        synonyms=list(concept.synonyms[:SYNONYMS]) if concept else [],
        matched=found.matched_text,
        score=found.score,
        reasons=[{"kind": one.kind, "points": one.points, "sentence": one.sentence} for one in found.reasons],
    )


def _end_of(seconds: float | None) -> float:
    return float("inf") if seconds is None else time.monotonic() + seconds
