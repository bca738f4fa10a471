"""One damped step of differential inverse kinematics for any revolute chain: position first, attitude in its null space.

The step is q = previous + J⁺(e − J·(previous − seed)): linearised at the measured joints, integrated from the last command.
For a lagging or drooping arm that gives the same command, to first order, as one that follows at once.
[Nakamura, Hanafusa 1986 (damping by singularity); Siciliano, Slotine 1991 (task priority); Chiaverini 1997 (both)]
"""

from __future__ import annotations

import math

from teleop_common.records import ORIGIN, Vec3
from teleop_ik.kinematics import Chain, Joints, Mat, Posture, forward, jacobian
from teleop_ik.solver import Bounds, Solution, Target, limit_step, sane, within, without_yaw

# all relative to the mean diagonal of J·Jᵀ, the Jacobian's own scale
SINGULAR = 0.02  # damping starts where the smallest squared singular value falls below this share
DAMPING = 0.01  # its greatest share
ATTITUDE_DAMPING = 1e-4  # share of the attitude task's own scale
LARGEST_STEP = 0.10  # [m], a longer way is walked in several frames: the linearisation holds no farther


class Differential:
    """The damped step behind the solvers' interface."""

    name = "differential"

    def __init__(self, chain: Chain) -> None:
        """Take the chain."""
        self.chain = chain

    def solve(self, target: Target, seed: Joints, previous: Joints, bounds: Bounds, dt: float) -> Solution:
        """See ``solver.Solver``. A joint that meets its bound is held there and the step is solved again without it."""
        if not (sane(seed) and sane(previous) and sane(target.position) and sane(target.rotation)):
            return Solution(previous, ORIGIN, 0.0)
        allowed = within(bounds, previous)
        posture = forward(self.chain, seed)
        columns = jacobian(posture)
        lag = [p - s for p, s in zip(previous, seed)]
        error = _without(_shortened(target.position, posture.position), columns, lag)
        turn = _without(_attitude_error(target.rotation, posture, len(seed)), posture.axes, lag)
        held: dict[int, float] = {}
        while True:
            step, excess, left = _prioritised(columns, posture.axes, error, turn, held)
            over = [
                i
                for i, (then, by, low, high) in enumerate(zip(previous, step, allowed.lower, allowed.upper))
                if i not in held and not low - 1e-12 <= then + by <= high + 1e-12
            ]
            if not over:
                break
            for i in over:
                bound = allowed.lower[i] if previous[i] + step[i] < allowed.lower[i] else allowed.upper[i]
                held[i] = bound - previous[i]
        joints = tuple(
            [min(max(then + by, low), high) for then, by, low, high in zip(previous, step, allowed.lower, allowed.upper)]
        )
        return Solution(limit_step(previous, joints, allowed, dt), excess, left)


def _shortened(wanted: Vec3, position: Vec3) -> Vec3:
    """Return the way from ``position`` to ``wanted`` [m], no longer than LARGEST_STEP."""
    x, y, z = wanted[0] - position[0], wanted[1] - position[1], wanted[2] - position[2]
    length = math.sqrt(x * x + y * y + z * z)
    if length <= LARGEST_STEP:
        return (x, y, z)
    k = LARGEST_STEP / length
    return (k * x, k * y, k * z)


def _attitude_error(rotation: Mat, posture: Posture, joints: int) -> Vec3:
    """Return the rotation vector [rad] from the tool's attitude to the asked one, base frame.

    With fewer than six joints the yaw of the approach is given up: the asked approach is swung into the tool's own azimuth.
    """
    current = posture.rotation
    if joints < 6:
        flat = math.sqrt(current[2] * current[2] + current[5] * current[5])
        if flat > 1e-9:
            rotation = without_yaw(rotation, current[2] / flat, current[5] / flat)
    a, b, c, d, e, f, g, h, i = rotation
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = current
    # D = asked · currentᵀ; rotation vector from its skew part and trace
    x = (g * r3 + h * r4 + i * r5) - (d * r6 + e * r7 + f * r8)
    y = (a * r6 + b * r7 + c * r8) - (g * r0 + h * r1 + i * r2)
    z = (d * r0 + e * r1 + f * r2) - (a * r3 + b * r4 + c * r5)
    trace = a * r0 + b * r1 + c * r2 + d * r3 + e * r4 + f * r5 + g * r6 + h * r7 + i * r8
    # x, y, z = +-2 sin(angle) axis
    s = -0.5 * math.sqrt(x * x + y * y + z * z)
    if s > -1e-12:
        return ORIGIN
    k = -0.5 * math.atan2(-s, 0.5 * (trace - 1.0)) / s
    return (k * x, k * y, k * z)


def _without(task: Vec3, columns: tuple[Vec3, ...], joints: list[float]) -> Vec3:
    """Return ``task`` less what ``joints`` already do of it."""
    x, y, z = task
    for (cx, cy, cz), by in zip(columns, joints):
        x -= cx * by
        y -= cy * by
        z -= cz * by
    return (x, y, z)


def _prioritised(
    position: tuple[Vec3, ...], rotation: tuple[Vec3, ...], error: Vec3, turn: Vec3, held: dict[int, float]
) -> tuple[list[float], Vec3, float]:
    """Solve the two tasks with the joints of ``held`` moving by given amounts.

    Returns:
        joint steps [rad], the position error that remains [m], and the attitude error that remains [rad].
    """
    step = [held.get(i, 0.0) for i in range(len(position))]
    if held:
        error = _without(error, position, step)
        turn = _without(turn, rotation, step)
        position = tuple([(0.0, 0.0, 0.0) if i in held else column for i, column in enumerate(position)])
        rotation = tuple([(0.0, 0.0, 0.0) if i in held else column for i, column in enumerate(rotation)])
    xx, xy, xz, yy, yz, zz = _gram(position)
    scale = (xx + yy + zz) / 3.0
    if scale <= 0.0:
        return step, error, _norm(turn)
    least = max(0.0, _least_eigenvalue(xx, xy, xz, yy, yz, zz))
    ramp = 1.0 - least / (SINGULAR * scale)
    # far from singular no damping; towards it more, and more for a long error, whose model bends away soonest
    damping = 1e-12 * scale if ramp <= 0.0 else ramp * ramp * scale * (DAMPING + 4.0 * _norm(error))
    ax, ay, az, by, bz, cz = _inverse(xx + damping, xy, xz, yy + damping, yz, zz + damping)
    ex, ey, ez = error
    mx, my, mz = ax * ex + ay * ey + az * ez, ay * ex + by * ey + bz * ez, az * ex + bz * ey + cz * ez
    first = [x * mx + y * my + z * mz for x, y, z in position]
    # attitude columns seen through the null space of position: B = Jr − Jr·Jpᵀ·(Jp·Jpᵀ + damping)⁻¹·Jp
    sxx = sxy = sxz = syx = syy = syz = szx = szy = szz = 0.0
    for (px, py, pz), (rx, ry, rz) in zip(position, rotation):
        sxx += rx * px
        sxy += rx * py
        sxz += rx * pz
        syx += ry * px
        syy += ry * py
        syz += ry * pz
        szx += rz * px
        szy += rz * py
        szz += rz * pz
    kxx, kxy, kxz = sxx * ax + sxy * ay + sxz * az, sxx * ay + sxy * by + sxz * bz, sxx * az + sxy * bz + sxz * cz
    kyx, kyy, kyz = syx * ax + syy * ay + syz * az, syx * ay + syy * by + syz * bz, syx * az + syy * bz + syz * cz
    kzx, kzy, kzz = szx * ax + szy * ay + szz * az, szx * ay + szy * by + szz * bz, szx * az + szy * bz + szz * cz
    seen = tuple(
        [
            (
                rx - (kxx * px + kxy * py + kxz * pz),
                ry - (kyx * px + kyy * py + kyz * pz),
                rz - (kzx * px + kzy * py + kzz * pz),
            )
            for (px, py, pz), (rx, ry, rz) in zip(position, rotation)
        ]
    )
    # what the first task turns is K·error; the rest is for the null space
    wx = turn[0] - (kxx * ex + kxy * ey + kxz * ez)
    wy = turn[1] - (kyx * ex + kyy * ey + kyz * ez)
    wz = turn[2] - (kzx * ex + kzy * ey + kzz * ez)
    xx, xy, xz, yy, yz, zz = _gram(seen)
    soft = ATTITUDE_DAMPING * max((xx + yy + zz) / 3.0, 1e-6)
    ax, ay, az, by, bz, cz = _inverse(xx + soft, xy, xz, yy + soft, yz, zz + soft)
    nx, ny, nz = ax * wx + ay * wy + az * wz, ay * wx + by * wy + bz * wz, az * wx + bz * wy + cz * wz
    second = [x * nx + y * ny + z * nz for x, y, z in seen]
    total = [s + f + t for s, f, t in zip(step, first, second)]
    return total, _without(error, position, first), math.sqrt(soft * soft * (nx * nx + ny * ny + nz * nz))


def _norm(v: Vec3) -> float:
    return math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


def _gram(columns: tuple[Vec3, ...]) -> tuple[float, float, float, float, float, float]:
    """Return J·Jᵀ of the columns as (xx, xy, xz, yy, yz, zz)."""
    xx = xy = xz = yy = yz = zz = 0.0
    for x, y, z in columns:
        xx += x * x
        xy += x * y
        xz += x * z
        yy += y * y
        yz += y * z
        zz += z * z
    return xx, xy, xz, yy, yz, zz


def _inverse(xx: float, xy: float, xz: float, yy: float, yz: float, zz: float) -> tuple[float, float, float, float, float, float]:
    """Return the inverse of a symmetric positive definite 3x3 matrix, by its adjugate."""
    a = yy * zz - yz * yz
    b = xz * yz - xy * zz
    c = xy * yz - xz * yy
    k = 1.0 / (xx * a + xy * b + xz * c)
    return k * a, k * b, k * c, k * (xx * zz - xz * xz), k * (xy * xz - xx * yz), k * (xx * yy - xy * xy)


def _least_eigenvalue(xx: float, xy: float, xz: float, yy: float, yz: float, zz: float) -> float:
    """Return the least eigenvalue of a symmetric 3x3 matrix, by trigonometry (Smith, CACM 4(4), 1961)."""
    mean = (xx + yy + zz) / 3.0
    a, b, c = xx - mean, yy - mean, zz - mean
    p2 = (a * a + b * b + c * c + 2.0 * (xy * xy + xz * xz + yz * yz)) / 6.0
    if p2 <= 1e-30:
        return mean
    p = math.sqrt(p2)
    determinant = a * (b * c - yz * yz) - xy * (xy * c - yz * xz) + xz * (xy * yz - b * xz)
    half = determinant / (2.0 * p * p2)
    angle = math.acos(-1.0 if half < -1.0 else 1.0 if half > 1.0 else half) / 3.0
    return mean + 2.0 * p * math.cos(angle + 2.0 * math.pi / 3.0)
