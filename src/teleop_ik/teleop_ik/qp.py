"""A quadratic program by Pink [Caron et al.], solved by daqp or osqp: limits hold inside the optimisation, not behind it.

Variables are the displacement from the measured joints. Weighted tasks: the tool's position and attitude (a thousandth of
position's cost), staying near the last command, and keeping its speed. Bounds are hull(limits, last command), speed and, where
given, acceleration around the last speed; position goes before acceleration. The last command itself is always inside them, so
the program always has a solution. Where the position's Jacobian is singular the error's second derivative is added as far as it
is convex, as in sequential quadratic programming, and no more is asked for than the arm's reach: without the two an arm at full
stretch swings to and fro across it, or comes back with its elbow the other way round. What of the attitude is missing weighs down
the posture, or an attitude that cannot be had would do the same to a straight elbow. Far from the target the program says little
of the way there; ``differential`` walks it. Needs the
packages of ``requirements/qp.txt``; importing this module without them raises ImportError.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pinocchio as pin
import qpsolvers
from pink import Configuration, build_ik
from pink.limits import Limit
from pink.tasks import LowAccelerationTask, PostureTask, Task

from teleop_common.errors import ConfigError
from teleop_common.records import ORIGIN, Vec3
from teleop_ik.differential import Differential, kept_attitude
from teleop_ik.kinematics import Chain, Joints, Mat, forward, jacobian, second_order
from teleop_ik.place import SINGULAR, past_reach
from teleop_ik.solver import Bounds, Solution, Target, clamped, ended, refused, rotation_between, sane, shortened, usable, within

Array = npt.NDArray[np.float64]
BACKENDS = ("daqp", "osqp")
POSITION_COST = 1000.0  # [1/m]
ATTITUDE_COST = 1.0  # [1/rad]
POSTURE_COST = 0.01  # [1/rad], for the last command
LOW_ACCELERATION_COST = 0.01  # [1/rad], for the last displacement once more
LM_DAMPING = 1e-4  # of the squared weighted error, as Pink does
LONGEST = 0.10  # [m], a longer way is walked in several steps: the linearisation holds no farther
LARGEST_TURN = 0.5  # [rad], the same for attitude
LARGEST_STEP = 0.2  # [rad] of a joint, where time does not bound it
AT_REST = 1e-4  # [rad], a free step shorter than this is the end of the way


class ToolTask(Task):  # type: ignore[misc]  # Pink carries no types
    """Position and attitude of the tool, in six rows; yaw as given up by ``kept_attitude``."""

    def __init__(self) -> None:
        """Weigh position and attitude."""
        cost = [POSITION_COST] * 3 + [ATTITUDE_COST] * 3
        super().__init__(cost=cost, gain=1.0, lm_damping=LM_DAMPING)
        self.error: Array = np.zeros(6)
        self.columns: Array = np.zeros((6, 0))
        self.bowl: Array = np.zeros((0, 0))

    def compute_error(self, configuration: Configuration) -> Array:
        """Return is minus wanted, shape (6,) [m, rad]."""
        return self.error

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """Return the Jacobian, shape (6, n)."""
        return self.columns

    def compute_qp_objective(self, configuration: Configuration) -> tuple[Array, Array]:
        """Return Pink's own objective plus the convex part of what the position error bends."""
        square, slope = super().compute_qp_objective(configuration)
        return square + self.bowl, slope

    def __repr__(self) -> str:
        """Name the task."""
        return "ToolTask()"


class Box(Limit):  # type: ignore[misc]
    """Displacement between two bounds, each shape (n,) [rad]."""

    def __init__(self, count: int) -> None:
        """Take the number of joints."""
        self.rows: Array = np.vstack((np.eye(count), -np.eye(count)))
        self.bounds: Array = np.zeros(2 * count)

    def compute_qp_inequalities(self, configuration: Configuration, dt: float) -> tuple[Array, Array]:
        """Return G and h of G·Δq <= h."""
        return self.rows, self.bounds


class Qp:
    """Pink's quadratic program behind the solvers' interface."""

    name = "qp"

    def __init__(self, chain: Chain, source: str = "") -> None:
        """Make the model of ``chain`` and choose a backend.

        Raises:
            ConfigError: none of the backends is installed.
        """
        found = [name for name in BACKENDS if name in qpsolvers.available_solvers]
        if not found:
            remedy = "pip install daqp, or use solver:=differential"
            raise ConfigError("solver", "qp", qpsolvers.available_solvers, "daqp or osqp installed", remedy, source)
        self.chain = chain
        self.backend = found[0]
        self._guide = Differential(chain)
        model = _model(chain)
        count = len(chain.links)
        # the tasks bring their own kinematics, those of every solver here; Pink asks for a configuration all the same
        self._configuration = Configuration(model, model.createData(), np.zeros(count))
        self._tool = ToolTask()
        self._posture = PostureTask(cost=POSTURE_COST)
        self._evenly = LowAccelerationTask(cost=LOW_ACCELERATION_COST)
        self._box = Box(count)

    def solve(self, target: Target, seed: Joints, previous: Joints, bounds: Bounds, dt: float, rate: Joints = ()) -> Solution:
        """See ``solver.Solver``."""
        if not (usable(target, seed, previous) and sane(rate)):
            return refused(previous)
        allowed = within(bounds, previous)
        dt = dt if dt > 0.0 else 0.0
        posture = forward(self.chain, seed)
        straight = self._guide.straight(target, seed, posture, previous, allowed, dt)
        if straight is not None:
            return straight
        whole, share = shortened(target.position, posture.position, LONGEST)
        kept, swing, turns = kept_attitude(target.rotation, posture)
        turn = rotation_between(kept, posture.rotation)
        length = math.hypot(*turn)
        if length > LARGEST_TURN:
            turn = (turn[0] * LARGEST_TURN / length, turn[1] * LARGEST_TURN / length, turn[2] * LARGEST_TURN / length)
        moves = jacobian(posture)
        beyond = past_reach(moves, posture.axes, whole)
        way = (whole[0] - beyond[0], whole[1] - beyond[1], whole[2] - beyond[2])
        self._tool.error = -np.array((*way, *turn))
        self._tool.columns = np.vstack((np.array(moves).T, np.array(turns).T))
        self._tool.bowl = POSITION_COST**2 * _convex(second_order(posture.axes, moves, _singular(self._tool.columns[:3], way)))
        here, then = np.array(seed), np.array(previous)
        self._configuration.q = here
        self._posture.set_target(then)
        self._posture.cost = math.sqrt(POSTURE_COST**2 + ATTITUDE_COST**2 * min(length, LARGEST_TURN))
        timed = 0.0 < dt < math.inf
        coasting = np.array(rate or (0.0,) * len(seed)) * (dt if timed else 0.0)
        self._evenly.set_last_integration(then + coasting - here, 1.0)
        low, high = _near(then, LARGEST_STEP, allowed)
        goal = ahead = self._minimum(here, low, high)
        if ahead is not None and dt < math.inf:
            slow, fast = _box(then, coasting, allowed, dt, bool(rate and allowed.acceleration))
            if np.any(ahead < slow) or np.any(ahead > fast):
                low, high = slow, fast
                goal = self._minimum(here, low, high)
        if goal is None or ahead is None:  # the program has a solution; the backend ran out of iterations
            return ended(previous, previous, allowed, dt, ORIGIN, length, converged=False)
        stepped, on = clamped(tuple(goal.tolist()), allowed), clamped(tuple(ahead.tolist()), allowed)
        left = -(self._tool.error + self._tool.columns @ (ahead - here))
        # what the step leaves of the way is out of reach only where nothing but limits and damping ended it
        still = np.max(np.abs(ahead - then)) < AT_REST
        excess = _whole(target.position, posture.position, left[:3] + np.array(beyond), share) if still else ORIGIN
        short = share < 1.0 or length > LARGEST_TURN or stepped != on
        return ended(previous, stepped, allowed, dt, excess, math.hypot(swing, *left[3:].tolist()), short=short, ahead=on)

    def _minimum(self, here: Array, low: Array, high: Array) -> Array | None:
        """Return the joints [rad] between two bounds that minimise the tasks; None when the backend gave up."""
        self._box.bounds = np.concatenate((high - here, here - low))
        problem = build_ik(self._configuration, (self._tool, self._posture, self._evenly), 1.0, limits=(self._box,))
        answer = qpsolvers.solve_problem(problem, solver=self.backend)
        return None if answer.x is None else np.clip(here + answer.x, low, high)


def _singular(columns: Array, way: Vec3) -> Vec3:
    """Return the part of ``way`` [m] in which the Jacobian, shape (3, n), is singular or nearly so."""
    square = columns @ columns.T
    values, vectors = np.linalg.eigh(square)
    threshold = SINGULAR * max(float(np.trace(square)) / 3.0, 1e-12)
    x, y, z = ((vectors * np.clip(1.0 - values / threshold, 0.0, 1.0)) @ (vectors.T @ np.array(way))).tolist()
    return (x, y, z)


def _convex(lower: list[list[float]]) -> Array:
    """Return the nearest positive semidefinite matrix to a symmetric one given by its lower triangle."""
    values, vectors = np.linalg.eigh([row + [0.0] * (len(lower) - len(row)) for row in lower])
    convex: Array = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return convex


def _near(then: Array, step: Array | float, allowed: Bounds) -> tuple[Array, Array]:
    """Return the least and the greatest joints [rad] within ``step`` of ``then`` and within limits."""
    return np.maximum(then - step, np.array(allowed.lower)), np.minimum(then + step, np.array(allowed.upper))


def _box(then: Array, coasting: Array, allowed: Bounds, dt: float, limited: bool) -> tuple[Array, Array]:
    """Return the least and the greatest joints [rad] of this step; ``then`` lies between them."""
    low, high = _near(then, np.array(allowed.velocity) * dt, allowed)
    if limited:
        gain = np.array(allowed.acceleration) * dt * dt
        low = np.minimum(np.maximum(low, then + coasting - gain), then)
        high = np.maximum(np.minimum(high, then + coasting + gain), then)
    return low, high


def _whole(wanted: Vec3, position: Vec3, left: Array, share: float) -> Vec3:
    """Return what is left [m] of the whole way where the step was for a ``share`` of it."""
    return tuple([float(e) + (1.0 - share) * (w - p) for e, w, p in zip(left, wanted, position)])  # type: ignore[return-value]


def _model(chain: Chain) -> pin.Model:
    model = pin.Model()
    parent, rotation, translation = 0, chain.base_rotation, chain.base_translation
    for link in chain.links:
        parent = model.addJoint(parent, pin.JointModelRZ(), _se3(rotation, translation), link.name)
        rotation, translation = link.rotation, link.translation
    return model


def _se3(rotation: Mat, translation: Vec3) -> pin.SE3:
    return pin.SE3(np.reshape(rotation, (3, 3)), np.array(translation))
