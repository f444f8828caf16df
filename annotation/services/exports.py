"""Labels out: a label set as a portal file, a person's label sets as a dataset. Same labels, same bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.domain.concepts import NOTHING_DECIDED, canonical_reading
from annotation.domain.dataset import dialogue_to_dataset
from annotation.domain.portal_file import dump_labels
from annotation.models import Label, LabelSet, Owner, Project, Purpose, Status, User
from annotation.models.labels import REAL_WORK
from annotation.services.concept_linking import linker
from annotation.services.readings import labels_of, reading_of

FINISHED = [Status.DONE.value, Status.LOCKED.value]


@dataclass(frozen=True, slots=True)
class DatasetDialogue:
    """One dialogue of a dataset: its id, the dialogue in the published form, and how many labels it was made from."""

    external_id: str
    dialogue: dict[str, Any]
    labels: int

    @property
    def utterances(self) -> int:
        return len(self.dialogue["utterances"])


@dataclass(frozen=True, slots=True)
class Available:
    """What there is to export of one person: dialogues with at least one label, how many are done, and labels."""

    annotator: User
    dialogues: int
    done: int
    labels: int


def portal_file(*, label_set: LabelSet) -> str:
    """The label set's labels as a portal file, in the order of (utterance, label), with the values as written."""
    return dump_labels(label_set.dialogue.project.questionnaire, labels_of(label_set))


def portal_file_name(*, label_set: LabelSet) -> str:
    """`RES0001.alice.labels.json`: a portal file does not say inside which dialogue it belongs to."""
    owner = label_set.annotator.username if label_set.annotator else label_set.owner
    return f"{_safe(label_set.dialogue.external_id)}.{_safe(owner)}.labels.json"


def dataset_file_name(*, project: Project, annotator: User | None) -> str:
    owner = annotator.username if annotator else Owner.GOLD.value
    return f"{_safe(project.slug)}.{_safe(owner)}.dialogs.json"


def dataset_dialogues(
    *, project: Project, annotator: User | None, done_only: bool = False, surface_forms: bool = False
) -> Iterator[DatasetDialogue]:
    """The dialogues of the person's label sets (of nobody: the gold), in the order of their ids, read one by one.

    Included is every label set with at least one label, whatever its status; with `done_only` those that are done or
    locked. Archived dialogues are left out. Of several label sets on one dialogue that for work counts.

    Values with a decided concept carry its name, in the labels as in the states that follow from them; with
    `surface_forms` every value is as it was written.
    """
    found = exportable(project=project, annotator=annotator) if annotator else gold_sets(project=project)
    rows = found.select_related("dialogue__project").filter(Exists(Label.objects.filter(label_set=OuterRef("pk"))))
    if done_only:
        rows = rows.filter(status__in=FINISHED)
    chosen: dict[str, LabelSet] = {}
    for label_set in sorted(rows, key=lambda row: (row.dialogue.external_id, row.purpose not in REAL_WORK, row.pk)):
        chosen.setdefault(label_set.dialogue.external_id, label_set)
    questionnaire = project.questionnaire
    canon = NOTHING_DECIDED if surface_forms else linker().canon(project.pk)
    for external_id, label_set in chosen.items():
        reading = canonical_reading(questionnaire, reading_of(label_set), canon)
        yield DatasetDialogue(external_id, dialogue_to_dataset(questionnaire, reading), len(reading.labels))


def dataset_text(dialogues: Iterable[DatasetDialogue]) -> Iterator[str]:
    """The text of a dataset file in pieces, one for each dialogue."""
    opening = "{"
    for item in dialogues:
        text = json.dumps({item.external_id: item.dialogue}, indent=1, ensure_ascii=False)
        yield opening + text[1:-2]
        opening = ","
    yield "{}\n" if opening == "{" else "\n}\n"


def dataset_file(
    *, project: Project, annotator: User | None, done_only: bool = False, surface_forms: bool = False
) -> Iterator[str]:
    """The person's dataset, or the gold, as text in pieces (see `dataset_dialogues` for what it includes)."""
    found = dataset_dialogues(project=project, annotator=annotator, done_only=done_only, surface_forms=surface_forms)
    return dataset_text(found)


def available(*, project: Project, annotator: User | None = None) -> list[Available]:
    """What can be exported of everybody who was assigned a dialogue, by user name; of one person if one is named."""
    rows = exportable(project=project, annotator=annotator).order_by()
    labelled = Q(labels__isnull=False)
    counts = rows.values("annotator").annotate(
        dialogue_count=Count("dialogue", distinct=True, filter=labelled),
        done_count=Count("dialogue", distinct=True, filter=labelled & Q(status__in=FINISHED)),
        label_count=Count("labels"),
    )
    by_person = {row["annotator"]: row for row in counts}
    found = []
    for person in User.objects.filter(pk__in=by_person).order_by("username"):
        row = by_person[person.pk]
        found.append(Available(person, row["dialogue_count"], row["done_count"], row["label_count"]))
    return found


def exportable(*, project: Project, annotator: User | None = None) -> QuerySet[LabelSet]:
    """The label sets of people on dialogues that are not archived, in the order of the dialogues' ids; training and
    tests, which are no data, left out."""
    rows = LabelSet.objects.filter(
        dialogue__project=project, dialogue__archived_at=None, owner=Owner.ANNOTATOR
    ).order_by("dialogue__external_id", "pk")
    rows = rows.exclude(purpose__in=[Purpose.TRAINING, Purpose.TEST])
    return rows.filter(annotator=annotator) if annotator else rows


def gold_sets(*, project: Project) -> QuerySet[LabelSet]:
    """The gold of the project's work on dialogues that are not archived, in the order of the dialogues' ids."""
    rows = LabelSet.objects.filter(dialogue__project=project, dialogue__archived_at=None)
    return rows.filter(owner=Owner.GOLD, purpose=Purpose.WORK).order_by("dialogue__external_id", "pk")


def _safe(text: str) -> str:
    """Text as part of a file name on any system."""
    return re.sub(r'[\x00-\x1f\x7f/\\:*?"<>|]', "_", text).strip(". ") or "_"
