"""Levenberg-Marquardt to convergence, from the measured joints, within bounds, for any chain of revolute joints.

Least squares over position and attitude [Levenberg 1944, Marquardt 1963], damping adapted by success;
a joint at its bound that would leave is taken out of a step (projection [Kanzow, Yamashita, Fukushima 2004]). Four things make it
hold for a teleoperated arm:

- Position before attitude is a weight, raised in two stages. With the greater one from the start every step of the wrist
  would have to bend along the narrow valley in which the tool keeps its place, and a large turn would take the whole budget.
- A long way counts linearly beyond ``FAR`` (Huber). The closest pose to a far target is the same, but it is found in a few steps,
  where squares would let it outweigh all else.
- What of the position is out of reach curves the bowl as much as the slope does. So once a step has failed, the position's second
  derivative is reckoned in; by first order alone the last millimetres at full stretch take hundreds of steps.
- A step too small to matter is not taken, so an arm pushed past its reach stays bent by a hair, and knows its way back.

The budget of time is a number of iterations, from the cost of one: a core that read a clock could not be run again to the
same bytes. On a slower machine the budget is overdrawn, not the answer changed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from teleop_common.records import ORIGIN, Vec3
from teleop_ik import dense
from teleop_ik.differential import kept_attitude
from teleop_ik.kinematics import Chain, Joints, forward, jacobian, second_order
from teleop_ik.solver import Bounds, Solution, Target, clamped, ended, refused, rotation_between, shortened, swung, usable, within

BUDGET = 2e-3  # [s], for one solve
COST = 1.2e-5  # [s], of one iteration per joint, measured on one core of a server of 2020 under load
MOST = 40  # iterations, however few joints
WEIGHTS = (30.0, 3000.0)  # [rad/m], what a metre weighs beside a radian, stage by stage
FAR = 0.05  # [m], from which a position error counts linearly
CLOSE = 1e-3  # [rad], step that ends the first stage
AT_REST = 1e-6  # [rad], step that ends the last
ON_TARGET = 3e-6  # [rad], weighted error at which nothing is left to do: a tenth of a micrometre in the first stage
START = 1e-3  # damping to begin with; attitude's columns are unit vectors, whatever the size of the robot
SHRINK, GROW = 0.2, 4.0  # damping after a step that led down; after one that did not, and twice as strongly after the next
LEAST, GREATEST = 1e-10, 1e12  # damping


class _Here(NamedTuple):
    """A posture as the least squares see it.

    Attributes:
        joints: [rad].
        rows: position and attitude error, weighted.
        columns: what each joint does to them.
        axes: of the joints, base frame.
        moves: what each joint does to the position [m/rad].
        pull: position error, weighted twice.
        cost: half the square of the error.
        error: of the position [m].
        turned: attitude given up [rad].
    """

    joints: Joints
    rows: tuple[float, ...]
    columns: list[tuple[float, ...]]
    axes: tuple[Vec3, ...]
    moves: tuple[Vec3, ...]
    pull: Vec3
    cost: float
    error: Vec3
    turned: float


class LevenbergMarquardt:
    """Least squares to convergence behind the solvers' interface."""

    name = "levenberg_marquardt"

    def __init__(self, chain: Chain, budget: float = BUDGET) -> None:
        """Take the chain, and the time [s] for one solve, of which the number of iterations is reckoned."""
        self.chain = chain
        self.iterations = max(1, min(MOST, int(budget / (COST * len(chain.links)))))

    def solve(self, target: Target, seed: Joints, previous: Joints, bounds: Bounds, dt: float, rate: Joints = ()) -> Solution:
        """See ``solver.Solver``."""
        if not usable(target, seed, previous):
            return refused(previous)
        allowed = within(bounds, previous)
        joints, left, converged = clamped(seed, allowed), self.iterations, False
        if math.dist(target.position, forward(self.chain, joints).position) > FAR:
            joints = swung(self.chain, joints, target.position, allowed)
        for stage, weight in enumerate(WEIGHTS):
            here, left, converged = self._descend(target, joints, allowed, weight, left, AT_REST if stage else CLOSE)
            joints = here.joints
            if left == 0 or here.cost < ON_TARGET * ON_TARGET:
                break
        excess = here.error if converged else ORIGIN
        return ended(previous, joints, allowed, dt, excess, here.turned, converged=converged)

    def _descend(
        self, target: Target, joints: Joints, allowed: Bounds, weight: float, left: int, smallest: float
    ) -> tuple[_Here, int, bool]:
        """Return where the descent with one weight ends, how many iterations are left, and whether it came to rest."""
        here = self._look(target, joints, weight)
        damping, grow, curved = START, GROW, False
        while left > 0:
            left -= 1
            step = _step(here, allowed, damping, curved)
            if step is None:  # a saddle has no least point: more damping
                damping, grow = min(GREATEST, grow * damping), 2.0 * grow
                continue
            moved = clamped(tuple([q + by for q, by in zip(here.joints, step)]), allowed)
            if max([abs(a - b) for a, b in zip(moved, here.joints)]) < smallest:
                return here, left, True
            there = self._look(target, moved, weight)
            if there.cost < here.cost:
                here, damping, grow = there, max(LEAST, SHRINK * damping), GROW
                if here.cost < ON_TARGET * ON_TARGET:
                    return here, left, True
            elif not curved:
                curved = True
            else:
                damping, grow = min(GREATEST, grow * damping), 2.0 * grow
        return here, left, False

    def _look(self, target: Target, joints: Joints, weight: float) -> _Here:
        """Return the least squares problem at ``joints``."""
        posture = forward(self.chain, joints)
        (x, y, z), share = shortened(target.position, posture.position, FAR)
        kept, swing, turns = kept_attitude(target.rotation, posture)
        u, v, w = rotation_between(kept, posture.rotation)
        # Huber's loss by reweighting: half the square up to FAR, its tangent beyond
        root = math.sqrt(share)
        k = weight * root
        rows = (weight * x / root, weight * y / root, weight * z / root, u, v, w)
        moves = jacobian(posture)
        columns: list[tuple[float, ...]] = [(k * a, k * b, k * c, *turn) for (a, b, c), turn in zip(moves, turns)]
        pull = (x * weight * weight, y * weight * weight, z * weight * weight)
        near = x * x + y * y + z * z
        loss = near if share == 1.0 else near * (2.0 / share - 1.0)
        cost = 0.5 * (weight * weight * loss + u * u + v * v + w * w)
        error = (x / share, y / share, z / share)
        return _Here(joints, rows, columns, posture.axes, moves, pull, cost, error, math.hypot(swing, u, v, w))


def _step(here: _Here, allowed: Bounds, damping: float, curved: bool) -> list[float] | None:
    """Return the damped step [rad], joints at a bound that would leave stay; None where the cost has no bowl."""
    downhill = [sum([a * b for a, b in zip(column, here.rows)]) for column in here.columns]
    free = [
        i
        for i, (q, by, low, high) in enumerate(zip(here.joints, downhill, allowed.lower, allowed.upper))
        if not (by <= 0.0 and q <= low) and not (by >= 0.0 and q >= high)
    ]
    step = [0.0] * len(downhill)
    columns = [here.columns[i] for i in free]
    square = [[sum([a * b for a, b in zip(one, other)]) for other in columns[: k + 1]] for k, one in enumerate(columns)]
    if curved:
        bowl = second_order([here.axes[i] for i in free], [here.moves[i] for i in free], here.pull)
        square = [[a + b for a, b in zip(row, more)] for row, more in zip(square, bowl)]
    for row in square:
        row[-1] += damping
    found = dense.solve(square, [downhill[i] for i in free])
    if found is None:
        return None
    for i, by in zip(free, found):
        step[i] = by
    return step
