"""What a supervisor should know of a plan before it is written, one sentence each."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.domain.assignment_plan import TOLERANCE, AssignmentPlan, Share
from annotation.domain.numbers import counted, per_cent


def plan_notices(plan: AssignmentPlan, annotators: Sequence[str], seeds: int) -> tuple[str, ...]:
    """`annotators` are all who could have got a group, `seeds` the number that was asked for."""
    notices = _about_groups(plan, annotators) + about_pairs(plan)
    if len(plan.seeds) > seeds:
        notices.append(
            f"{counted(len(plan.seeds), 'dialogue')} {'is a seed' if len(plan.seeds) == 1 else 'are seeds'} already, "
            f"more than the {seeds} asked for; no new one was chosen."
        )
    new = any(item.annotator and not item.kept for item in plan.assignments)
    if new and plan.imbalance > TOLERANCE:
        notices.append(
            f"The groups differ from their mean by up to {per_cent(plan.imbalance)}; "
            "the sizes of the dialogues, or what is assigned already, allow no better."
        )
    return tuple(notices)


def about_pairs(plan: AssignmentPlan) -> list[str]:
    """Whether the shared seeds connect everybody, and give everybody several partners."""
    people, pairs = plan.annotators, plan.pair_counts
    if not plan.seeds or len(people) < 3:
        return []
    partners = {
        name: {
            one if other == name else other for (one, other), count in pairs.items() if count and name in (one, other)
        }
        for name in people
    }
    notices = []
    if not _connected(partners, people):
        notices.append(
            f"The seed dialogues do not connect all {len(people)} annotators; "
            f"{len(people) - 1} seeds connect them, {len(people)} give each two partners."
        )
    lonely = [name for name in people if len(partners[name]) < 2]
    if lonely:
        notices.append(f"Fewer than two partners on seed dialogues: {', '.join(lonely)}; choose more seeds.")
    return notices


def _connected(partners: dict[str, set[str]], people: Sequence[str]) -> bool:
    """Somebody who works no longer connects people too, by the seeds they shared."""
    reached, ahead = {people[0]}, [people[0]]
    while ahead:
        here = ahead.pop()
        near = partners.get(here) or set()
        near = near | {name for name, others in partners.items() if here in others}
        ahead.extend(near - reached)
        reached |= near
    return reached.issuperset(people)


def _about_groups(plan: AssignmentPlan, annotators: Sequence[str]) -> list[str]:
    waiting = [share for share in plan.shares if not share.annotator]
    without = sorted(set(annotators) - set(plan.annotators))
    if waiting:
        return [
            f"There are more groups than annotators: {_size(plan, waiting)} for somebody who joins later; "
            f"choose {len(plan.annotators)} groups to divide everything now."
        ]
    if without:
        return [
            f"There are fewer groups than annotators, and a group is one person's share: {', '.join(without)} "
            f"{'gets' if len(without) == 1 else 'get'} none; choose {len(annotators)} groups to give everybody one."
        ]
    return []


def _size(plan: AssignmentPlan, shares: Sequence[Share]) -> str:
    items = [item for share in shares for item in share.queue]
    utterances = sum(plan.sizes[item.dialogue].utterances for item in items)
    groups, wait = ("1 group", "waits") if len(shares) == 1 else (f"{len(shares)} groups", "wait")
    return f"{groups} ({counted(len(items), 'dialogue')}, {counted(utterances, 'utterance')}) {wait}"
