"""One frame's goal: a solver asked with the wrist held where it rides, and inside the borders at which the arm would fold."""

from __future__ import annotations

from teleop_ik import fold, wrist
from teleop_ik.fold import Fence
from teleop_ik.kinematics import Joints, forward
from teleop_ik.solver import Bounds, Solution, Solver, Target, clamped, within

MISSED = 1e-4  # [m] out of reach, from which a held wrist gives way


class Goal:
    """Asks the solver, as often in a frame as the floor wants; what it learnt of the borders serves the next question.

    Attributes:
        inside: limits of position that hold for this step, a start outside them included.
    """

    def __init__(
        self,
        solver: Solver,
        seed: Joints,
        previous: Joints,
        bounds: Bounds,
        dt: float,
        rate: Joints,
        fence: Fence | None = None,
        ride: Joints = (),
    ) -> None:
        """Take what all questions of a frame have in common; see ``solver.Solver.solve``.

        Args:
            solver: the solver.
            seed: measured joints [rad].
            previous: last command [rad].
            bounds: limits.
            dt: length of the step [s].
            rate: speed of the last command [rad/s].
            fence: borders to keep inside of; None: none is near.
            ride: where the wrist is to go [rad]; empty: where inverse kinematics wants it.
        """
        self.inside = within(bounds, previous)
        self._solver, self._seed, self._dt, self._rate = solver, seed, dt, rate
        self._plain, self._given, self._fence, self._ride = bounds, previous, fence, ride
        self._bounds, self._previous = bounds, previous
        if fence is not None:
            self._narrow(fence, previous)

    def solve(self, target: Target) -> Solution:
        """Return joints for ``target``."""
        solution = self._held(target)
        fence = self._fence
        if fence is not None:
            for _ in range(fold.SOLVES - 1):
                if fence.room(solution.joints) >= -fold.CLOSE:
                    break
                self._narrow(fence, solution.joints)
                solution = self._held(target)
        return solution

    def ahead(self, solution: Solution) -> Joints:
        """Return where the joints come to rest on the way of ``solution`` [rad]: at a border, where one crosses the way."""
        if self._fence is None:
            return solution.ahead
        return clamped(solution.ahead, self._fence.tightened(self.inside, solution.ahead))

    def bent(self, solution: Solution) -> tuple[int, ...]:
        """Return the joints that a border holds at ``solution``."""
        return self._fence.held(solution.joints) if self._fence is not None else ()

    def _narrow(self, fence: Fence, at: Joints) -> None:
        # solvers take the last command as allowed: where a border comes nearer, it is told inside it, and the step there is
        # the pace's to limit
        self._bounds = fence.tightened(self.inside, at)
        self._previous = clamped(self._given, self._bounds)

    def _held(self, target: Target) -> Solution:
        if not self._ride:
            return self._ask(target, self._previous, self._bounds)
        bounds, previous = wrist.held(self._ride, within(self._bounds, self._previous), self._previous, self._dt)
        # the attitude of a wrist that rides is what it gives
        asked = target._replace(rotation=forward(self._solver.chain, previous).rotation)
        solution = self._ask(asked, previous, bounds, ())
        led = clamped((*solution.ahead[: -len(self._ride)], *self._ride), self.inside)
        if solution.residual_position <= MISSED:
            # no faster than the arm goes along with it, and the pace brakes for where the ride leads, not for this step's end
            ridden = wrist.shared(solution, previous, self._previous, len(self._ride))
            return solution._replace(joints=ridden, ahead=led)
        # position is never given up for attitude: the wrist gives way, and inverse kinematics keeps what it can of the attitude
        # that the ride would give
        riding = (*solution.joints[: -len(self._ride)], *led[-len(self._ride) :])
        near = target._replace(rotation=forward(self._solver.chain, riding).rotation)
        return self._ask(near, self._previous, self._bounds)

    def _ask(self, target: Target, previous: Joints, bounds: Bounds, rate: Joints | None = None) -> Solution:
        return self._solver.solve(target, self._seed, previous, bounds, self._dt, self._rate if rate is None else rate)
