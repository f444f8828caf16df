"""The surface forms of a project, kept in line with the labels that use them."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.domain.concepts import Place, medical_values, surface_key
from annotation.models import LabelSet, Owner, Project, Purpose
from annotation.models.labels import REAL_WORK
from annotation.services.readings import labels_of, utterance_ids_of
from umls_linker.models import Decision, LinkedLabelSet, Occurrence, SurfaceForm
from umls_linker.services.messages import send

AT_ONCE = 400  # values in one query
OUTDATED = "outdated"  # begins what `SurfaceForm.linked_with` says of candidates from before a decision
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Use:
    """A label that uses a surface form, and how it is written there."""

    place: Place
    label_id: uuid.UUID
    utterance_id: int
    text: str


def collected_label_sets() -> QuerySet[LabelSet]:
    """The label sets whose values are linked: annotators' work, its gold, and imports; neither training nor tests."""
    work = Q(owner__in=[Owner.ANNOTATOR, Owner.GOLD], purpose__in=REAL_WORK)
    imported = Q(owner=Owner.IMPORT) & ~Q(purpose__in=[Purpose.TRAINING, Purpose.TEST])
    return LabelSet.objects.filter(work | imported)


def label_sets_waiting(project: Project) -> QuerySet[LabelSet]:
    """The label sets of a project that have changed since their values were collected, the oldest change first. Those
    of archived dialogues wait until their dialogue is restored."""
    known = LinkedLabelSet.objects.filter(label_set=OuterRef("pk")).values("version")
    rows = collected_label_sets().filter(dialogue__project=project, dialogue__archived_at=None)
    rows = rows.annotate(known=Coalesce(Subquery(known), 0)).filter(version__gt=F("known"))
    return rows.select_related("dialogue__project").order_by("changed_at", "pk")


def label_set_collect(*, label_set: LabelSet) -> bool:
    """Bring surface forms, occurrences and counts in line with the label set's labels; says whether there was anything
    to do. Safe to call twice and by several workers at once: what was read from an older version is not written over
    what came from a newer one."""
    label_set.refresh_from_db(fields=["version"])
    version = label_set.version  # before the labels, so that a change in between is collected once more
    if not version or not collected_label_sets().filter(pk=label_set.pk).exists():
        return False
    uses = list(_uses_of(label_set))
    with transaction.atomic():
        linked, _ = LinkedLabelSet.objects.get_or_create(label_set=label_set, defaults={"version": 0})
        if linked.version >= version:
            return False
        project_id = label_set.dialogue.project_id
        touched = _write(label_set, forms_of(project_id, {use.place: use.text for use in uses}), uses)
        surface_forms_count(forms=touched)
        linked.version = version
        linked.save(update_fields=["version"])
    return True


def surface_forms_count(*, forms: Collection[int]) -> None:
    """Count the labels and utterances that use these forms (row numbers), and choose the wording to be shown. Archived
    dialogues do not count."""
    open_ones = Occurrence.objects.filter(label_set__dialogue__archived_at=None)
    for some in _parts(sorted(forms)):
        mine = open_ones.filter(surface_form=OuterRef("pk")).order_by().values("surface_form")
        SurfaceForm.objects.filter(pk__in=some).update(
            labels=Coalesce(Subquery(mine.annotate(n=Count("pk")).values("n")), 0),
            utterances=Coalesce(Subquery(mine.annotate(n=Count("utterance", distinct=True)).values("n")), 0),
            text=Coalesce(Subquery(commonest_text(open_ones)), F("text")),
        )


def project_forms_count(*, project: Project) -> None:
    """Count all of a project's forms, after dialogues were archived or restored."""
    surface_forms_count(forms=set(SurfaceForm.objects.filter(project=project).values_list("pk", flat=True)))


def commonest_text(among: QuerySet[Occurrence]) -> QuerySet[Occurrence, str]:
    """For a query of forms: how each is written most often among these occurrences."""
    rows = among.filter(surface_form=OuterRef("pk")).order_by().values("text")
    return rows.annotate(n=Count("pk")).order_by("-n", "text").values_list("text", flat=True)[:1]


def _uses_of(label_set: LabelSet) -> Iterator[Use]:
    """Every value once for each label that has it, in the label's first spelling."""
    dialogue = label_set.dialogue
    utterances = utterance_ids_of(dialogue.pk, dialogue.fingerprint)
    seen: set[tuple[Place, str]] = set()
    for label in labels_of(label_set):
        for value in medical_values(dialogue.project.questionnaire, label):
            place = (value.slot, value.field, surface_key(value.value))
            if (place, label.id) not in seen:
                seen.add((place, label.id))
                yield Use(place, uuid.UUID(label.id), utterances[label.position], value.value)


def forms_of(project_id: int, texts: Mapping[Place, str]) -> dict[Place, int]:
    """The surface forms at these places by row number, made where they are missing."""
    found = _forms_at(project_id, texts)
    missing = [place for place in texts if place not in found]
    if missing:
        SurfaceForm.objects.bulk_create(
            SurfaceForm(project_id=project_id, slot=place[0], field=place[1], key=place[2], text=texts[place])
            for place in missing
        )
        found |= _forms_at(project_id, missing)
    return found


def _forms_at(project_id: int, places: Iterable[Place]) -> dict[Place, int]:
    wanted = set(places)
    found: dict[Place, int] = {}
    for keys in _parts(sorted({key for _, _, key in wanted})):
        rows = SurfaceForm.objects.filter(project_id=project_id, key__in=keys)
        for pk, slot, name, key in rows.values_list("pk", "slot", "field", "key"):
            if (slot, name, key) in wanted:
                found[slot, name, key] = pk
    return found


def _write(label_set: LabelSet, forms: Mapping[Place, int], uses: Sequence[Use]) -> set[int]:
    """Bring the label set's occurrences in line. Returns the row numbers of the forms whose counts that changes."""
    present = {
        (form_id, label_id): (pk, text, utterance_id)
        for pk, form_id, label_id, text, utterance_id in Occurrence.objects.filter(label_set=label_set).values_list(
            "pk", "surface_form_id", "label_id", "text", "utterance_id"
        )
    }
    wanted = {(forms[use.place], use.label_id): use for use in uses}
    changed = {
        key
        for key, (_, text, utterance_id) in present.items()
        if key not in wanted or (wanted[key].text, wanted[key].utterance_id) != (text, utterance_id)
    }
    gone = [present[key][0] for key in changed]
    new = [key for key in wanted if key not in present or key in changed]
    touched = {form_id for form_id, _ in (*changed, *new)} | _taken_from_others(label_set, new)
    for pks in _parts(gone):
        Occurrence.objects.filter(pk__in=pks).delete()
    Occurrence.objects.bulk_create(
        Occurrence(
            surface_form_id=form_id,
            label_set=label_set,
            label_id=label_id,
            utterance_id=wanted[form_id, label_id].utterance_id,
            text=wanted[form_id, label_id].text,
        )
        for form_id, label_id in new
    )
    return touched


def _taken_from_others(label_set: LabelSet, new: Sequence[tuple[int, uuid.UUID]]) -> set[int]:
    """A label that was deleted may be made again, under its id, in another label set before the first is collected."""
    touched: set[int] = set()
    for ids in _parts(sorted({label_id for _, label_id in new})):
        rows = Occurrence.objects.filter(label_id__in=ids).exclude(label_set=label_set)
        touched |= set(rows.values_list("surface_form_id", flat=True))
        rows.delete()
    return touched


def same_words_outdated(*, form: SurfaceForm) -> None:
    """Have candidates found anew for what is undecided of the same words, in whatever slot and field: the ranking takes
    into account what was decided about them elsewhere. Until then the old candidates stay.

    Each call marks the forms by a name of its own, so that a worker that read the decisions before this one does not
    pass its result off as the present one.
    """
    decided = Decision.objects.filter(surface_form=OuterRef("pk")).standing().of_forms().order_by()
    same = SurfaceForm.objects.filter(~Exists(decided), project_id=form.project_id, key=form.key).order_by()
    if same.update(linked_with=f"{OUTDATED} {uuid.uuid4().hex}"):
        transaction.on_commit(lambda: send("link_forms", form.project_id))


def _parts(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), AT_ONCE):
        yield items[start : start + AT_ONCE]
