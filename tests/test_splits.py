"""Splits: seeds and other specialties first, the rest drawn by a stated rule."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from annotation.domain.splits import (
    MAX_SHARES,
    BadShares,
    Candidate,
    Shares,
    Split,
    commonest_specialty,
    drawn,
    ids_by_split,
    split_dialogues,
)

HUNDRED = [Candidate(f"D{number:03}", "respiratory") for number in range(100)]


def sizes(splits: dict[str, Split]) -> dict[str, int]:
    return {split.value: len(ids) for split, ids in ids_by_split(splits).items()}


def split(candidates: list[Candidate], seed: int = 1, shares: str = "0.8,0.1,0.1") -> dict[str, Split]:
    in_domain = commonest_specialty(candidates)
    return split_dialogues(candidates, random_seed=seed, shares=Shares.parse(shares), in_domain=in_domain)


def test_without_seeds_all_three_shares_are_drawn() -> None:
    assert sizes(split(HUNDRED)) == {"train": 80, "valid": 10, "test": 10, "ood_test": 0}


def test_seeds_are_the_test_set_and_other_specialties_one_of_their_own() -> None:
    seeds = [Candidate("S1", "respiratory", seed=True), Candidate("S2", "cardiac", seed=True)]
    found = split([*HUNDRED[:90], *seeds, Candidate("C", "cardiac"), Candidate("N")])
    assert [one for one, own in found.items() if own is Split.TEST] == ["S1", "S2"]
    assert [one for one, own in found.items() if own is Split.OOD_TEST] == ["C"]
    assert found["N"] in (Split.TRAIN, Split.VALID)
    assert sizes(found) == {"train": 81, "valid": 10, "test": 2, "ood_test": 1}


def test_the_draw_is_the_same_again_and_another_with_another_seed() -> None:
    assert split(HUNDRED) == split(list(reversed(HUNDRED)))
    assert split(HUNDRED) != split(HUNDRED, seed=2)


def test_the_draw_is_the_stated_one() -> None:
    # From `printf 1:a | sha256sum` and so on: c, b, a in the order of their sums.
    import hashlib

    order = sorted("abc", key=lambda one: hashlib.sha256(f"1:{one}".encode()).hexdigest())
    shares = Shares(Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))
    found = drawn("abc", random_seed=1, shares=shares, test=True)
    assert [found[one] for one in order] == [Split.TRAIN, Split.VALID, Split.TEST]


@pytest.mark.parametrize(
    ("count", "shares", "expected"),
    [
        (1, "0.8,0.1,0.1", (1, 0, 0)),
        (3, "0.34,0.33,0.33", (1, 1, 1)),
        (5, "0.5,0.5,0", (3, 2, 0)),
        (7, "80 10 10", (5, 1, 1)),
        (4, "0,0,1", (0, 0, 4)),
    ],
)
def test_what_does_not_divide_goes_to_the_largest_remainders(
    count: int, shares: str, expected: tuple[int, int, int]
) -> None:
    found = sizes(split(HUNDRED[:count], shares=shares))
    assert (found["train"], found["valid"], found["test"]) == expected


def test_seeds_and_a_share_for_test_alone_leave_the_rest_to_train() -> None:
    assert sizes(split([*HUNDRED[:3], Candidate("S", seed=True)], shares="0,0,1"))["train"] == 3


@pytest.mark.parametrize(
    "text",
    [
        *("", "0.8,0.2", "a,b,c", "0.8,0.1,0.2", "1.1,-0.1,0", "1,1,1,1", "nan,0,1", "1/0,0,1", "1_0,0,90", "inf,0,0"),
        *("1e9999999,0,0", "1e-9999999,0,1", "8e-1,.1,.1", "٠.٥,0.5,0", "0." + "3" * 17 + ",0,0", "1" * 90 + ",0,0"),
        "99.9999999999999999 0.0000000000000001 0",
    ],
)
def test_shares_that_are_none_are_refused_at_once(text: str) -> None:
    """Also `8e-1`, which could be read: an exponent of seven digits took a quarter of a minute."""
    with pytest.raises(BadShares):
        Shares.parse(text)


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("0.8,0.1,0.1", "0.8,0.1,0.1"),
        ("80% 10% 10%", "0.8,0.1,0.1"),
        ("1/3,1/3,1/3", "1/3,1/3,1/3"),
        ("100/3 100/3 100/3", "1/3,1/3,1/3"),
        ("0.33333333,0.33333333,0.33333334", "0.33333333,0.33333333,0.33333334"),
        ("0.12345678,0.87654322,0", "0.12345678,0.87654322,0"),
        ("99.99999999999999 0.00000000000001 0", "0.9999999999999999,0.0000000000000001,0"),
        ("999999998/999999999,1/999999999,0", "999999998/999999999,1/999999999,0"),
        ("1/536870912,536870911/536870912,0", "1/536870912,536870911/536870912,0"),
        ("1,0,0", "1,0,0"),
    ],
)
def test_shares_stay_exactly_what_they_are_when_they_are_stored(text: str, stated: str) -> None:
    shares = Shares.parse(text)
    assert str(shares) == stated
    assert len(stated) <= MAX_SHARES
    assert Shares.parse(stated) == shares
    assert Shares.from_json(json.loads(json.dumps(shares.as_json()))) == shares


def test_shares_of_an_older_manifest_are_numbers() -> None:
    assert Shares.from_json({"train": 0.2, "valid": 0.8, "test": 0}) == Shares.parse("0.2,0.8,0")
    assert Shares.from_json(dict.fromkeys(("train", "valid", "test"), 1 / 3)) == Shares.parse("1/3,1/3,1/3")
    wrongs: list[object] = [True, None, float("nan"), float("inf"), -1, [], "1e9"]
    for wrong in wrongs:
        with pytest.raises(BadShares):
            Shares.from_json({"train": wrong, "valid": 0, "test": 0})


def test_the_commonest_specialty_is_the_domain() -> None:
    assert commonest_specialty([]) == ()
    assert commonest_specialty([Candidate("a", "b"), Candidate("c", "a")]) == ("a",)
    assert commonest_specialty([Candidate("a", "b"), Candidate("c", "b"), Candidate("d", "a")]) == ("b",)
