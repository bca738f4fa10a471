"""The SO-101 and a rig that plays operator, guard and servos around the core, all in plain numbers."""

import math
import random
from collections import deque
from pathlib import Path

import pytest

from teleop_common import cell, limits, records
from teleop_common.enums import Authority, Convention, PoseFlags, Session
from teleop_description.assets import urdf_path
from teleop_ik.kinematics import forward
from teleop_ik.retargeter import Feedback, Retargeter
from teleop_ik.setup_arms import make_arms, make_solver, read_chain
from teleop_ik.solver import Bounds

ROOT = Path(__file__).resolve().parents[4]
ROBOT = limits.load(ROOT / "config/limits/so101.yaml")
CELL = cell.load(ROOT / "config/cell.yaml")
CHAIN = read_chain(urdf_path("so101"), ROBOT)
LIMITS = Bounds(*(tuple(getattr(j, key) for j in ROBOT.joints) for key in ("lower", "upper", "velocity", "acceleration")))
HOME = tuple(j.home for j in ROBOT.all_joints)
HZ = 90.0
ALL = int(PoseFlags.ALL)


class Rig:
    """One right arm in a loop: hand → core → guard that commits the target → servo with lag, delay and droop → core.

    The servo follows its command with a first-order lag, after a delay, and settles ``droop`` short of it.
    """

    def __init__(
        self, solver="analytic", start=HOME, measured=None, droop=(0.0,) * 6, lag=0.0, delay=0, scale=1.0, yaw=0.0, **kwargs
    ):
        arms = make_arms(("right",), ROBOT, CELL, CHAIN, solver=solver, **kwargs)
        self.core = Retargeter(arms)
        self.names = ROBOT.arm_names("right")
        self.reference = tuple(start)
        self.droop = droop
        self.measured = tuple(measured) if measured else tuple(q - d for q, d in zip(start, droop))
        self.queue = deque([self.reference] * (delay + 1), maxlen=delay + 1)
        self.lag = lag
        self.scale, self.yaw = scale, yaw
        self.engage, self.connection, self.epoch, self.sequence = 5, 9, 2, 0
        self.time = 1_000_000_000
        self.state = Authority.DRIVING
        self.head = records.TrackedPose(records.Pose((0.0, 0.0, 1.6)), ALL)
        self.space = records.Transform()
        self.age = 0.005
        self.blocked = False

    def frame(self, position, orientation=records.IDENTITY_QUAT, *, trigger=0.0, flags=ALL, recentred=False):
        """Return the next operator frame."""
        self.sequence += 1
        pose = records.TrackedPose(records.Pose(tuple(position), tuple(orientation)), flags)
        return records.TeleopFrame(
            records.Header(self.time),
            "rig",
            self.connection,
            self.sequence,
            convention=int(Convention.ROS),
            head=self.head,
            right=records.Controller(True, pose, pose, trigger, 1.0),
            recentred=recentred,
            world_from_tracking=self.space,
        )

    def authority(self):
        """Return the guard's word."""
        word = records.ArmAuthority(
            arm="right", state=int(self.state), engage=self.engage, hand="right", name=self.names, reference=self.reference
        )
        return records.AuthorityState(records.Header(self.time), self.sequence, (word,))

    def session(self):
        """Return the session's state."""
        return records.SessionState(
            state=int(Session.RUNNING), epoch=self.epoch, yaw=self.yaw, scale=self.scale, arm=("right",), hand=("right",)
        )

    def feedback(self):
        """Return the newest joint state, or nothing."""
        if self.measured is None:
            return {}
        state = records.JointState(records.Header(self.time), self.names, self.measured)
        return {"right": Feedback(state, self.age)}

    def step(self, position, orientation=records.IDENTITY_QUAT, *, commit=True, **frame):
        """Play one frame and return the arm's target."""
        self.time += round(1e9 / HZ)
        targets = self.core.step(
            self.time, self.time, self.frame(position, orientation, **frame), self.authority(), self.session(), self.feedback()
        )
        target = targets.arms[0]
        if commit:
            self.reference = target.position
        self.queue.append(self.reference)
        if self.measured is not None and not self.blocked:
            share = 1.0 if self.lag == 0.0 else 1.0 - math.exp(-1.0 / (HZ * self.lag))
            wanted = [q - d for q, d in zip(self.queue[0], self.droop)]
            self.measured = tuple(m + share * (w - m) for m, w in zip(self.measured, wanted))
        return target

    @property
    def tool(self):
        """Measured tool position in the arm's base frame [m]."""
        return forward(CHAIN, self.measured[:5]).position


@pytest.fixture(params=["analytic", "differential"])
def solver(request):
    return make_solver(request.param, CHAIN)


@pytest.fixture
def rng():
    return random.Random(20260101)


@pytest.fixture
def so101():
    """The robot as the tests need it: chain, limits, home and the rig's class."""

    class So101:
        robot, chain, bounds, home, cell, rig = ROBOT, CHAIN, LIMITS, HOME, CELL, Rig

        @staticmethod
        def random(rng, margin=0.0):
            return tuple(rng.uniform(low + margin, high - margin) for low, high in zip(LIMITS.lower, LIMITS.upper))

    return So101
