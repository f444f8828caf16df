"""Which dialogues of a dataset a model learns from, is tuned on, and is tested on.

Seed dialogues, which two annotators labelled, are the test set; dialogues of other specialties are a test set of their
own; the rest is drawn. The draw is stated in full, so that any program can repeat it: the ids in the order of the
SHA-256 of `<random seed>:<id>` (UTF-8, hex), cut into parts of the given shares by the largest remainders.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction


class Split(StrEnum):
    TRAIN = "train"
    VALID = "valid"
    TEST = "test"
    OOD_TEST = "ood_test"


DRAWN = (Split.TRAIN, Split.VALID, Split.TEST)


class BadShares(ValueError):
    """Shares that are none, in one sentence."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Which part of the drawn dialogues goes where; three shares from 0 to 1 that add up to 1."""

    train: Fraction = Fraction(8, 10)
    valid: Fraction = Fraction(1, 10)
    test: Fraction = Fraction(1, 10)

    def __post_init__(self) -> None:
        if min(self.train, self.valid, self.test) < 0 or self.train + self.valid + self.test != 1:
            raise BadShares("The shares of train, valid and test must not be negative and must add up to 1.")

    @classmethod
    def parse(cls, text: str) -> Shares:
        """`"0.8,0.1,0.1"` or `"80 10 10"` (per cent). Raises BadShares."""
        parts = text.replace(",", " ").replace("%", " ").split()
        try:
            numbers = [Fraction(part) for part in parts if len(part) <= 12]
        except (ValueError, ZeroDivisionError):
            numbers = []
        if len(numbers) != 3 or len(parts) != 3:
            raise BadShares(f"“{text[:40]}” is no three shares; write them like 0.8,0.1,0.1.")
        if sum(numbers) == 100:
            numbers = [number / 100 for number in numbers]
        return cls(*numbers)

    def as_json(self) -> dict[str, float]:
        return {"train": float(self.train), "valid": float(self.valid), "test": float(self.test)}

    def __str__(self) -> str:
        return ",".join(f"{float(one):g}" for one in (self.train, self.valid, self.test))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A dialogue to be put into a split."""

    id: str
    specialty: str = ""
    seed: bool = False


def commonest_specialty(dialogues: Iterable[Candidate]) -> tuple[str, ...]:
    """The specialty of most dialogues (of several, the first by name); none where no dialogue states one."""
    counts: dict[str, int] = {}
    for one in dialogues:
        if one.specialty:
            counts[one.specialty] = counts.get(one.specialty, 0) + 1
    return (min(counts, key=lambda name: (-counts[name], name)),) if counts else ()


def split_dialogues(
    dialogues: Iterable[Candidate], *, random_seed: int, shares: Shares, in_domain: Collection[str]
) -> dict[str, Split]:
    """The split of every dialogue, by id, in the order of the ids.

    A seed dialogue is in the test set whatever its specialty. One that states no specialty counts as in the domain.
    Where there are seeds, nothing else is drawn into the test set: the rest is divided between train and valid in the
    proportion of their shares.
    """
    found: dict[str, Split] = {}
    rest: list[str] = []
    for one in dialogues:
        if one.seed:
            found[one.id] = Split.TEST
        elif one.specialty and in_domain and one.specialty not in in_domain:
            found[one.id] = Split.OOD_TEST
        else:
            rest.append(one.id)
    seeds = Split.TEST in found.values()
    found |= drawn(rest, random_seed=random_seed, shares=shares, test=not seeds)
    return dict(sorted(found.items()))


def drawn(ids: Collection[str], *, random_seed: int, shares: Shares, test: bool) -> dict[str, Split]:
    """The draw alone, over the dialogues that neither are seeds nor of another specialty."""
    order = sorted(ids, key=lambda one: (hashlib.sha256(f"{random_seed}:{one}".encode()).hexdigest(), one))
    weights = {Split.TRAIN: shares.train, Split.VALID: shares.valid, Split.TEST: shares.test if test else Fraction(0)}
    found: dict[str, Split] = {}
    start = 0
    for split, size in zip(DRAWN, _sizes(len(order), list(weights.values())), strict=True):
        found |= dict.fromkeys(order[start : start + size], split)
        start += size
    return found


def ids_by_split(splits: Mapping[str, Split]) -> dict[Split, list[str]]:
    """The ids of every split in their order, empty splits too."""
    return {split: sorted(one for one, own in splits.items() if own is split) for split in Split}


def _sizes(count: int, weights: Sequence[Fraction]) -> list[int]:
    """`count` divided in the proportion of the weights; what is left goes to the largest remainders."""
    whole = sum(weights)
    exact = [count * weight / whole if whole else Fraction(0) for weight in weights]
    if not whole:
        exact[0] = Fraction(count)
    sizes = [int(one) for one in exact]
    by_rest = sorted(range(len(weights)), key=lambda place: (sizes[place] - exact[place], place))
    for place in by_rest[: count - sum(sizes)]:
        sizes[place] += 1
    return sizes
