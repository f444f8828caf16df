"""The incomplete labels of a project: found by rule, returned to their annotators with the question, counted.

Counted is what annotators are given to label, seeds included; training and tests are not, since a question would be
help. In a label set that was never finished an utterance without a label is not incomplete but still to come.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from annotation.domain.completeness import Question, Rule, place, questions
from annotation.models import Dialogue, LabelSet, Project, ReturnedItem, Status, User
from annotation.services.errors import Refused
from annotation.services.known_gaps import Lacks, lacks_of
from annotation.services.label_sets import label_set_return, label_set_take_back
from annotation.services.readings import utterance_ids_of
from annotation.services.returned_items import open_items

FINISHED = [Status.DONE, Status.LOCKED, Status.RETURNED]
MAX_NOTE = 1000


@dataclass(frozen=True, slots=True)
class Incomplete:
    """One question that a label set leaves open; `item` when it was returned with it."""

    label_set: LabelSet
    question: Question
    item: ReturnedItem | None = None

    @property
    def key(self) -> str:
        """What a form names it by."""
        return f"{self.label_set.pk}:{self.question.position}:{self.question.label}:{self.question.rule}"


@dataclass(slots=True)
class Completeness:
    """Figures over label sets, and what is incomplete in them in the order of (dialogue, position).

    `labels` and `incomplete` count labels, a label that breaks two rules once. `by_rule` counts what each rule finds:
    labels, or for the fourth rule utterances without one, in all work that was begun. `to_come` are those of the latter
    in work that was never finished: nobody is asked about them, so that the rules add up to the questions and these
    (`sum(by_rule.values()) == len(found) + to_come`).

    `utterances` are those that count as labelled: all of a finished label set, otherwise those with a label; one that
    two people labelled counts twice, and once among the `distinct`. `now` are the utterances with something incomplete;
    `before` these and those whose question was returned and answered.
    """

    label_sets: int = 0
    labels: int = 0
    utterances: int = 0
    distinct: int = 0
    incomplete: int = 0
    now: int = 0
    before: int = 0
    by_rule: dict[str, int] = field(default_factory=lambda: {rule.value: 0 for rule in Rule})
    to_come: int = 0
    returned: int = 0
    answered: int = 0
    found: list[Incomplete] = field(default_factory=list)

    @property
    def asked(self) -> dict[str, int]:
        """By rule, the questions that there are: everything that the rules find but what is still to come."""
        return {**self.by_rule, Rule.UNLABELLED.value: self.by_rule[Rule.UNLABELLED] - self.to_come}

    @property
    def share_before(self) -> float | None:
        return self.before / self.utterances if self.utterances else None

    @property
    def share_now(self) -> float | None:
        return self.now / self.utterances if self.utterances else None

    def as_json(self) -> dict[str, Any]:
        return {
            "labels": self.labels,
            "incomplete": self.incomplete,
            "by_rule": dict(self.by_rule),
            "questions": len(self.found),
            "unlabelled_to_come": self.to_come,
            "label_sets": self.label_sets,
            "utterances": self.utterances,
            "incomplete_utterances": {"before": self.before, "after": self.now},
            "share": {"before": self.share_before, "after": self.share_now},
            "returned": {"open": self.returned, "answered": self.answered},
        }


def completeness_of(project: Project, *, annotator: User | None = None) -> Completeness:
    """What is incomplete in the project's work, or in one annotator's. Four queries, whatever the number of labels."""
    rows = (
        LabelSet.objects.real_work()
        .filter(dialogue__project=project, dialogue__archived_at=None)
        .exclude(status=Status.TODO)
        .select_related("dialogue", "annotator")
        .order_by("dialogue__external_id", "annotator__username", "pk")
    )
    label_sets = list(rows.filter(annotator=annotator) if annotator else rows)
    lacks = lacks_of(project, label_sets)
    items = _items(label_sets)
    result = Completeness(label_sets=len(label_sets))
    missing: dict[Dialogue, set[int]] = {}  # what none of its annotators has labelled
    for row in label_sets:
        without = _count(result, row, lacks[row.pk], items[row.pk])
        missing[row.dialogue] = missing.get(row.dialogue, without) & without
    result.distinct = sum(dialogue.utterance_count - len(none) for dialogue, none in missing.items())
    return result


def _items(label_sets: list[LabelSet]) -> Mapping[int, list[ReturnedItem]]:
    found: dict[int, list[ReturnedItem]] = defaultdict(list)
    chosen = {row.pk for row in label_sets}
    if chosen:
        project = label_sets[0].dialogue.project_id
        rows = ReturnedItem.objects.filter(label_set__dialogue__project=project).select_related("utterance")
        for item in rows:
            if item.label_set_id in chosen:
                found[item.label_set_id].append(item)
    return found


def _count(result: Completeness, row: LabelSet, lacks: Lacks, items: list[ReturnedItem]) -> set[int]:
    """Add a label set to the figures; returns the utterances that do not count as labelled in it."""
    still = {place(item.rule, item.utterance.position, item.label_id): item for item in items if not item.resolved_at}
    finished = row.status in FINISHED or bool(still)
    every = questions(lacks.gaps)
    asked = [one for one in every if finished or one.rule is not Rule.UNLABELLED]
    now = {question.position for question in asked}
    result.labels += lacks.labels
    result.utterances += row.dialogue.utterance_count if finished else lacks.labelled
    result.incomplete += len({question.label for question in asked if question.label})
    result.to_come += len(every) - len(asked)
    result.now += len(now)
    result.before += len(now | {item.utterance.position for item in items if item.resolved_at})
    result.returned += len(still)
    result.answered += sum(item.resolved_at is not None for item in items)
    for rule, number in Counter(question.rule.value for question in every).items():
        result.by_rule[rule] += number
    result.found += [Incomplete(row, question, still.get(question.place)) for question in asked]
    bare = {question.position for question in every if question.rule is Rule.UNLABELLED}
    return set() if finished else bare | {int(position) for position in row.unlabelled_reasons}


@dataclass(frozen=True, slots=True)
class Returned:
    """What became of a return: questions sent, dialogues that went from done to returned, and what was left out."""

    questions: int
    label_sets: int
    gone: int
    locked: int


@transaction.atomic
def gaps_return(*, project: Project, actor: User, keys: Iterable[str], request: str, note: str = "") -> Returned:
    """Ask the annotators about the chosen gaps (`Incomplete.key`); `note` is added to each question.

    A finished label set becomes returned; one that is under way goes on with its questions. What has been closed
    meanwhile, or was returned before, is passed over, and so is what is locked. `request` names this request: the same
    one again changes nothing. Raises Refused when nothing is chosen, or the note is too long.
    """
    chosen = set(keys)
    if not chosen:
        raise Refused("Tick at least one question to return.", field="gap")
    note = note.strip()
    if len(note) > MAX_NOTE:
        raise Refused(f"The sentence may have {MAX_NOTE} characters.", field="note")
    if project.archived_at is not None:
        raise Refused(f"{project} is archived; restore it before work is returned.")
    wanted = [one for one in completeness_of(project).found if one.key in chosen]
    locked = [one for one in wanted if one.label_set.status == Status.LOCKED]
    sending = [one for one in wanted if one not in locked and one.item is None]
    by_set: dict[int, list[Incomplete]] = defaultdict(list)
    for one in sending:
        by_set[one.label_set.pk].append(one)
    moved = [_return(found, actor, request, note) for found in by_set.values()]
    return Returned(len(sending), sum(moved), len(chosen) - len(wanted), len(locked))


def _return(found: list[Incomplete], actor: User, request: str, note: str) -> bool:
    """Store the questions of one label set; whether it was finished and is returned now."""
    label_set = found[0].label_set
    utterance_ids = utterance_ids_of(label_set.dialogue_id, label_set.dialogue.fingerprint)
    ReturnedItem.objects.bulk_create(
        ReturnedItem(
            label_set=label_set,
            utterance_id=utterance_ids[one.question.position],
            label_id=one.question.label,
            rule=one.question.rule.value,
            question=f"{one.question.text} {note}".strip(),
            returned_by=actor,
        )
        for one in found
    )
    if label_set.status != Status.DONE:
        return False
    label_set_return(label_set=label_set, actor=actor, version=label_set.version, key=request)
    return True


@transaction.atomic
def returned_item_take_back(*, item: ReturnedItem, actor: User, request: str) -> None:
    """Do not ask any more. A dialogue that was returned and not touched is done again after its last question.

    Raises Refused when the question was answered: that it was asked is part of the figures.
    """
    label_set = item.label_set
    deleted, _ = ReturnedItem.objects.filter(pk=item.pk, resolved_at=None).delete()
    if not deleted:
        raise Refused("This question was answered meanwhile.")
    if label_set.status == Status.RETURNED and not open_items(label_set).exists():
        label_set_take_back(label_set=label_set, actor=actor, version=label_set.version, key=request)
