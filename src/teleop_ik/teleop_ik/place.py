"""The position task of a damped step: joints for a displacement of the tool, at the edge of reach and past it, too.

At the edge of reach the first order says nothing: there σ → 0, and along the singular direction the tool moves by
σ·b + h·b²/2 for a step b, where h is the curvature. That quadratic is solved instead of damped away, so an arm at full stretch
neither hunts the last millimetre nor sticks when the hand comes back. [J. Angeles, Fundamentals of Robotic Mechanical
Systems, on the second-order kinematics of serial chains, gives the derivative of a Jacobian column: axis_i × column_j, i ≤ j]
"""

from __future__ import annotations

import math
from typing import NamedTuple

from teleop_common.records import ORIGIN, Vec3
from teleop_ik import linear3

# the first three relative to the mean diagonal of J·Jᵀ, the Jacobian's own scale
SINGULAR = 0.02  # a squared singular value below this share is treated as singular
DAMPING = 0.02  # greatest damping of such a direction
CURVED = 0.1  # least |h| relative to the square root of the scale at which the quadratic is worth solving
SHORT_OF_REACH = 2e-5  # [m], how far before full stretch to stop, so that the arm remembers which way it was bent


class First(NamedTuple):
    """The position task, solved.

    Attributes:
        joints: its step [rad].
        excess: what it cannot reach [m].
        inverse: (J·Jᵀ)⁻¹ as used, for the projection onto its null space.
        reach: largest step [rad] of the attitude task within which the linearisation of the null space holds.
    """

    joints: list[float]
    excess: Vec3
    inverse: linear3.Sym
    reach: float


def less(task: Vec3, columns: tuple[Vec3, ...], joints: list[float]) -> Vec3:
    """Return ``task`` less what ``joints`` already do of it."""
    x, y, z = task
    for (cx, cy, cz), by in zip(columns, joints):
        x -= cx * by
        y -= cy * by
        z -= cz * by
    return (x, y, z)


def place(columns: tuple[Vec3, ...], axes: tuple[Vec3, ...], error: Vec3, held: bool) -> First | None:
    """Solve the position task; None when no joint moves the tool."""
    square = linear3.gram(columns)
    scale = (square[0] + square[3] + square[5]) / 3.0
    if scale <= 1e-12:
        return None
    threshold = SINGULAR * scale
    # the least eigenvalue is at least det / (trace / 2)², which costs less to know
    well = 4.0 * linear3.determinant(square) >= 9.0 * threshold * scale * scale
    least, middle = (threshold, threshold) if well else linear3.two_least(square)
    if least >= threshold:
        inverse = linear3.inverse(square)
        x, y, z = linear3.times(inverse, error)
        return First([a * x + b * y + c * z for a, b, c in columns], ORIGIN, inverse, math.inf)
    if middle < threshold:
        # two directions at once: plain damping
        ramp = 1.0 - max(0.0, least) / threshold
        return _damped(columns, error, linear3.inverse(linear3.plus_diagonal(square, DAMPING * scale * ramp * ramp)), held)
    u = linear3.eigenvector(square, least)
    if u is None:
        return _damped(columns, error, linear3.inverse(linear3.plus_diagonal(square, DAMPING * scale)), held)
    row = [u[0] * a + u[1] * b + u[2] * c for a, b, c in columns]
    sigma = math.sqrt(sum([g * g for g in row]))
    along = u[0] * error[0] + u[1] * error[1] + u[2] * error[2]
    curvature = 0.0
    if sigma > 1e-7:
        v = [g / sigma for g in row]
        curvature = _curvature(columns, axes, u, v)
    if abs(curvature) < CURVED * math.sqrt(scale):
        ramp = 1.0 - max(0.0, least) / threshold
        return _damped(columns, error, linear3.inverse(linear3.plus_dyad(square, u, DAMPING * scale * ramp * ramp)), held)
    # the well-conditioned rest, then sigma·b + curvature·b²/2 = along, as far as it has a solution
    rest = (error[0] - along * u[0], error[1] - along * u[1], error[2] - along * u[2])
    inverse = linear3.inverse(linear3.plus_dyad(square, u, threshold - least))
    x, y, z = linear3.times(inverse, rest)
    least_root = min(sigma * sigma, 2.0 * abs(curvature) * SHORT_OF_REACH)
    root = sigma * sigma + 2.0 * curvature * along
    missing = 0.0
    if root < least_root:
        missing = along - (least_root - sigma * sigma) / (2.0 * curvature)
        root = least_root
    b = (math.sqrt(root) - sigma) / curvature
    joints = [p * x + q * y + r * z + b * w for (p, q, r), w in zip(columns, v)]
    # the null space leaves v out: there attitude must not move the tool, however little
    strict = linear3.plus_dyad(inverse, u, 1.0 / (sigma * sigma) - 1.0 / threshold)
    excess = (missing * u[0], missing * u[1], missing * u[2])
    return First(joints, excess, strict, 0.5 * sigma / abs(curvature))


def past_reach(columns: tuple[Vec3, ...], axes: tuple[Vec3, ...], error: Vec3) -> Vec3:
    """Return the part of a position error [m] that lies past the edge of reach, as the curvature of the reach tells it."""
    first = place(columns, axes, error, held=False)
    return ORIGIN if first is None else first.excess


def projected(columns: tuple[Vec3, ...], inverse: linear3.Sym, step: list[float]) -> list[float]:
    """Return ``step`` without what it still moves the tool.

    An attitude that cannot be had is a large right-hand side; what little an inverse is off that is regularised for joints held
    at their bounds, it multiplies: 0.2 mm, to and fro with every step.
    """
    by = [0.0, 0.0, 0.0]
    for column, q in zip(columns, step):
        for k in range(3):
            by[k] += column[k] * q
    x, y, z = linear3.times(inverse, (by[0], by[1], by[2]))
    return [q - (a * x + b * y + c * z) for q, (a, b, c) in zip(step, columns)]


def _damped(columns: tuple[Vec3, ...], error: Vec3, inverse: linear3.Sym, held: bool) -> First:
    """Return the damped solution; what it leaves is out of reach only where joints are held at their bounds."""
    x, y, z = linear3.times(inverse, error)
    joints = [a * x + b * y + c * z for a, b, c in columns]
    return First(joints, less(error, columns, joints) if held else ORIGIN, inverse, math.inf)


def _curvature(columns: tuple[Vec3, ...], axes: tuple[Vec3, ...], u: Vec3, v: list[float]) -> float:
    """Return u·(second derivative of the tool position along v) [m/rad²]; that of columns i ≤ j is axis_i × column_j."""
    total = 0.0
    sx = sy = sz = 0.0  # sum of v_i·axis_i over the joints before j
    for (cx, cy, cz), (ax, ay, az), by in zip(columns, axes, v):
        # twice for the joints before, once for the joint itself
        tx, ty, tz = 2.0 * sx + by * ax, 2.0 * sy + by * ay, 2.0 * sz + by * az
        total += by * (u[0] * (ty * cz - tz * cy) + u[1] * (tz * cx - tx * cz) + u[2] * (tx * cy - ty * cx))
        sx += by * ax
        sy += by * ay
        sz += by * az
    return total
