"""Dialogues dealt to groups so that all groups have about the same number of utterances."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Sequence

from annotation.domain.assignment_pairs import Pair
from annotation.domain.assignment_plan import TOLERANCE, DialogueSize, imbalance

MAX_EXCHANGES = 20_000
Exchange = tuple[DialogueSize, DialogueSize | None]  # what the heavier group gives, and what it gets back


def deal(dialogues: Sequence[DialogueSize], loads: Sequence[int]) -> list[list[DialogueSize]]:
    """A list of dialogues for each group, given the utterances it already has.

    Each specialty is dealt on its own, the longest dialogue first and always to the lightest group, so that the groups
    get a mixture; then dialogues of one specialty are exchanged, and others only where the balance needs it.
    """
    groups: list[list[DialogueSize]] = [[] for _ in loads]
    carried = list(loads)
    for specialty in _by_weight(dialogues):
        chosen = [item for item in dialogues if item.specialty == specialty]
        for item in sorted(chosen, key=lambda item: -item.utterances):
            place = carried.index(min(carried))
            groups[place].append(item)
            carried[place] += item.utterances
    _even_out(groups, carried, same_specialty=True)
    if imbalance(carried) > TOLERANCE:
        _even_out(groups, carried, same_specialty=False)
    return groups


def deal_seeds(seeds: Sequence[DialogueSize], pairs: Sequence[Pair], loads: dict[str, int]) -> list[DialogueSize]:
    """The seeds in the order of the pairs that share them. `loads` (utterances by annotator) is brought up to date."""
    given: list[DialogueSize | None] = [None] * len(pairs)
    free = list(range(len(pairs)))
    for seed in sorted(seeds, key=lambda item: -item.utterances):
        place = min(free, key=lambda place: (loads[pairs[place][0]] + loads[pairs[place][1]], place))
        free.remove(place)
        given[place] = seed
        for annotator in pairs[place]:
            loads[annotator] += seed.utterances
    return [seed for seed in given if seed is not None]


def exchange_seeds(given: list[DialogueSize], pairs: Sequence[Pair], loads: dict[str, int]) -> None:
    """Exchange seeds between pairs while that brings the loads nearer to each other; changes its arguments."""
    for _ in range(MAX_EXCHANGES):
        found = _better_seed_exchange(given, pairs, loads)
        if found is None:
            return
        one, other = found
        for annotator, change in _load_changes(given, pairs, one, other).items():
            loads[annotator] += change
        given[one], given[other] = given[other], given[one]


def spread(ordinary: Sequence[str], seeds: Sequence[str], draw: random.Random) -> list[str]:
    """One queue: the seeds in drawn order at drawn places, one in each of as many equal stretches of the queue.

    The very first and last places are left to ordinary dialogues where a stretch has room.
    """
    rest, chosen = list(ordinary), list(seeds)
    draw.shuffle(rest)
    draw.shuffle(chosen)
    total = len(rest) + len(chosen)
    queue: list[str] = []
    for number, seed in enumerate(chosen):
        start, end = number * total // len(chosen), (number + 1) * total // len(chosen)
        inner = [place for place in range(start, end) if 0 < place < total - 1]
        place = draw.choice(inner or range(start, end))
        while len(queue) < place:
            queue.append(rest.pop())
        queue.append(seed)
    return queue + rest[::-1]


def _by_weight(dialogues: Sequence[DialogueSize]) -> list[str]:
    """The specialties, the one with most utterances first."""
    weights: dict[str, int] = {}
    for item in dialogues:
        weights[item.specialty] = weights.get(item.specialty, 0) + item.utterances
    return sorted(weights, key=lambda name: (-weights[name], name))


def _even_out(groups: list[list[DialogueSize]], loads: list[int], *, same_specialty: bool) -> None:
    """Exchange dialogues as long as the loads come nearer to each other; each exchange lowers the sum of squares."""
    for _ in range(MAX_EXCHANGES):
        by_load = sorted(range(len(groups)), key=lambda place: (loads[place], place))
        candidates = [(by_load[-1], light) for light in by_load[:-1]]
        candidates += [(heavy, by_load[0]) for heavy in reversed(by_load[1:-1])]
        for heavy, light in candidates:
            exchange = _exchange(groups[heavy], groups[light], loads[heavy] - loads[light], same_specialty)
            if exchange is not None:
                _apply(groups, loads, heavy, light, exchange)
                break
        else:
            return


def _exchange(
    heavy: list[DialogueSize], light: list[DialogueSize], difference: int, same_specialty: bool
) -> Exchange | None:
    """What to exchange so that the difference of the two loads shrinks most, None where nothing makes it smaller."""
    best: tuple[int, Exchange] | None = None
    shelves = _shelves(light, same_specialty)
    for item in heavy:
        shelf = shelves.get(item.specialty if same_specialty else "", [])
        options: list[DialogueSize | None] = [None] if not same_specialty or not shelf else []
        place = bisect_left(shelf, item.utterances - difference / 2, key=lambda other: other.utterances)
        options += shelf[max(place - 1, 0) : place + 1]
        for other in options:
            moved = item.utterances - (other.utterances if other else 0)
            rest = abs(difference - 2 * moved)
            if rest < difference and (best is None or rest < best[0]):
                best = rest, (item, other)
    return best[1] if best else None


def _shelves(dialogues: list[DialogueSize], same_specialty: bool) -> dict[str, list[DialogueSize]]:
    shelves: dict[str, list[DialogueSize]] = {}
    for item in sorted(dialogues, key=lambda item: item.utterances):
        shelves.setdefault(item.specialty if same_specialty else "", []).append(item)
    return shelves


def _apply(groups: list[list[DialogueSize]], loads: list[int], heavy: int, light: int, exchange: Exchange) -> None:
    given, back = exchange
    groups[heavy].remove(given)
    groups[light].append(given)
    moved = given.utterances
    if back is not None:
        groups[light].remove(back)
        groups[heavy].append(back)
        moved -= back.utterances
    loads[heavy] -= moved
    loads[light] += moved


def _better_seed_exchange(
    given: list[DialogueSize], pairs: Sequence[Pair], loads: dict[str, int]
) -> tuple[int, int] | None:
    """The first exchange between a pair of the heaviest annotator and another that lowers the sum of squares."""
    for heaviest in sorted(loads, key=lambda name: (-loads[name], name)):
        for one, pair in enumerate(pairs):
            if heaviest not in pair:
                continue
            for other in range(len(pairs)):
                if given[other].utterances < given[one].utterances:
                    changes = _load_changes(given, pairs, one, other)
                    if sum((2 * loads[name] + change) * change for name, change in changes.items()) < 0:
                        return one, other
    return None


def _load_changes(given: list[DialogueSize], pairs: Sequence[Pair], one: int, other: int) -> dict[str, int]:
    """What the loads change by when the two pairs exchange their seeds."""
    moved = given[one].utterances - given[other].utterances
    changes: dict[str, int] = {}
    for name in pairs[one]:
        changes[name] = changes.get(name, 0) - moved
    for name in pairs[other]:
        changes[name] = changes.get(name, 0) + moved
    return changes
