"""Joint velocities: the error divided by a time constant, limited in speed and acceleration, integrated by the caller's dt.

Resolved motion rate control [Whitney 1969] on the damped, prioritised inverse of ``differential``: it asks for the velocity
that would close the error in ``RESPONSE`` seconds. The approach is exponential, so a target that jumps or shakes is answered
softly, at the price of a lag of ``RESPONSE`` behind a moving one.
"""

from __future__ import annotations

import math

from teleop_ik import pace
from teleop_ik.differential import Differential
from teleop_ik.kinematics import Chain, Joints
from teleop_ik.solver import Bounds, Solution, SolveStatus, Target, refused, sane, within

RESPONSE = 0.03  # [s], time constant of the approach
LEAST_STEP = 1e-9  # [s], a shorter one is none: a speed that is divided by it means nothing


class Velocity:
    """Resolved rate behind the solvers' interface."""

    name = "velocity"

    def __init__(self, chain: Chain) -> None:
        """Take the chain."""
        self.chain = chain
        self._step = Differential(chain)

    def solve(self, target: Target, seed: Joints, previous: Joints, bounds: Bounds, dt: float, rate: Joints = ()) -> Solution:
        """See ``solver.Solver``. The velocity is that of the step: (joints − previous) / dt, to be handed back as ``rate``."""
        if not sane(rate):
            return refused(previous)
        # what speed allows in that time, so that position comes first and attitude takes the room left
        whole = self._step.solve(target, seed, previous, bounds, max(RESPONSE, dt))
        if whole.status == SolveStatus.BAD_INPUT or dt == math.inf:
            return whole
        rate = tuple([min(max(v, -most), most) for v, most in zip(rate, bounds.velocity)])
        dt = dt if dt > LEAST_STEP else 0.0
        share = min(1.0, dt / RESPONSE)
        wanted = tuple([p + share * (g - p) for p, g in zip(previous, whole.joints)])
        allowed = within(bounds, previous)
        allowed = allowed if rate else allowed._replace(acceleration=())
        joints, _ = pace.step(previous, rate, wanted, whole.ahead, allowed, dt)
        on_the_way = joints != whole.joints and whole.status == SolveStatus.OK
        return whole._replace(joints=joints, status=SolveStatus.LIMITED if on_the_way else whole.status)
