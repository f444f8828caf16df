"""Dialogues divided among annotators: groups of about the same number of utterances, with seed dialogues in them.

A **group** is one person's share: as many groups as annotators, one each. With more groups than annotators, the groups
that are left over wait for people who join later; with fewer, some annotators, drawn by lot, get none. A **seed** is a
dialogue that exactly two annotators label, each on their own, so that their agreement can be measured; it counts in
both shares. Who shares seeds with whom is as even as possible and connects everybody (see `assignment_pairs`).

The same input gives the same plan, whatever the order in which dialogues and annotators are handed over: all chance
comes from the one stated random seed.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from annotation.domain.assignment_balance import deal, deal_seeds, exchange_seeds, spread
from annotation.domain.assignment_changes import PlanChanges, plan_changes
from annotation.domain.assignment_notices import plan_notices
from annotation.domain.assignment_pairs import Pair, Pairing
from annotation.domain.assignment_plan import (
    TOLERANCE,
    Assignment,
    AssignmentError,
    AssignmentPlan,
    DialogueSize,
    Share,
    ShareNumbers,
    imbalance,
)
from annotation.domain.numbers import counted

__all__ = [
    "TOLERANCE",
    "Assignment",
    "AssignmentError",
    "AssignmentPlan",
    "DialogueSize",
    "PlanChanges",
    "Share",
    "ShareNumbers",
    "plan_assignment",
    "plan_changes",
]


def plan_assignment(
    dialogues: Iterable[DialogueSize],
    annotators: Sequence[str],
    *,
    groups: int,
    seeds: int | float,
    random_seed: int,
    already: Iterable[Assignment] = (),
) -> AssignmentPlan:
    """The whole plan, nothing written. `seeds` is a number of dialogues, or as a float a share of them (0.1).

    What is `already` assigned stays as it is, comes first in its annotator's queue and counts in the balance; a
    dialogue that two annotators have, or that is marked as a seed there, counts as one of the `seeds`. A marked seed
    that only one annotator has gets its second one. Raises AssignmentError.
    """
    sizes = _sizes(dialogues)
    _check_people(annotators, groups, len(sizes))
    before = _existing(already, sizes)
    number = _number_of_seeds(seeds, len(sizes))
    draw = random.Random(random_seed)  # noqa: S311 - chance that can be repeated is what is wanted here
    holders = _holders(annotators, groups, before, draw)
    job = _Job(sizes, holders, groups, before, draw)
    if (number or job.half_seeds) and len(holders) < 2:
        raise AssignmentError(
            "Seed dialogues need at least two annotators with a group each; choose more, or no seeds.",
            field="seeds",
        )
    job.complete_half_seeds()
    job.add_seeds(number)
    job.deal_ordinary()
    shares = job.shares()
    plan = AssignmentPlan(sizes, shares, random_seed)
    return AssignmentPlan(sizes, shares, random_seed, 0, plan_notices(plan, annotators, number))


@dataclass(slots=True)
class _Job:
    """The plan while it is made; its methods are called once each, in the order in which they stand here."""

    sizes: dict[str, DialogueSize]
    people: list[str]  # the annotators with a group, in an order drawn by lot
    groups: int
    before: dict[str, list[Assignment]]  # what each dialogue's annotators have of it already
    draw: random.Random
    pairing: Pairing = field(init=False)
    seeds: dict[str, list[str]] = field(init=False)  # by annotator, new ones only
    loads: dict[str, int] = field(init=False)  # utterances by annotator
    ordinary: list[list[DialogueSize]] = field(init=False)  # by group: people first, then groups that wait
    new_seeds: list[DialogueSize] = field(init=False)
    pairs: list[Pair] = field(init=False)

    def __post_init__(self) -> None:
        self.pairing = Pairing(self.people)
        self.seeds = {name: [] for name in self.people}
        self.loads = dict.fromkeys(self.people, 0)
        self.new_seeds, self.pairs = [], []
        for dialogue, items in self.before.items():
            names = [item.annotator for item in items]
            for name in names:
                if name in self.loads:
                    self.loads[name] += self.sizes[dialogue].utterances
            for place, one in enumerate(names):
                for other in names[place + 1 :]:
                    self.pairing.add(one, other)

    @property
    def half_seeds(self) -> list[str]:
        return [name for name, items in self.before.items() if len(items) == 1 and items[0].seed]

    def complete_half_seeds(self) -> None:
        for dialogue in self.half_seeds:
            holder = self.before[dialogue][0].annotator
            others = [name for name in self.people if name != holder]
            if holder in self.loads:
                partner = self.pairing.partner_for(holder, others)
            else:
                partner = min(others, key=self.pairing.degree)
            self.pairing.add(holder, partner)
            self.seeds[partner].append(dialogue)
            self.loads[partner] += self.sizes[dialogue].utterances

    def add_seeds(self, number: int) -> None:
        """Choose as many seeds as are still wanted, and two annotators for each."""
        have = sum(len(items) > 1 or items[0].seed for items in self.before.values())
        free = [self.sizes[name] for name in self.sizes if name not in self.before]
        wanted = max(number - have, 0)
        if wanted > len(free):
            have_left = counted(len(free), "dialogue")
            raise AssignmentError(
                f"{counted(wanted, 'more seed dialogue')} {'is' if wanted == 1 else 'are'} wanted, but only "
                f"{have_left} can still be one; choose fewer seeds.",
                field="seeds",
            )
        for _ in range(wanted):
            pair = self.pairing.next_pair()
            self.pairing.add(*pair)
            self.pairs.append(pair)
        self.new_seeds = deal_seeds(_drawn(free, wanted, self.draw), self.pairs, self.loads)

    def deal_ordinary(self) -> None:
        chosen = {seed.id for seed in self.new_seeds}
        rest = [self.sizes[name] for name in self.sizes if name not in self.before and name not in chosen]
        self.draw.shuffle(rest)
        self._deal(rest)
        if self._imbalance() > TOLERANCE and self.pairs:
            exchange_seeds(self.new_seeds, self.pairs, self.loads)
            self._deal(rest)
        for seed, pair in zip(self.new_seeds, self.pairs, strict=True):
            for name in pair:
                self.seeds[name].append(seed.id)

    def shares(self) -> tuple[Share, ...]:
        """People first, in the order of their names, then the groups that wait, then those who have only past work."""
        old: dict[str, list[Assignment]] = {}
        for dialogue, items in self.before.items():
            seed = len(items) > 1 or items[0].seed
            for item in items:
                old.setdefault(item.annotator, []).append(Assignment(dialogue, item.annotator, seed, kept=True))
        numbered = sorted(zip(self.people, self.ordinary, strict=False), key=lambda entry: entry[0])
        queues = [(name, old.pop(name, []), ordinary) for name, ordinary in numbered]
        queues += [("", [], ordinary) for ordinary in self.ordinary[len(self.people) :]]
        shares = [
            Share(place, name, (*kept, *self._queue(name, ordinary)))
            for place, (name, kept, ordinary) in enumerate(queues, start=1)
        ]
        past = [Share(0, name, tuple(items), left=True) for name, items in sorted(old.items())]
        return (*shares, *past)

    def _deal(self, rest: list[DialogueSize]) -> None:
        waiting = self.groups - len(self.people)
        self.ordinary = deal(rest, [*(self.loads[name] for name in self.people), *[0] * waiting])

    def _imbalance(self) -> float:
        base = [*(self.loads[name] for name in self.people), *[0] * (self.groups - len(self.people))]
        dealt = [sum(item.utterances for item in group) for group in self.ordinary]
        return imbalance([one + other for one, other in zip(base, dealt, strict=True)])

    def _queue(self, name: str, ordinary: list[DialogueSize]) -> list[Assignment]:
        seeds = self.seeds.get(name, [])
        order = spread([item.id for item in ordinary], seeds, self.draw)
        return [Assignment(dialogue, name, dialogue in seeds) for dialogue in order]


def _sizes(dialogues: Iterable[DialogueSize]) -> dict[str, DialogueSize]:
    """By id and in the order of the ids."""
    sizes: dict[str, DialogueSize] = {}
    for item in sorted(dialogues, key=lambda item: item.id):
        if item.id in sizes:
            raise AssignmentError(f"The dialogue {item.id} is listed twice; list it once.")
        if item.utterances < 1:
            raise AssignmentError(f"The dialogue {item.id} has no utterances; leave it out.")
        sizes[item.id] = item
    if not sizes:
        raise AssignmentError("There are no dialogues to divide; choose at least one.")
    return sizes


def _check_people(annotators: Sequence[str], groups: int, dialogues: int) -> None:
    if not annotators:
        raise AssignmentError("There are no annotators; choose at least one.", field="annotators")
    if "" in annotators:
        raise AssignmentError("An annotator has no name; give everybody one.")
    twice = sorted(name for name, count in Counter(annotators).items() if count > 1)
    if twice:
        raise AssignmentError(f"The annotator {twice[0]} is listed twice; list everybody once.")
    if groups < 1:
        raise AssignmentError(f"Dialogues cannot be divided into {groups} groups; choose at least one.", field="groups")
    if groups > dialogues:
        have = counted(dialogues, "dialogue")
        raise AssignmentError(
            f"{have} cannot be divided into {groups} groups; choose {dialogues} groups at most.", field="groups"
        )


def _existing(already: Iterable[Assignment], sizes: dict[str, DialogueSize]) -> dict[str, list[Assignment]]:
    """By dialogue, each with its annotators in the order of their names."""
    table: dict[str, list[Assignment]] = {}
    seen: set[tuple[str, str]] = set()
    for item in sorted(already, key=lambda item: (item.dialogue, item.annotator)):
        if item.dialogue not in sizes:
            raise AssignmentError(f"{item.annotator} already has {item.dialogue}, which is not among the dialogues.")
        if (item.dialogue, item.annotator) in seen:
            raise AssignmentError(f"{item.annotator} is said to have {item.dialogue} twice; say it once.")
        seen.add((item.dialogue, item.annotator))
        table.setdefault(item.dialogue, []).append(item)
    return table


def _number_of_seeds(seeds: int | float, dialogues: int) -> int:
    """A share above 0 is at least one dialogue, and otherwise rounded to the nearest number."""
    if isinstance(seeds, float):
        if not 0 <= seeds <= 1:
            raise AssignmentError(f"The share of seeds must lie between 0 and 1, but it is {seeds:g}.", field="seeds")
        number = max(int(seeds * dialogues + 0.5), 1) if seeds else 0
    else:
        number = seeds
    if number < 0:
        raise AssignmentError(f"There cannot be {number} seed dialogues; choose 0 or more.", field="seeds")
    if number > dialogues:
        have = counted(dialogues, "dialogue")
        raise AssignmentError(f"{number} seed dialogues are wanted out of {have}; choose fewer seeds.", field="seeds")
    return number


def _holders(
    annotators: Sequence[str], groups: int, before: dict[str, list[Assignment]], draw: random.Random
) -> list[str]:
    """Who gets a group, in an order drawn by lot; those who have work already come before others."""
    busy = {item.annotator for items in before.values() for item in items}
    people = sorted(annotators)
    draw.shuffle(people)
    chosen = sorted(people, key=lambda name: name not in busy)[:groups]
    return [name for name in people if name in chosen]


def _drawn(free: list[DialogueSize], wanted: int, draw: random.Random) -> list[DialogueSize]:
    """So many dialogues drawn by lot, from each specialty in proportion (largest remainders)."""
    if not wanted:
        return []
    by_specialty: dict[str, list[DialogueSize]] = {}
    for item in free:
        by_specialty.setdefault(item.specialty, []).append(item)
    names = sorted(by_specialty)
    draw.shuffle(names)
    exact = {name: wanted * len(by_specialty[name]) for name in names}  # in units of 1 / len(free)
    quota = {name: count // len(free) for name, count in exact.items()}
    by_remainder = sorted(names, key=lambda name: -(exact[name] % len(free)))
    for name in by_remainder[: wanted - sum(quota.values())]:
        quota[name] += 1
    return [item for name in names for item in draw.sample(by_specialty[name], quota[name])]
