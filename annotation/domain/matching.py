"""The cheapest way to match two small sets, each member with at most one of the other set."""

from __future__ import annotations

from collections.abc import Sequence


def cheapest_matching(costs: Sequence[Sequence[int]], alone: int) -> list[tuple[int, int]]:
    """Pairs (row, column) of least total cost, in the order of the rows; leaving one unmatched costs `alone`.

    `costs` is a full matrix of whole numbers ≥ 0; a cost of 2 · `alone` or more is never chosen. Equal input gives
    equal output. Kuhn's method with potentials, O(n³) for n rows or columns.
    """
    rows, columns = len(costs), len(costs[0]) if costs else 0
    size = max(rows, columns)
    square = [[alone] * size for _ in range(size)]
    for row, line in enumerate(costs):
        for column, cost in enumerate(line):
            square[row][column] = min(cost, 2 * alone)
    chosen = _perfect_matching(square)
    return [
        (row, column)
        for row, column in enumerate(chosen)
        if row < rows and column < columns and costs[row][column] < 2 * alone
    ]


def _perfect_matching(costs: list[list[int]]) -> list[int]:
    """The column of every row of a square matrix. Row and column 0 of the tables below stand for "none"."""
    size = len(costs)
    of_row, of_column = [0] * (size + 1), [0] * (size + 1)  # potentials
    row_at = [0] * (size + 1)
    for row in range(1, size + 1):
        row_at[0] = row
        came_from = _grow(costs, of_row, of_column, row_at)
        column = came_from[0]
        while column:
            before = came_from[column]
            row_at[column] = row_at[before]
            column = before
    columns = [0] * size
    for column in range(1, size + 1):
        columns[row_at[column] - 1] = column - 1
    return columns


def _grow(costs: list[list[int]], of_row: list[int], of_column: list[int], row_at: list[int]) -> list[int]:
    """Follow the cheapest edges from the row at column 0 to a free column.

    Returns for every column the one before it on the way; the entry of 0 is the free column that was reached.
    """
    size = len(costs)
    slack: list[int | None] = [None] * (size + 1)
    came_from, done = [0] * (size + 1), [False] * (size + 1)
    column = 0
    while row_at[column]:
        done[column] = True
        row, nearest, step = row_at[column], 0, -1
        for other in range(1, size + 1):
            if done[other]:
                continue
            cost = costs[row - 1][other - 1] - of_row[row] - of_column[other]
            known = slack[other]
            if known is None or cost < known:
                slack[other], known, came_from[other] = cost, cost, column
            if step < 0 or known < step:
                nearest, step = other, known
        for other in range(size + 1):
            if done[other]:
                of_row[row_at[other]] += step
                of_column[other] -= step
            elif (known := slack[other]) is not None:
                slack[other] = known - step
        column = nearest
    came_from[0] = column
    return came_from
