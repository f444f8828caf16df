"""Dialogues divided among annotators in one go: planned, looked at, and written exactly as it was looked at."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max

from annotation.domain.assignment import Assignment, AssignmentError, AssignmentPlan, DialogueSize, plan_assignment
from annotation.models import AssignmentRun, Dialogue, LabelSet, Project, Purpose, Role, User
from annotation.models.labels import LabelSetQuerySet
from annotation.services.assignments import check_assignable
from annotation.services.errors import Refused
from annotation.services.work_gate import those_who_may_work


class Outdated(Refused):
    """The plan that was looked at is no longer what would be written."""

    def __init__(self) -> None:
        super().__init__(
            "Meanwhile dialogues, people or their work have changed, so that the plan is another one now; "
            "look at it again."
        )


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: the plan, label sets made and label sets taken back."""

    plan: AssignmentPlan
    created: int
    removed: int = 0


def assignment_plan(
    *, project: Project, annotators: Sequence[User], groups: int, seeds: int | float, random_seed: int
) -> AssignmentPlan:
    """The plan for all open dialogues of the project, nothing written; what is assigned already stays as it is.

    `seeds` is a number of dialogues, or as a float a share of them. Annotators stand under their user names.
    Raises Refused.
    """
    _check_open(project)
    try:
        return plan_assignment(
            dialogue_sizes(project),
            [person.username for person in annotators],
            groups=groups,
            seeds=seeds,
            random_seed=random_seed,
            already=[_as_item(row) for row in held_work(project)],
        )
    except AssignmentError as error:
        raise Refused(str(error), field=error.field) from error


@transaction.atomic
def assignment_write(
    *,
    project: Project,
    annotators: Sequence[User],
    groups: int,
    seeds: int | float,
    random_seed: int,
    actor: User | None,
    expected: str = "",
) -> Written:
    """Make the label sets of the plan. With `expected`, the `fingerprint` of the plan that was looked at, raises
    Outdated when it is no longer that plan; otherwise Refused as `assignment_plan` and `label_set_assign` do."""
    plan = assignment_plan(project=project, annotators=annotators, groups=groups, seeds=seeds, random_seed=random_seed)
    if expected and expected != fingerprint(plan):
        raise Outdated
    people = {person.username: person for person in annotators}
    new = [item for item in plan.assignments if item.annotator and not item.kept]
    created = give(project=project, items=new, people=people, actor=actor)
    before = last_run(project)
    if new or plan_waits(plan) != (before.waiting if before else []):
        inputs = {"annotators": sorted(people), "groups": groups, "seeds": seeds, "assignments": len(new)}
        record_run(
            project=project, plan=plan, inputs=inputs, left=former_people(project) - keys(annotators), actor=actor
        )
    return Written(plan, len(created))


def dialogue_sizes(project: Project) -> list[DialogueSize]:
    """The dialogues there are to divide: neither archived nor empty, and not those that people are trained on or
    tested with, whose gold is known."""
    rows = project.dialogues.open().filter(utterance_count__gt=0, exams=None)
    return [DialogueSize(*row) for row in rows.values_list("external_id", "utterance_count", "specialty")]


def held_work(project: Project) -> list[LabelSet]:
    """Who has which of these dialogues, each once, in the order of the queues."""
    rows: LabelSetQuerySet = LabelSet.objects.real_work().filter(
        dialogue__project=project, dialogue__archived_at=None, dialogue__utterance_count__gt=0, dialogue__exams=None
    )
    rows = rows.select_related("dialogue", "annotator").order_by("queue_order", "pk")
    found: dict[tuple[int, int | None], LabelSet] = {}
    for row in rows:
        found.setdefault((row.dialogue_id, row.annotator_id), row)
    return list(found.values())


def give(
    *, project: Project, items: Sequence[Assignment], people: dict[str, User], actor: User | None
) -> list[LabelSet]:
    """Make the label sets of these assignments, at the end of each annotator's queue and in the order of `items`.

    Seeds and other dialogues are made together, so that neither the number of a label set nor its time tells them
    apart.
    """
    dialogues = {row.external_id: row for row in _dialogues(project, items)}
    last = dict(_ends_of_queues(project, people.values()))
    rows = []
    for name, person in people.items():
        mine = [item for item in items if item.annotator == name]
        if mine:
            check_assignable([dialogues[item.dialogue] for item in mine], person, Purpose.WORK)
        for order, item in enumerate(mine, start=last.get(person.pk, 0) + 1):
            rows.append(
                LabelSet(
                    dialogue=dialogues[item.dialogue],
                    annotator=person,
                    purpose=Purpose.SEED if item.seed else Purpose.WORK,
                    queue_order=order,
                    assigned_by=actor,
                )
            )
    return LabelSet.objects.bulk_create(rows)


def record_run(
    *, project: Project, plan: AssignmentPlan, inputs: dict[str, Any], left: set[int], actor: User | None
) -> AssignmentRun:
    """Keep what was asked for, the groups that wait and the people who get no more."""
    run: AssignmentRun = AssignmentRun.objects.create(
        project=project,
        number=project.assignment_runs.count() + 1,
        random_seed=plan.random_seed,
        inputs=inputs,
        waiting=plan_waits(plan),
        left=sorted(left),
        made_by=actor,
    )
    return run


def last_run(project: Project) -> AssignmentRun | None:
    return project.assignment_runs.select_related("made_by").order_by("-number").first()


def former_people(project: Project) -> set[int]:
    """Keys of those who were said to have left."""
    run = last_run(project)
    return set(run.left) if run else set()


def annotators_of(project: Project) -> list[User]:
    """Everybody who may be given real work (see `work_gate.may_work`), by user name."""
    able, _ = annotators_and_others(project)
    return able


def annotators_at_work(project: Project) -> list[User]:
    """Those of them among whom dialogues are divided unless somebody says otherwise: all who have not left."""
    former = former_people(project)
    return [person for person in annotators_of(project) if person.pk not in former]


def annotators_and_others(project: Project) -> tuple[list[User], list[User]]:
    """Those with the role and an account that is not archived: who may be given real work, and who not yet."""
    rows = User.objects.filter(memberships__project=project, memberships__role=Role.ANNOTATOR, is_active=True)
    people = list(rows.order_by("username"))
    allowed = those_who_may_work(project, people)
    return [row for row in people if row.pk in allowed], [row for row in people if row.pk not in allowed]


def plan_waits(plan: AssignmentPlan) -> list[list[str]]:
    """The dialogues of each group that waits for somebody."""
    return [[item.dialogue for item in share.queue] for share in plan.shares if not share.annotator]


def fingerprint(*parts: Any) -> str:
    """What a preview is recognised by when it is confirmed; `parts` are plans, changes of them and plain values."""
    text = json.dumps([_plain(part) for part in parts], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def seeds_from_text(text: str) -> int | float:
    """“6” is a number of dialogues; “10 %”, “12.5%” and “0.1” are shares. Raises Refused."""
    text = text.strip().replace(",", ".")
    percent = re.fullmatch(r"(\d{1,3}(?:\.\d{1,6})?)\s*%", text, re.ASCII)
    share = re.fullmatch(r"0?\.\d{1,6}|[01]\.\d{0,6}", text, re.ASCII)
    if percent and float(percent[1]) <= 100:
        return float(percent[1]) / 100
    if share and float(text) <= 1:
        return float(text)
    if re.fullmatch(r"\d{1,6}", text, re.ASCII):
        return int(text)
    raise Refused("Give a number of dialogues, like 6, or a share, like 10 %.", field="seeds")


def keys(people: Iterable[User]) -> set[int]:
    return {person.pk for person in people}


def _plain(part: Any) -> Any:
    if isinstance(part, AssignmentPlan):
        queues = [[[item.dialogue, item.seed, item.kept] for item in share.queue] for share in part.shares]
        return [part.as_json(), queues]
    return part


def _as_item(row: LabelSet) -> Assignment:
    assert row.annotator is not None  # the database holds annotators' label sets to it
    return Assignment(row.dialogue.external_id, row.annotator.username, row.purpose == Purpose.SEED)


def _check_open(project: Project) -> None:
    if project.archived_at is not None:
        raise Refused(f"{project} is archived; restore it before assigning its dialogues.")


def _dialogues(project: Project, items: Sequence[Assignment]) -> list[Dialogue]:
    wanted = {item.dialogue for item in items}
    return [row for row in project.dialogues.open().select_related("project") if row.external_id in wanted]


def _ends_of_queues(project: Project, people: Iterable[User]) -> list[tuple[int, int]]:
    rows = LabelSet.objects.real_work().filter(dialogue__project=project, annotator__in=people)
    ends = rows.order_by().values("annotator").annotate(last=Max("queue_order"))
    return list(ends.values_list("annotator", "last"))
