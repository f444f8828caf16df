"""What an export would hold, and what it would lack, before it is made: each lack with the place where it is mended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from django.db.models import Count, Q

from annotation.domain.adjudication import Resolution
from annotation.domain.completeness import questions
from annotation.domain.concepts import MedicalValue, Outcome, Place, medical_values, surface_key
from annotation.domain.dataset_writing import CONTROL
from annotation.domain.labels import Label as LabelData
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.splits import DRAWN, Shares, Split, commonest_specialty, known_splits
from annotation.models import AdjudicationDecision, Dialogue, Label, LabelSet, Owner, Project, Purpose, Utterance
from annotation.models.labels import REAL_WORK
from annotation.services.concept_linking import linker
from annotation.services.errors import Refused
from annotation.services.export_readings import (
    FINISHED,
    GOLD,
    ExportOptions,
    ExportPart,
    candidates_of,
    nothing_there,
    parts_of,
    real_work,
    splits_of,
)
from annotation.services.known_gaps import Lacks, lacks_of
from annotation.services.readings import LABEL_COLUMNS, label_from_row

NOT_SAID = "no label, and not everybody who read it said why there is nothing to label"


class Lack(StrEnum):
    DAMAGED = "damaged"  # labels that the database holds in a form that cannot be read: the dialogue is left out
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


@dataclass(frozen=True, slots=True)
class Drawing:
    """Of the dialogues that are exported: how many keep the split they came with, how many are drawn, and whether the
    test set is known without a draw."""

    fixed: int = 0
    drawn: int = 0
    test_known: bool = False


@dataclass(slots=True)
class Preflight:
    """`refusal` says why nothing can be exported, where that is so. `fixed` counts the dialogues that keep the split
    they came with.

    Utterances and labels are counted as the data files and the statistics have them: without the closing turns of the
    control speaker, of which there are `closing`. All of them and the splits are of the dialogues that can be written.
    """

    dialogues: int = 0
    readings: int = 0
    utterances: int = 0
    closing: int = 0
    labels: int = 0
    splits: dict[Split, int] = field(default_factory=dict)
    fixed: int = 0
    drawing: Drawing = field(default_factory=Drawing)
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
    every = [row for part in parts for row in part.label_sets]
    lacks = lacks_of(project, every)
    sets = [row for row in every if not lacks[row.pk].damage]
    found.lacks[Lack.DAMAGED] = [
        Item(row.dialogue, _said_by(row, lacks[row.pk].damage, named=len(parts) > 1), row)
        for row in every
        if lacks[row.pk].damage
    ]
    _count(found, sets, splits_of(project, parts, options))
    found.drawing = drawing_of(project, parts, options)
    if options.source == GOLD:
        found.lacks[Lack.NOT_GOLD] = _not_gold(project, {row.dialogue_id for row in every})
    else:
        found.lacks[Lack.NOT_DONE] = _not_done(project, options, {row.pk for row in every})
    _gaps(found, sets, lacks, named=len(parts) > 1)
    found.lacks[Lack.NO_CONCEPT] = _without_concept(project, sets)
    return found


def split_counts(splits: Mapping[str, Split], dialogues: Iterable[str]) -> dict[Split, int]:
    """How many of the dialogues each split has, empty ones too."""
    counts = Counter(splits[one] for one in set(dialogues))
    return {split: counts[split] for split in Split}


def drawing_of(project: Project, parts: Sequence[ExportPart], options: ExportOptions) -> Drawing:
    candidates = candidates_of(project, parts)
    known, drawn = known_splits(candidates, options.specialties or commonest_specialty(candidates))
    fixed = sum(one.fixed is not None for one in candidates)
    return Drawing(fixed, len(drawn), Split.TEST in known.values())


def empty_splits(splits: Mapping[Split, int], shares: Shares, drawing: Drawing) -> list[str]:
    """A sentence about each kind of split that nobody could learn from, be tuned on or be tested on, and about shares
    that cannot be kept. That there are no other specialties is no lack."""
    none = [split for split in DRAWN if not splits[split]]
    few = [split.value for split in none if getattr(shares, split.value)]
    wanted = [split.value for split in none if not getattr(shares, split.value)]
    total = sum(splits.values())
    said = []
    if few and total:
        are = "is" if len(few) == 1 else "are"
        said.append(f"{_listed(few)} {are} empty: {_why_empty(total, drawing)}.")
    if wanted and total:
        are, its = ("is", "its share is") if len(wanted) == 1 else ("are", "their shares are")
        said.append(f"{_listed(wanted)} {are} empty, as {its} 0.")
    if drawing.test_known and drawing.drawn and not shares.train + shares.valid:
        others = "the other dialogue is" if drawing.drawn == 1 else f"the other {drawing.drawn:,} dialogues are"
        said.append(
            "the test set is known by seeds or by dialogues that came with it, and nothing is drawn into it; as these "
            f"shares leave nothing to train and valid, {others} in train."
        )
    return [sentence[:1].upper() + sentence[1:] for sentence in said]


def _why_empty(total: int, drawing: Drawing) -> str:
    if drawing.fixed == total:
        kept = "the only one keeps the split that it" if total == 1 else f"all {total:,} keep the split that they"
        return f"no dialogue is drawn, as {kept} came with"
    if not drawing.drawn:
        return "no dialogue is drawn, as all are seeds, of other specialties or keep the split that they came with"
    if drawing.fixed:
        few = "the 1 dialogue that is drawn is" if drawing.drawn == 1 else f"the {drawing.drawn:,} dialogues drawn are"
        return f"{few} too few for these shares"
    dialogues = "1 dialogue is" if total == 1 else f"{total:,} dialogues are"
    return f"{dialogues} too few for these shares, seeds and specialties"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _count(found: Preflight, sets: Sequence[LabelSet], splits: Mapping[str, Split]) -> None:
    names = {row.dialogue.external_id for row in sets}
    found.dialogues, found.readings = len(names), len(sets)
    closing = Utterance.objects.filter(dialogue__in={row.dialogue_id for row in sets}, speaker=CONTROL)
    turns = Counter(closing.values_list("dialogue_id", flat=True))
    found.closing = sum(turns[row.dialogue_id] for row in sets)
    found.utterances = sum(row.dialogue.utterance_count for row in sets) - found.closing
    found.labels = Label.objects.filter(label_set__in=sets).exclude(utterance__speaker=CONTROL).count()
    found.splits = split_counts(splits, names)
    found.fixed = len({row.dialogue_id for row in sets if row.dialogue.fixed_split})


def _gaps(found: Preflight, sets: Sequence[LabelSet], lacks: Mapping[int, Lacks], *, named: bool) -> None:
    """Incomplete labels and bare utterances of what is exported; `named` says whose they are."""
    kinds: dict[Lack, list[Item]] = {Lack.INCOMPLETE: [], Lack.UNLABELLED: []}
    needless = _needless([row for row in sets if row.owner == Owner.GOLD])
    for row in sorted(sets, key=lambda one: (one.dialogue.external_id, _name(one))):
        for one in questions(lacks[row.pk].gaps):
            if one.label:
                kinds[Lack.INCOMPLETE].append(
                    Item(row.dialogue, _said_by(row, one.text, named=named), row, one.position)
                )
            elif (row.pk, one.position) not in needless:
                text = NOT_SAID if row.owner == Owner.GOLD else one.text
                kinds[Lack.UNLABELLED].append(Item(row.dialogue, _said_by(row, text, named=named), row, one.position))
    found.lacks |= kinds


def _needless(golds: Sequence[LabelSet]) -> set[tuple[int, int]]:
    """(gold, position) of the utterances that are known to need no label: everybody whose labels the gold was made of
    gave a reason, or the adjudicator decided for no label."""
    behind = {pk for row in golds for pk in row.sources.get("label_sets", ())}
    reasons = {
        pk: set(map(int, given))
        for pk, given in LabelSet.objects.filter(pk__in=behind).values_list("pk", "unlabelled_reasons")
    }
    found = set()
    for row in golds:
        read = [reasons.get(pk, set()) for pk in row.sources.get("label_sets", ())]
        found |= {(row.pk, position) for position in (set.intersection(*read) if read else ())}
    none = AdjudicationDecision.objects.filter(gold__in=golds, resolution=Resolution.NONE)
    return found | set(none.values_list("gold_id", "utterance__position"))


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


def _said_by(row: LabelSet, text: str, *, named: bool) -> str:
    return f"{_name(row)}: {text}" if named else text


def _name(row: LabelSet) -> str:
    return row.annotator.display_name if row.annotator else row.owner
