"""What an export would hold, and what it would lack, before it is made: each lack with the place where it is mended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from django.db.models import Count, Q

from annotation.domain.completeness import questions
from annotation.domain.concepts import MedicalValue, Outcome, Place, medical_values, surface_key
from annotation.domain.labels import Label as LabelData
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.splits import Split
from annotation.models import Dialogue, Label, LabelSet, Owner, Project, Purpose
from annotation.models.labels import REAL_WORK
from annotation.services.concept_linking import linker
from annotation.services.errors import Refused
from annotation.services.export_readings import (
    FINISHED,
    GOLD,
    ExportOptions,
    ExportPart,
    nothing_there,
    parts_of,
    real_work,
    splits_of,
)
from annotation.services.known_gaps import lacks_of
from annotation.services.readings import LABEL_COLUMNS, label_from_row


class Lack(StrEnum):
    NOT_GOLD = "not_gold"  # a dialogue without finished gold
    NOT_DONE = "not_done"  # an annotator's work that is not done
    INCOMPLETE = "incomplete"  # an incomplete label in what is exported
    UNLABELLED = "unlabelled"  # an utterance without a label in what is exported
    NO_CONCEPT = "no_concept"  # a medical value in what is exported about which nothing is decided


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that is missing, in words, and where: a dialogue, with the label set and the utterance if it is one's.

    `decidable`: what is missing is an adjudicator's decision. `value`: the medical value that has no concept.
    """

    dialogue: Dialogue
    text: str
    label_set: LabelSet | None = None
    position: int | None = None
    decidable: bool = False
    value: str = ""


@dataclass(slots=True)
class Preflight:
    """`refusal` says why nothing can be exported, where that is so."""

    dialogues: int = 0
    readings: int = 0
    utterances: int = 0
    labels: int = 0
    splits: dict[Split, int] = field(default_factory=dict)
    lacks: dict[Lack, list[Item]] = field(default_factory=dict)
    refusal: str = ""

    @property
    def complete(self) -> bool:
        return not any(self.lacks.values())


def preflight(*, project: Project, options: ExportOptions) -> Preflight:
    """Look through what would be exported. Writes nothing."""
    found = Preflight()
    try:
        parts = parts_of(project, options)
    except Refused as refusal:
        found.refusal = refusal.message
        return found
    if not parts:
        found.refusal = nothing_there(options)
    sets = [row for part in parts for row in part.label_sets]
    _count(found, project, parts, options)
    if options.source == GOLD:
        found.lacks[Lack.NOT_GOLD] = _not_gold(project, {row.dialogue_id for row in sets})
    else:
        found.lacks[Lack.NOT_DONE] = _not_done(project, options, {row.pk for row in sets})
    _gaps(found, project, sets, named=len(parts) > 1)
    found.lacks[Lack.NO_CONCEPT] = _without_concept(project, sets)
    return found


def _count(found: Preflight, project: Project, parts: Sequence[ExportPart], options: ExportOptions) -> None:
    sets = [row for part in parts for row in part.label_sets]
    splits = splits_of(project, parts, options)
    found.dialogues, found.readings = len(splits), len(sets)
    found.utterances = sum(row.dialogue.utterance_count for row in sets)
    counts = Counter(splits.values())
    found.splits = {split: counts[split] for split in Split}


def _gaps(found: Preflight, project: Project, sets: Sequence[LabelSet], *, named: bool) -> None:
    """Incomplete labels and bare utterances of what is exported; `named` says whose they are."""
    lacks = lacks_of(project, sets)
    kinds: dict[Lack, list[Item]] = {Lack.INCOMPLETE: [], Lack.UNLABELLED: []}
    for row in sorted(sets, key=lambda one: (one.dialogue.external_id, _name(one))):
        found.labels += lacks[row.pk].labels
        for one in questions(lacks[row.pk].gaps):
            kind = Lack.INCOMPLETE if one.label else Lack.UNLABELLED
            text = f"{_name(row)}: {one.text}" if named else one.text
            kinds[kind].append(Item(row.dialogue, text, row, one.position))
    found.lacks |= kinds


def _without_concept(project: Project, sets: Sequence[LabelSet]) -> list[Item]:
    """Medical values without a decision, the commonest first, each with the place where it comes first. A value of two
    questions counts twice, as it is decided twice."""
    questionnaire, decided = project.questionnaire, linker().decided_concepts(project.pk)
    by_pk = {row.pk: row for row in sorted(sets, key=lambda one: one.dialogue.external_id)}
    slots = {slot.name for slot, _ in questionnaire.medical_fields()}
    rows = Label.objects.filter(label_set__in=by_pk, slot__in=slots).order_by("utterance__position", "rank")
    labels: dict[int, list[LabelData]] = {}
    for label_set, *values in rows.values_list("label_set_id", *LABEL_COLUMNS):
        labels.setdefault(label_set, []).append(label_from_row(values))
    places: dict[Place, tuple[MedicalValue, LabelSet, int]] = {}
    counts: Counter[Place] = Counter()
    for pk, row in by_pk.items():
        for label in labels.get(pk, ()):
            for one in medical_values(questionnaire, label):
                if decided.about(one.slot, one.field, one.value, label.id).outcome is Outcome.OPEN:
                    place = one.slot, one.field, surface_key(one.value)
                    places.setdefault(place, (one, row, label.position))
                    counts[place] += 1
    return [_open_value(questionnaire, *places[place], number) for place, number in counts.most_common()]


def _open_value(questionnaire: Questionnaire, one: MedicalValue, row: LabelSet, position: int, number: int) -> Item:
    slot = questionnaire.slot(one.slot)
    what = slot.title if slot else one.slot
    if not slot or one.field != slot.head:
        what += f", {one.field.replace('_', ' ')}"
    times = "once" if number == 1 else f"{number} times"
    return Item(row.dialogue, f"{what}: {times}", row, position, value=one.value)


def _not_gold(project: Project, taken: set[int]) -> list[Item]:
    """Dialogues that will be missing from the gold. Those of training and tests are no data."""
    work = Q(label_sets__owner=Owner.ANNOTATOR, label_sets__purpose__in=REAL_WORK)
    gold = Q(label_sets__owner=Owner.GOLD, label_sets__purpose=Purpose.WORK)
    rows = Dialogue.objects.open().filter(project=project, exams=None).exclude(pk__in=taken)
    counted = rows.annotate(
        given=Count("label_sets", filter=work, distinct=True),
        done=Count("label_sets", filter=work & Q(label_sets__status__in=FINISHED), distinct=True),
        golds=Count("label_sets", filter=gold, distinct=True),
    )
    found = []
    for row in counted.order_by("external_id"):
        given, done, golds = row.given, row.done, row.golds  # type: ignore[attr-defined]
        decidable = bool(golds or 0 < given == done)
        found.append(Item(row, _stage(given, done, golds), decidable=decidable))
    return found


def _stage(given: int, done: int, golds: int) -> str:
    if golds:
        return "adjudication is begun but not finished"
    if not given:
        return "nobody has it to label yet"
    if done < given:
        return f"still being labelled ({done} of {given} done)"
    return "labelled by one person, not reviewed" if given == 1 else f"labelled by {given} people, not adjudicated"


def _not_done(project: Project, options: ExportOptions, taken: set[int]) -> list[Item]:
    rows = real_work(project).exclude(pk__in=taken)
    if options.annotator:
        rows = rows.filter(annotator__username=options.annotator)
    return [Item(row.dialogue, f"{_name(row)}: {row.get_status_display()}", row) for row in rows]


def _name(row: LabelSet) -> str:
    return row.annotator.display_name if row.annotator else row.owner
