"""A Panda or a UR5 in a loop of plain numbers: hand → core → a servo that follows at once."""

import math
from pathlib import Path

import pytest

from teleop_common import cell, limits, records
from teleop_common.enums import Authority, Convention, PoseFlags, Session
from teleop_description.assets import urdf_path
from teleop_description.testing import installed
from teleop_ik.kinematics import forward
from teleop_ik.retargeter import Feedback, Retargeter
from teleop_ik.setup_arms import make_arms, read_chain

ROOT = Path(__file__).resolve().parents[4]
HZ = 90.0
DT = 1.0 / HZ
HAND = (0.4, -0.2, 1.1)
ALL = int(PoseFlags.ALL)


needed = pytest.mark.skipif(not installed(), reason="example-robot-data is not installed")


class Rig:
    """One right arm; every target is committed."""

    def __init__(self, robot, solver, start=None):
        """Stand at ``start``, else at home."""
        self.limits = limits.load(ROOT / f"config/limits/{robot}.yaml")
        self.chain = read_chain(urdf_path(self.limits.urdf), self.limits)
        self.count = len(self.limits.joints)
        arms = make_arms(("right",), self.limits, cell.load(ROOT / "config/cell.yaml"), self.chain, solver=solver)
        self.core = Retargeter(arms)
        self.names = self.limits.arm_names("right")
        self.joints = tuple(start) if start else tuple(j.home for j in self.limits.all_joints)
        self.engage, self.sequence, self.time = 3, 0, 1_000_000_000
        self.path = [self.joints]

    @property
    def tool(self):
        """Tool posture in the base frame."""
        return forward(self.chain, self.joints[: self.count])

    def step(self, position, orientation=records.IDENTITY_QUAT, trigger=0.0):
        """Play one frame and return the arm's target."""
        self.time += round(1e9 * DT)
        self.sequence += 1
        pose = records.TrackedPose(records.Pose(tuple(position), tuple(orientation)), ALL)
        head = records.TrackedPose(records.Pose((0.0, 0.0, 1.6)), ALL)
        frame = records.TeleopFrame(
            records.Header(self.time), "rig", 7, self.sequence, convention=int(Convention.ROS), head=head,
            right=records.Controller(True, pose, pose, trigger, 1.0),
        )  # fmt: skip
        word = records.ArmAuthority(
            arm="right", state=int(Authority.DRIVING), engage=self.engage, hand="right", name=self.names, reference=self.joints
        )
        session = records.SessionState(state=int(Session.RUNNING), epoch=2, scale=1.0, arm=("right",), hand=("right",))
        feedback = records.JointState(records.Header(self.time), self.names, self.joints)
        targets = self.core.step(
            self.time, self.time, frame, records.AuthorityState(records.Header(self.time), self.sequence, (word,)), session,
            {"right": Feedback(feedback, 0.005)},
        )  # fmt: skip
        target = targets.arms[0]
        self.joints = target.position
        self.path.append(self.joints)
        return target

    def worst_speed(self):
        """Return the greatest share of its configured speed at which any joint moved."""
        return max(
            abs(b - a) / (joint.velocity * DT)
            for then, now in zip(self.path, self.path[1:])
            for a, b, joint in zip(then[: self.count], now, self.limits.joints)
        )


def smooth(share):
    """Return a minimum-jerk ramp from 0 to 1."""
    share = min(1.0, max(0.0, share))
    return share**3 * (10.0 - 15.0 * share + 6.0 * share * share)


def angle(a, b):
    """Return the angle between two rotation matrices, row by row [rad]."""
    trace = sum(x * y for x, y in zip(a, b))
    return math.acos(min(1.0, max(-1.0, 0.5 * (trace - 1.0))))
