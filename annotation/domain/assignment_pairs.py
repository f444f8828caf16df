"""Which two annotators share the next seed dialogue.

The pairs of n people are put in an order of which every beginning is fair: nobody stands in it more than once more
often than anybody else, and its first n − 1 pairs connect all of them. For an even n it is a round-robin tournament;
two rounds that follow each other make one ring through all players. For an odd n it is a set of rings through all of
them (the zigzag known from Walecki), and of each ring first every second pair, so that people come up in turn.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

Pair = tuple[str, str]


def pair_of(one: str, other: str) -> Pair:
    return (one, other) if one < other else (other, one)


def fair_order(people: Sequence[str]) -> list[Pair]:
    """All pairs of the people, each once, in the order explained above."""
    count = len(people)
    places = _rings(count) if count % 2 else _rounds(count)
    return [pair_of(people[one], people[other]) for one, other in places]


def _rounds(count: int) -> list[tuple[int, int]]:
    """A tournament of an even number: the last player stays, the others move round."""
    moving = count - 1
    pairs: list[tuple[int, int]] = []
    for turn in range(moving):
        pairs.append((moving, turn))
        pairs.extend(((turn + step) % moving, (turn - step) % moving) for step in range(1, count // 2))
    return pairs


def _rings(count: int) -> list[tuple[int, int]]:
    """Rings through an odd number of players, every second pair of a ring first."""
    moving = count - 1
    pairs: list[tuple[int, int]] = []
    for start in range(moving // 2):
        ring = [moving, start]
        for step in range(1, moving // 2 + 1):
            ring.append((start + step) % moving)
            ring.append((start - step) % moving)
        ring = ring[:count]
        turns = [(2 * turn) % count for turn in range(count)]
        pairs.extend((ring[turn], ring[(turn + 1) % count]) for turn in turns)
    return pairs


class Pairing:
    """The seeds that people share so far, and the choice of who shares the next one."""

    def __init__(self, people: Sequence[str]) -> None:
        """`people` in an order drawn by lot, which decides between choices of the same worth."""
        self.people = tuple(people)
        self.order = {pair: place for place, pair in enumerate(fair_order(people))}
        self.counts: dict[Pair, int] = dict.fromkeys(self.order, 0)

    def add(self, one: str, other: str, change: int = 1) -> None:
        """Count a shared seed; somebody who is not among the people is passed over."""
        pair = pair_of(one, other)
        if pair in self.counts:
            self.counts[pair] += change

    def degree(self, person: str) -> int:
        return sum(count for pair, count in self.counts.items() if person in pair)

    def components(self) -> dict[str, str]:
        """For everybody the name that stands for all whom shared seeds connect with them."""
        root = {person: person for person in self.people}
        for (one, other), count in self.counts.items():
            if count and root[one] != root[other]:
                old, new = root[other], root[one]
                root.update({person: new for person, name in root.items() if name == old})
        return root

    def parts(self) -> int:
        """The number of groups of people whom no shared seed connects; 1 is connected."""
        return len(set(self.components().values()))

    def next_pair(self, among: Collection[str] | None = None) -> Pair:
        """The pair that connects, then the one that shares least, then the one that is busy least."""
        return self._best(pair for pair in self.order if among is None or (pair[0] in among and pair[1] in among))

    def partner_for(self, person: str, among: Iterable[str]) -> str:
        """Who of `among` shares the next seed with this person, by the same preferences."""
        pair = self._best(pair_of(person, other) for other in among if other != person)
        return pair[1] if pair[0] == person else pair[0]

    def _best(self, pairs: Iterable[Pair]) -> Pair:
        root = self.components()
        degrees = dict.fromkeys(self.people, 0)
        for (one, other), count in self.counts.items():
            degrees[one] += count
            degrees[other] += count

        def worth(pair: Pair) -> tuple[bool, int, int, int]:
            one, other = pair
            return root[one] == root[other], self.counts[pair], degrees[one] + degrees[other], self.order[pair]

        return min(pairs, key=worth)
