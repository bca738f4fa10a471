"""Three joints by damped least squares on finite differences, the wrist straight from the attitude: for comparison.

The scheme of a published Quest teleoperation for these arms: at most 24 iterations, a 0.25° probe, steps of at most 20°, damping
of 1 % of the mean diagonal of JᵀJ, limits clamped at each iterate; its wrist joints ride the controller's attitude outside of IK.
Two things differ. The point is the tool's, as for every solver here, not the wrist's, so that turning the hand does not move the
tool. And the probe reaches to both sides (±0.125°), so that a mirrored arm moves as a mirror image.
"""

from __future__ import annotations

import math

from teleop_common.records import Vec3
from teleop_ik import dense, linear3
from teleop_ik.differential import kept_attitude
from teleop_ik.kinematics import Chain, Joints, forward
from teleop_ik.solver import Bounds, Solution, Target, clamped, ended, refused, rotation_between, usable, within

ITERATIONS = 24
PROBE = math.radians(0.25)
LARGEST_STEP = math.radians(20.0)
DAMPING = 0.01  # of the mean diagonal of JᵀJ
WRIST_DAMPING = 1e-3  # of the wrist's own normal matrix, whose columns are unit vectors
ON_TARGET = 1e-6  # [m]
AT_REST = 1e-5  # [rad], an iteration that moves no joint farther is the last
PLACING = 3  # joints that place the tool


class PointDls:
    """Three-joint damped least squares behind the solvers' interface."""

    name = "point_dls"

    def __init__(self, chain: Chain) -> None:
        """Take the chain; its first three joints place the tool, the others turn it."""
        self.chain = chain

    def solve(self, target: Target, seed: Joints, previous: Joints, bounds: Bounds, dt: float, rate: Joints = ()) -> Solution:
        """See ``solver.Solver``."""
        if not usable(target, seed, previous):
            return refused(previous)
        allowed = within(bounds, previous)
        # from the last command: where measured joints tremble by an encoder count, iterations that stop early tremble along
        joints = self._wrist(target, clamped(previous, allowed), allowed)
        joints, error, converged = self._place(target.position, joints, allowed)
        turned = linear3.norm(self._turn(target, joints)[0])
        excess = error if converged else (0.0, 0.0, 0.0)
        return ended(previous, joints, allowed, dt, excess, turned, converged=converged)

    def _turn(self, target: Target, joints: Joints) -> tuple[Vec3, tuple[Vec3, ...]]:
        """Return the rotation [rad] to the attitude that is kept of the asked one, and the joints' axes."""
        posture = forward(self.chain, joints)
        kept, _, _ = kept_attitude(target.rotation, posture)
        return rotation_between(kept, posture.rotation), posture.axes

    def _wrist(self, target: Target, joints: Joints, allowed: Bounds) -> Joints:
        """Return the joints with those of the wrist turned by what they see of the attitude error."""
        turn, axes = self._turn(target, joints)
        axes = axes[PLACING:]
        square = [[linear3.dot(a, b) for b in axes] for a in axes]
        for i, row in enumerate(square):
            row[i] += WRIST_DAMPING
        by = dense.solve(square, [linear3.dot(a, turn) for a in axes]) or []
        return clamped((*joints[:PLACING], *[q + step for q, step in zip(joints[PLACING:], by)]), allowed)

    def _place(self, wanted: Vec3, joints: Joints, allowed: Bounds) -> tuple[Joints, Vec3, bool]:
        """Bring the tool to a point with the first joints; return the joints, the error left, and whether they came to rest."""
        error = _way(wanted, forward(self.chain, joints).position)
        for _ in range(ITERATIONS):
            if linear3.norm(error) < ON_TARGET:
                return joints, error, True
            columns = [self._column(joints, i) for i in range(min(PLACING, len(joints)))]
            square = [[linear3.dot(a, b) for b in columns] for a in columns]
            damping = DAMPING * sum([square[i][i] for i in range(len(columns))]) / len(columns)
            for i, row in enumerate(square):
                row[i] += damping
            by = dense.solve(square, [linear3.dot(a, error) for a in columns])
            if by is None:
                return joints, error, True
            largest = max([abs(step) for step in by])
            cap = min(1.0, LARGEST_STEP / largest) if largest > 0.0 else 0.0
            moved = [q + cap * step for q, step in zip(joints, by)]
            before, joints = joints, clamped((*moved, *joints[len(moved) :]), allowed)
            error = _way(wanted, forward(self.chain, joints).position)
            if max([abs(a - b) for a, b in zip(joints, before)]) < AT_REST:
                return joints, error, True
        return joints, error, False

    def _column(self, joints: Joints, i: int) -> Vec3:
        """Return how joint ``i`` moves the tool [m/rad], by a probe to both sides."""
        ahead = forward(self.chain, (*joints[:i], joints[i] + 0.5 * PROBE, *joints[i + 1 :])).position
        behind = forward(self.chain, (*joints[:i], joints[i] - 0.5 * PROBE, *joints[i + 1 :])).position
        return ((ahead[0] - behind[0]) / PROBE, (ahead[1] - behind[1]) / PROBE, (ahead[2] - behind[2]) / PROBE)


def _way(there: Vec3, here: Vec3) -> Vec3:
    return (there[0] - here[0], there[1] - here[1], there[2] - here[2])
