"""Symmetric positive definite systems of a few unknowns, in plain floats: the same bits on every machine."""

from __future__ import annotations

import math


def solve(matrix: list[list[float]], right: list[float]) -> list[float] | None:
    """Return x of matrix·x = right by Cholesky's decomposition; None where the matrix is not positive definite.

    Args:
        matrix: shape (n, n), of which only the lower triangle is read.
        right: length n.
    """
    rows: list[list[float]] = []
    for i, given in enumerate(matrix):
        row: list[float] = []
        for j, other in enumerate(rows):
            total = given[j]
            for a, b in zip(row, other):
                total -= a * b
            row.append(total / other[j])
        pivot = given[i]
        for a in row:
            pivot -= a * a
        if not pivot > 0.0:
            return None
        row.append(math.sqrt(pivot))
        rows.append(row)
    x: list[float] = []
    for row, b in zip(rows, right):
        for a, done in zip(row, x):
            b -= a * done
        x.append(b / row[-1])
    for i in reversed(range(len(x))):
        x[i] /= rows[i][i]
        for j in range(i):
            x[j] -= rows[i][j] * x[i]
    return x
