"""The cheapest matching, against trying everything."""

from __future__ import annotations

import random
from itertools import combinations, permutations

from annotation.domain.matching import cheapest_matching


def least_total(costs: list[list[int]], alone: int) -> int:
    """By trying every way to match some rows with some columns."""
    rows, columns = len(costs), len(costs[0]) if costs else 0
    totals = []
    for size in range(min(rows, columns) + 1):
        for chosen in combinations(range(rows), size):
            for partners in permutations(range(columns), size):
                matched = sum(costs[row][column] for row, column in zip(chosen, partners, strict=True))
                totals.append(matched + alone * (rows + columns - 2 * size))
    return min(totals)


def test_the_total_is_the_least_there_is() -> None:
    for seed in range(400):
        draw = random.Random(seed)
        rows, columns, alone = draw.randint(1, 5), draw.randint(1, 5), draw.choice([0, 3, 10, 10**30])
        costs = [[draw.randint(0, 25) for _ in range(columns)] for _ in range(rows)]
        found = cheapest_matching(costs, alone)
        assert found == sorted(found)
        assert len({row for row, _ in found}) == len({column for _, column in found}) == len(found)
        assert all(costs[row][column] < 2 * alone for row, column in found)
        matched = sum(costs[row][column] for row, column in found)
        assert matched + alone * (rows + columns - 2 * len(found)) == least_total(costs, alone)


def test_the_cheapest_pair_is_given_up_for_a_cheaper_whole() -> None:
    """Row 0 would rather have column 0 (1), but then row 1 pays 50; 2 + 3 is less than 1 + 50."""
    assert cheapest_matching([[1, 2], [3, 50]], 1000) == [(0, 1), (1, 0)]


def test_nothing_matches_with_nothing() -> None:
    assert cheapest_matching([], 5) == []
    assert cheapest_matching([[], []], 5) == []
    assert cheapest_matching([[10]], 5) == []
    assert cheapest_matching([[9]], 5) == [(0, 0)]
