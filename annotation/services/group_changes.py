"""People who join or leave after the dialogues were divided: only untouched work changes hands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db import transaction

from annotation.domain.assignment import (
    Assignment,
    AssignmentError,
    AssignmentPlan,
    DialogueSize,
    PlanChanges,
    Share,
    plan_changes,
)
from annotation.models import LabelSet, Project, Purpose, User
from annotation.services.errors import Refused
from annotation.services.group_assignment import (
    Outdated,
    Written,
    annotators_and_others,
    annotators_of,
    fingerprint,
    former_people,
    give,
    held_work,
    keys,
    last_run,
    record_run,
)
from annotation.services.work_gate import NotQualified


@dataclass(frozen=True, slots=True)
class Staff:
    """Who could join and who could leave. `gone` have untouched work and can do it no longer: they must leave."""

    arrivals: tuple[User, ...]
    leavers: tuple[User, ...]
    gone: tuple[User, ...]


def staff(project: Project) -> Staff:
    """The people of the project as the page for changes offers them."""
    able, waiting = annotators_and_others(project)
    former, holding = former_people(project), _holders(project)
    at_work = [person for person in holding.values() if person.pk not in former]
    untouched = {row.annotator_id for row in _untouched(project)}
    # Who waits for the test gets nothing more, and keeps what they were given before it was there.
    gone = [person for person in holding.values() if person.pk in untouched and person not in [*able, *waiting]]
    return Staff(
        arrivals=tuple(person for person in able if person not in at_work),
        leavers=tuple(person for person in at_work if person in [*able, *waiting]),
        gone=tuple(gone),
    )


def changes_plan(
    *, project: Project, arrivals: Sequence[User], leavers: Sequence[User], random_seed: int
) -> PlanChanges:
    """Who hands over what to whom, nothing written. Raises Refused."""
    if project.archived_at is not None:
        raise Refused(f"{project} is archived; restore it before assigning its dialogues.")
    if not arrivals and not leavers:
        raise Refused("Tick at least one person who joins or leaves.")
    able, waiting = annotators_and_others(project)
    barred = [person for person in arrivals if person not in able]
    if barred and barred[0] in waiting:
        raise NotQualified(project, barred[0])
    if barred:
        raise Refused(f"{barred[0].display_name} is no annotator of {project}.", field="arrivals")
    untouched = [(row.dialogue.external_id, _name(row)) for row in _untouched(project)]
    try:
        return plan_changes(
            _plan_at_work(project, leavers, random_seed),
            [person.username for person in arrivals],
            [person.username for person in leavers],
            untouched,
        )
    except AssignmentError as error:
        raise Refused(str(error), field=error.field) from error


@transaction.atomic
def changes_write(
    *,
    project: Project,
    arrivals: Sequence[User],
    leavers: Sequence[User],
    random_seed: int,
    actor: User | None,
    expected: str = "",
) -> Written:
    """Carry the changes out. Raises Outdated when `expected` is not the fingerprint of these changes (any more), and
    Refused as `changes_plan` does."""
    changes = changes_plan(project=project, arrivals=arrivals, leavers=leavers, random_seed=random_seed)
    if expected and expected != changes_fingerprint(changes):
        raise Outdated
    removed = _take(project, changes.taken)
    people = {**_holders(project), **{person.username: person for person in arrivals}}
    created = give(project=project, items=_in_queue_order(changes), people=people, actor=actor)
    _put_in_order(project, changes.plan)
    record_run(
        project=project,
        plan=changes.plan,
        inputs={
            "arrivals": sorted(person.username for person in arrivals),
            "leavers": sorted(person.username for person in leavers),
            "taken": len(changes.taken),
            "assignments": len(changes.given),
        },
        left=(former_people(project) | keys(leavers)) - keys(arrivals),
        actor=actor,
    )
    return Written(changes.plan, len(created), removed)


def changes_fingerprint(changes: PlanChanges) -> str:
    """What a preview of changes is recognised by when it is confirmed."""
    return fingerprint(changes.plan, [[item.dialogue, item.annotator] for item in changes.taken])


def _plan_at_work(project: Project, leavers: Sequence[User], random_seed: int) -> AssignmentPlan:
    """The plan as the label sets show it: what everybody holds, the groups that wait, who gets no more."""
    rows, run = held_work(project), last_run(project)
    leaving, able, former = keys(leavers), keys(annotators_of(project)), former_people(project)
    seeds = _seeds(rows)
    queues: dict[str, list[Assignment]] = {}
    for row in rows:
        external_id = row.dialogue.external_id
        queues.setdefault(_name(row), []).append(Assignment(external_id, _name(row), external_id in seeds))
    shares = []
    for number, (name, person) in enumerate(_holders(project).items(), start=1):
        away = person.pk in former or person.pk not in able
        shares.append(Share(number, name, tuple(queues[name]), left=away and person.pk not in leaving))
    taken = {row.dialogue.external_id for row in rows}
    sizes = {
        row.external_id: DialogueSize(row.external_id, row.utterance_count, row.specialty)
        for row in project.dialogues.open().filter(utterance_count__gt=0).order_by("external_id")
    }
    for waiting in run.waiting if run else []:
        queue = tuple(Assignment(name, "") for name in waiting if name in sizes and name not in taken)
        if queue:
            shares.append(Share(len(shares) + 1, "", queue))
    return AssignmentPlan(sizes, tuple(shares), random_seed, run.number if run else 0)


def _seeds(rows: Sequence[LabelSet]) -> set[str]:
    """Dialogues meant for two, or held by more than one."""
    seen: set[int] = set()
    found = set()
    for row in rows:
        if row.purpose == Purpose.SEED or row.dialogue_id in seen:
            found.add(row.dialogue.external_id)
        seen.add(row.dialogue_id)
    return found


def _holders(project: Project) -> dict[str, User]:
    """Everybody who has one of the dialogues, by user name and in its order."""
    people = {row.annotator.username: row.annotator for row in held_work(project) if row.annotator}
    return dict(sorted(people.items()))


def _untouched(project: Project) -> list[LabelSet]:
    free = set(LabelSet.objects.untouched().filter(dialogue__project=project).values_list("pk", flat=True))
    return [row for row in held_work(project) if row.pk in free]


def _name(row: LabelSet) -> str:
    assert row.annotator is not None  # the database holds annotators' label sets to it
    return row.annotator.username


def _take(project: Project, items: Sequence[Assignment]) -> int:
    """Delete these label sets. Raises Outdated where one is no longer untouched."""
    wanted = {(item.dialogue, item.annotator) for item in items}
    rows = [row.pk for row in _untouched(project) if (row.dialogue.external_id, _name(row)) in wanted]
    deleted, _ = LabelSet.objects.filter(pk__in=rows).delete()
    if deleted != len(wanted):
        raise Outdated
    return deleted


def _in_queue_order(changes: PlanChanges) -> list[Assignment]:
    given = {(item.dialogue, item.annotator) for item in changes.given}
    queues = [replace(item, kept=False) for item in changes.plan.assignments]
    return [item for item in queues if (item.dialogue, item.annotator) in given]


def _put_in_order(project: Project, plan: AssignmentPlan) -> None:
    """Number everybody's queue anew, since what is handed over goes in between."""
    places = {
        (item.dialogue, item.annotator): place
        for share in plan.shares
        for place, item in enumerate(share.queue, start=1)
    }
    moved = []
    for row in held_work(project):
        place = places.get((row.dialogue.external_id, _name(row)), row.queue_order)
        if place != row.queue_order:
            row.queue_order = place
            moved.append(row)
    LabelSet.objects.bulk_update(moved, ["queue_order"])
