"""Which dialogues of a dataset a model learns from, is tuned on, and is tested on.

A dialogue that came with a split keeps it. Seed dialogues, which two annotators labelled, are the test set; dialogues
of other specialties are a test set of their own; the rest is drawn. The draw is stated in full, so that any program can
repeat it: the ids in the order of the SHA-256 of `<random seed>:<id>` (UTF-8, hex), cut into parts of the given shares
by the largest remainders.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any


class Split(StrEnum):
    TRAIN = "train"
    VALID = "valid"
    TEST = "test"
    OOD_TEST = "ood_test"


DRAWN = (Split.TRAIN, Split.VALID, Split.TEST)
MAX_SHARES = 80  # signs: three shares in the most digits, and what stands between them
_DIGITS = 16
_SHARE = re.compile(rf"[0-9]{{1,3}}(?:\.[0-9]{{0,{_DIGITS}}})?|\.[0-9]{{1,{_DIGITS}}}|[0-9]{{1,9}}/[0-9]{{1,9}}")
_ROUNDED = 10**9  # the largest denominator of shares that were once written as rounded numbers


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
        """`"0.8,0.1,0.1"`, `"1/3,1/3,1/3"` or `"80 10 10"` (per cent). Raises BadShares."""
        parts = text.replace(",", " ").replace("%", " ").split() if len(text) <= MAX_SHARES else []
        if len(parts) != 3:
            raise BadShares(f"“{text[:40]}” is no three shares; write them like 0.8,0.1,0.1 or 1/3,1/3,1/3.")
        numbers = [_share(part) for part in parts]
        if sum(numbers) == 100:
            numbers = [_share(_exactly(number / 100)) for number in numbers]
        return cls(*numbers)

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Shares:
        """The reverse of `as_json`. Older manifests have numbers, of which thirds were rounded. Raises BadShares."""
        stated = [given[name] for name in DRAWN]
        if all(isinstance(one, str) for one in stated):
            return cls(*map(_share, stated))
        if any(isinstance(one, bool) or not isinstance(one, int | float) or not 0 <= one <= 1 for one in stated):
            raise BadShares("The shares of train, valid and test are no numbers from 0 to 1.")
        exact = [Fraction(str(one)) for one in stated]
        return cls(*(exact if sum(exact) == 1 else [one.limit_denominator(_ROUNDED) for one in exact]))

    def as_json(self) -> dict[str, str]:
        """Each as text that says it exactly: `"0.8"`, or `"1/3"` where no decimal number does."""
        return {name.value: _exactly(share) for name, share in zip(DRAWN, self._all, strict=True)}

    @property
    def _all(self) -> tuple[Fraction, Fraction, Fraction]:
        return self.train, self.valid, self.test

    def __str__(self) -> str:
        """What `parse` reads as the same shares again."""
        return ",".join(map(_exactly, self._all))


def _share(text: str) -> Fraction:
    """Short and without an exponent, so that no text makes a number that takes long."""
    if not _SHARE.fullmatch(text):
        raise BadShares(f"“{text[:40]}” is no share; write it like 0.8, 80 or 1/3, with at most {_DIGITS} digits.")
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise BadShares(f"“{text}” divides by 0.") from None


def _exactly(share: Fraction) -> str:
    """A decimal number where one is the same, else a fraction."""
    tens = 1
    while tens % share.denominator and tens < 10**_DIGITS:
        tens *= 10
    if tens % share.denominator:
        return str(share)
    whole, rest = divmod(share.numerator * (tens // share.denominator), tens)
    return f"{whole}.{str(rest).zfill(len(str(tens)) - 1)}" if rest else str(whole)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A dialogue to be put into a split. `fixed` is the one that it came with, None for one that came with none."""

    id: str
    specialty: str = ""
    seed: bool = False
    fixed: Split | None = None


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

    One that came with a split keeps it, a seed too. A seed dialogue is in the test set whatever its specialty. One that
    states no specialty counts as in the domain. Where the test set is known by seeds or by dialogues that came with it,
    nothing else is drawn into it: the rest is divided between train and valid in the proportion of their shares, and is
    all train where both are 0.
    """
    found, rest = known_splits(dialogues, in_domain)
    known = Split.TEST in found.values()
    found |= drawn(rest, random_seed=random_seed, shares=shares, test=not known)
    return dict(sorted(found.items()))


def known_splits(dialogues: Iterable[Candidate], in_domain: Collection[str]) -> tuple[dict[str, Split], list[str]]:
    """The split of every dialogue that is not drawn, by id, and the ids of those that are."""
    found: dict[str, Split] = {}
    rest: list[str] = []
    for one in dialogues:
        if one.fixed is not None:
            found[one.id] = one.fixed
        elif one.seed:
            found[one.id] = Split.TEST
        elif one.specialty and in_domain and one.specialty not in in_domain:
            found[one.id] = Split.OOD_TEST
        else:
            rest.append(one.id)
    return found, rest


def drawn(ids: Collection[str], *, random_seed: int, shares: Shares, test: bool) -> dict[str, Split]:
    """The draw alone, over the dialogues that neither came with a split nor are seeds nor of another specialty."""
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
