"""People who join or leave while the work goes on: only work that nobody has begun changes hands.

What counts is the work that is left, not the work that is done: it is shared so that all can finish at about the same
time. Nothing is taken from somebody who stays, except to give it to somebody who joins.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from annotation.domain.assignment_notices import about_pairs
from annotation.domain.assignment_pairs import Pairing, pair_of
from annotation.domain.assignment_plan import Assignment, AssignmentError, AssignmentPlan, Share


@dataclass(frozen=True, slots=True)
class PlanChanges:
    """The new plan, and what it takes to get there: first everything `taken`, then everything `given`."""

    plan: AssignmentPlan
    taken: tuple[Assignment, ...]
    given: tuple[Assignment, ...]
    notices: tuple[str, ...]


def plan_changes(
    plan: AssignmentPlan,
    arrivals: Sequence[str],
    leavers: Sequence[str],
    untouched: Collection[tuple[str, str]],
) -> PlanChanges:
    """Hand over untouched work. `untouched` are (dialogue, annotator) that nobody has begun; all else stays in place.

    Leavers lose what they have not begun. A seed keeps two annotators: its new one is chosen like the first ones.
    Those who join first take a group that waits, otherwise untouched dialogues and seeds of all others.
    Raises AssignmentError.
    """
    _check(plan, arrivals, leavers, untouched)
    names = sorted({*(share.annotator for share in plan.shares if share.annotator), *arrivals})
    # A text makes the same draw on every machine; the revision makes each change a new draw.
    draw = random.Random(f"{plan.random_seed}/{plan.revision + 1}")  # noqa: S311
    draw.shuffle(names)
    change = _Change(
        plan, names=names, arrivals=sorted(arrivals), leavers=sorted(leavers), untouched=set(untouched), draw=draw
    )
    pool = change.take_from_leavers()
    change.seat_arrivals()
    change.give_seeds([item for item in pool if item.seed])
    change.give_seeds_to_arrivals()
    change.give_ordinary([item for item in pool if not item.seed])
    change.level_with_arrivals()
    return change.result()


class _Change:
    """The queues while they are changed. Seeds that somebody shares with a leaver count in `pairing` all the same."""

    def __init__(
        self,
        plan: AssignmentPlan,
        *,
        names: list[str],
        arrivals: list[str],
        leavers: list[str],
        untouched: set[tuple[str, str]],
        draw: random.Random,
    ) -> None:
        self.plan, self.arrivals, self.leavers, self.untouched, self.draw = plan, arrivals, leavers, untouched, draw
        self.waited: set[Assignment] = set()  # what those who join got with a group that waited
        self.lot = {name: place for place, name in enumerate(names)}
        self.shares = list(plan.shares)
        self.queues = [[replace(item, kept=True) for item in share.queue] for share in plan.shares]
        self.holders = {dialogue: set(who) for dialogue, who in plan.holders.items()}
        self.pairing = Pairing(names)
        for (one, other), count in plan.pair_counts.items():
            self.pairing.add(one, other, count)
        gone = set(leavers)
        self.active = [name for name in names if name not in gone and (name in plan.annotators or name in arrivals)]

    def take_from_leavers(self) -> list[Assignment]:
        """Everything they have not begun, in the order of their queues."""
        pool: list[Assignment] = []
        for name in self.leavers:
            place = self._place(name)
            self.shares[place] = replace(self.shares[place], left=True)
            pool += [item for item in self.queues[place] if self._free(item)]
        for item in pool:
            self._take(item)
        if any(item.seed for item in pool) and len(self.active) < 2:
            raise AssignmentError(
                "With fewer than two annotators at work, untouched seed dialogues would lose their second reader; "
                "let somebody join first."
            )
        if pool and not self.active:
            raise AssignmentError("Nobody is left to take over the untouched dialogues; let somebody join first.")
        return pool

    def seat_arrivals(self) -> None:
        """Everybody who joins gets their former share back, else a group that waits, else a new and empty share."""
        for name in self.arrivals:
            former = [place for place, share in enumerate(self.shares) if share.annotator == name]
            waiting = [place for place, share in enumerate(self.shares) if not share.annotator]
            new_group = max(share.group for share in self.shares) + 1
            if former:
                share = self.shares[former[0]]
                self.shares[former[0]] = replace(share, left=False, group=share.group or new_group)
            elif waiting:
                self._hand_over(waiting[0], name)
            else:
                self.shares.append(Share(new_group, name))
                self.queues.append([])

    def give_seeds(self, lost: list[Assignment]) -> None:
        """A new annotator for every seed that a leaver gave back."""
        for item in lost:
            having = self.holders[item.dialogue]
            others = [name for name in self.active if name not in having]
            if not others:
                raise AssignmentError(
                    f"Nobody is left who could label the seed dialogue {item.dialogue} a second time."
                )
            pairing = self.pairing
            new = pairing.partner_for(min(having), others) if having else pairing.next_pair(others)[0]
            self._give(item, new)

    def give_seeds_to_arrivals(self) -> None:
        """As many untouched seeds for everybody who joins as there are for each, with as many partners as possible."""
        free = [item for queue in self.queues for item in queue if item.seed and self._free(item)]
        target = len(free) // len(self.active) if self.active else 0
        for name in self.arrivals:
            while self._seeds_left(name) < target:
                item = self._seed_for(name, target)
                if item is None:
                    break
                self._take(item)
                self._give(item, name)

    def give_ordinary(self, lost: list[Assignment]) -> None:
        """The longest first, always to whom least is left."""
        for item in sorted(lost, key=lambda item: (-self._size(item), item.dialogue)):
            self._give(item, min(self.active, key=lambda name: (self._left(name), self.lot[name])))

    def level_with_arrivals(self) -> None:
        """Those who stay hand untouched dialogues over, or get some of a group that waited: it had no seeds in it."""
        staying = [name for name in self.active if name not in self.arrivals]
        self._level(staying, self.arrivals)
        self._level(self.arrivals, staying, waited_only=True)

    def _level(self, givers: list[str], takers: list[str], *, waited_only: bool = False) -> None:
        """From whom most is left to whom least is left, while that brings the two nearer."""
        while givers and takers:
            giver = max(givers, key=lambda name: (self._left(name), -self.lot[name]))
            taker = min(takers, key=lambda name: (self._left(name), self.lot[name]))
            difference = self._left(giver) - self._left(taker)
            free = [item for item in self._queue(giver) if not item.seed and self._free(item)]
            fitting = sorted(
                (self._size(item), item.dialogue, item)
                for item in free
                if self._size(item) < difference and (item in self.waited or not waited_only)
            )
            if not fitting:
                return
            place = bisect_left(fitting, difference / 2, key=lambda entry: entry[0])
            near = fitting[max(place - 1, 0) : place + 1]
            item = min(near, key=lambda entry: (abs(difference - 2 * entry[0]), entry[1]))[2]
            self._take(item)
            self._give(item, taker)

    def result(self) -> PlanChanges:
        shares = tuple(
            replace(share, queue=tuple(queue)) for share, queue in zip(self.shares, self.queues, strict=True)
        )
        before, after = set(_held(self.plan.assignments)), set(_held(tuple(i for share in shares for i in share.queue)))
        draft = AssignmentPlan(self.plan.sizes, shares, self.plan.random_seed, self.plan.revision + 1)
        notices = (*self._begun(), *about_pairs(draft))
        plan = replace(draft, notices=notices)
        taken = tuple(sorted(before - after, key=_by_annotator))
        return PlanChanges(plan, taken, tuple(sorted(after - before, key=_by_annotator)), notices)

    def _begun(self) -> list[str]:
        """What stays with those who leave."""
        notices = []
        for name in self.leavers:
            count = len(self._queue(name))
            if count:
                what = "1 dialogue, which stays" if count == 1 else f"{count} dialogues, which stay"
                notices.append(f"{name} has begun or finished {what} with {name}.")
        return notices

    def _seed_for(self, name: str, target: int) -> Assignment | None:
        """The untouched seed whose handing over connects most, makes the rarest pair, and costs its giver least."""
        best: tuple[tuple[int, int, int, int, int, str], Assignment] | None = None
        for giver in self.active:
            spare = self._seeds_left(giver) - target
            if giver in self.arrivals or spare <= 0:
                continue
            for item in self._queue(giver):
                if item.seed and self._free(item) and name not in self.holders[item.dialogue]:
                    worth = (*self._worth(item, name), -spare, self.lot[giver], item.dialogue)
                    if best is None or worth < best[0]:
                        best = worth, item
        return best[1] if best else None

    def _worth(self, item: Assignment, name: str) -> tuple[int, int, int]:
        """The parts the annotators would fall into, how often the new pair is there, how rare the old pair is."""
        others = self.holders[item.dialogue] - {item.annotator}
        counts = self.pairing.counts
        new = max((counts[pair_of(name, other)] for other in others), default=0)
        old = min((counts[pair_of(item.annotator, other)] for other in others), default=0)
        self._count(item, -1)
        for other in others:
            self.pairing.add(name, other)
        parts = self.pairing.parts()
        for other in others:
            self.pairing.add(name, other, -1)
        self._count(item, 1)
        return parts, new, -old

    def _hand_over(self, place: int, name: str) -> None:
        """A group that waits becomes this person's."""
        self.shares[place] = replace(self.shares[place], annotator=name)
        self.queues[place] = [replace(item, annotator=name, kept=False) for item in self.queues[place]]
        self.waited.update(self.queues[place])
        self.untouched |= {(item.dialogue, name) for item in self.queues[place]}
        self.holders.update({item.dialogue: {name} for item in self.queues[place]})

    def _count(self, item: Assignment, change: int) -> None:
        if item.seed:
            for other in self.holders[item.dialogue] - {item.annotator}:
                self.pairing.add(item.annotator, other, change)

    def _take(self, item: Assignment) -> None:
        self._count(item, -1)
        self.holders[item.dialogue].discard(item.annotator)
        self._queue(item.annotator).remove(item)

    def _give(self, item: Assignment, name: str) -> None:
        """Put it somewhere among what they have not begun, so that its place says nothing."""
        new = Assignment(item.dialogue, name, item.seed)
        queue = self._queue(name)
        begun = [place for place, other in enumerate(queue) if not self._free(other)]
        queue.insert(self.draw.randint(begun[-1] + 1 if begun else 0, len(queue)), new)
        self.holders[new.dialogue].add(name)
        self.untouched.add((new.dialogue, name))
        self._count(new, 1)

    def _free(self, item: Assignment) -> bool:
        return (item.dialogue, item.annotator) in self.untouched

    def _size(self, item: Assignment) -> int:
        return self.plan.sizes[item.dialogue].utterances

    def _left(self, name: str) -> int:
        """Utterances that this annotator has not begun."""
        return sum(self._size(item) for item in self._queue(name) if self._free(item))

    def _seeds_left(self, name: str) -> int:
        return sum(item.seed and self._free(item) for item in self._queue(name))

    def _place(self, name: str) -> int:
        return next(place for place, share in enumerate(self.shares) if share.annotator == name)

    def _queue(self, name: str) -> list[Assignment]:
        return self.queues[self._place(name)]


def _check(
    plan: AssignmentPlan, arrivals: Sequence[str], leavers: Sequence[str], untouched: Collection[tuple[str, str]]
) -> None:
    for names, doing in ((arrivals, "joining"), (leavers, "leaving")):
        twice = sorted(name for name in set(names) if names.count(name) > 1)
        if twice:
            raise AssignmentError(f"{twice[0]} is listed twice among those {doing}; list everybody once.")
    for name in arrivals:
        if not name or name in leavers:
            raise AssignmentError(
                f"{name} cannot join and leave at once." if name else "Somebody who joins has no name."
            )
        if name in plan.annotators:
            raise AssignmentError(f"{name} has a group already and cannot join again.")
    for name in leavers:
        if name not in plan.annotators:
            raise AssignmentError(f"{name} has no group and cannot leave.")
    held = {(item.dialogue, item.annotator) for item in plan.assignments}
    for dialogue, annotator in sorted(untouched):
        if (dialogue, annotator) not in held:
            raise AssignmentError(
                f"{annotator} does not have the dialogue {dialogue}; leave it out of the untouched ones."
            )


def _held(assignments: Sequence[Assignment]) -> list[Assignment]:
    return [replace(item, kept=False) for item in assignments if item.annotator]


def _by_annotator(item: Assignment) -> tuple[str, str]:
    return item.annotator, item.dialogue
