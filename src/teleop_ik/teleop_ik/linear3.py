"""Symmetric 3x3 matrices as six floats (xx, xy, xz, yy, yz, zz): what a task of three rows needs of linear algebra."""

from __future__ import annotations

import math

from teleop_common.records import Vec3

Sym = tuple[float, float, float, float, float, float]


def norm(v: Vec3) -> float:
    """Return the length of a vector."""
    return math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


def dot(a: Vec3, b: Vec3) -> float:
    """Return the scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def gram(columns: tuple[Vec3, ...]) -> Sym:
    """Return J·Jᵀ of a matrix given by its columns."""
    xx = xy = xz = yy = yz = zz = 0.0
    for x, y, z in columns:
        xx += x * x
        xy += x * y
        xz += x * z
        yy += y * y
        yz += y * z
        zz += z * z
    return xx, xy, xz, yy, yz, zz


def plus_dyad(m: Sym, v: Vec3, k: float) -> Sym:
    """Return m + k·v·vᵀ."""
    x, y, z = v
    return m[0] + k * x * x, m[1] + k * x * y, m[2] + k * x * z, m[3] + k * y * y, m[4] + k * y * z, m[5] + k * z * z


def plus_diagonal(m: Sym, k: float) -> Sym:
    """Return m + k·I."""
    return m[0] + k, m[1], m[2], m[3] + k, m[4], m[5] + k


def times(m: Sym, v: Vec3) -> Vec3:
    """Return m·v."""
    xx, xy, xz, yy, yz, zz = m
    x, y, z = v
    return xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z


def determinant(m: Sym) -> float:
    """Return the determinant."""
    xx, xy, xz, yy, yz, zz = m
    return xx * (yy * zz - yz * yz) + xy * (xz * yz - xy * zz) + xz * (xy * yz - xz * yy)


def inverse(m: Sym) -> Sym:
    """Return the inverse of a positive definite matrix, by its adjugate."""
    xx, xy, xz, yy, yz, zz = m
    a = yy * zz - yz * yz
    b = xz * yz - xy * zz
    c = xy * yz - xz * yy
    k = 1.0 / (xx * a + xy * b + xz * c)
    return k * a, k * b, k * c, k * (xx * zz - xz * xz), k * (xy * xz - xx * yz), k * (xx * yy - xy * xy)


def two_least(m: Sym) -> tuple[float, float]:
    """Return the least and the middle eigenvalue, by trigonometry (Smith, CACM 4(4), 1961)."""
    xx, xy, xz, yy, yz, zz = m
    mean = (xx + yy + zz) / 3.0
    a, b, c = xx - mean, yy - mean, zz - mean
    p2 = (a * a + b * b + c * c + 2.0 * (xy * xy + xz * xz + yz * yz)) / 6.0
    if p2 <= 1e-30:
        return mean, mean
    p = math.sqrt(p2)
    determinant = a * (b * c - yz * yz) - xy * (xy * c - yz * xz) + xz * (xy * yz - b * xz)
    half = determinant / (2.0 * p * p2)
    angle = math.acos(-1.0 if half < -1.0 else 1.0 if half > 1.0 else half) / 3.0
    greatest = mean + 2.0 * p * math.cos(angle)
    least = mean + 2.0 * p * math.cos(angle + 2.0 * math.pi / 3.0)
    return least, 3.0 * mean - greatest - least


def eigenvector(m: Sym, value: float) -> Vec3 | None:
    """Return a unit eigenvector of ``value``: the longest cross product of two rows of m − value·I; None when repeated."""
    xx, xy, xz, yy, yz, zz = m
    r0, r1, r2 = (xx - value, xy, xz), (xy, yy - value, yz), (xz, yz, zz - value)
    best, length = None, 1e-12 * (xx + yy + zz) ** 2
    for a, b in ((r0, r1), (r0, r2), (r1, r2)):
        v = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
        n = norm(v)
        if n > length:
            best, length = v, n
    return None if best is None else (best[0] / length, best[1] / length, best[2] / length)
