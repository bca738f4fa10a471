"""Stances through session and retargeter: a hand's axes are those of the operator's picture, and so is the hand of each arm."""

import math

import pytest

from teleop_common import cell, limits, paths
from teleop_common.enums import Authority, Command, Convention, PoseFlags, Session
from teleop_common.records import (
    ArmAuthority,
    AuthorityState,
    Controller,
    Header,
    JointState,
    Pose,
    TeleopFrame,
    TrackedPose,
)
from teleop_common.spatial import quat_from_axis_angle, quat_from_yaw, quat_rotate
from teleop_description.assets import urdf_path
from teleop_ik.kinematics import forward
from teleop_ik.retargeter import Feedback, Retargeter
from teleop_ik.setup_arms import make_arms, read_chain
from teleop_session.session import SessionCore, Settings

HZ = 90.0
ARMS = ("left", "right")
ROBOT = limits.load(paths.config("limits/so101.yaml"))
CELL = cell.load(paths.config("cell.yaml"))
CHAIN = read_chain(urdf_path("so101"), ROBOT)
VIEWS = {"overshoulder": 0.0, "front": math.pi, "aside": 0.5 * math.pi}
STANCES = [
    ("behind", "", 0.0, ARMS),
    ("facing", "", math.pi, ("right", "left")),
    ("camera", "overshoulder", 0.0, ARMS),
    ("camera", "front", math.pi, ("right", "left")),
    # seen from the right side the arms stand one behind the other: the picture does not tell them apart, the names do
    ("camera", "aside", 0.5 * math.pi, ARMS),
]
# of the operator: forward, left, up; in OpenXR x is right, y up, z back
AXES = {
    "forward": ((0.0, 0.0, -1.0), (1.0, 0.0, 0.0)),
    "left": ((-1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    "up": ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
}
HANDS = {"left": (-0.2, 1.1, -0.3), "right": (0.2, 1.1, -0.3)}
ALL = int(PoseFlags.ALL)


class Chain:
    """Session and retargeter around arms that are where they were asked to be; the operator's frames are OpenXR's."""

    def __init__(self, stance, view, turned=0.0):
        settings = Settings(ARMS, "debug", False, stance, view, 1.0, Pose((-0.4, 0.0, -0.75)), "default")
        self.session = SessionCore(settings, CELL, VIEWS, (), 7)
        self.retargeter = Retargeter(make_arms(ARMS, ROBOT, CELL, CHAIN, solver="analytic"))
        self.joints = dict.fromkeys(ARMS, tuple(j.home for j in ROBOT.all_joints))
        self.turned, self.sequence = turned, 0
        for peer in self.session.machine.peers:
            self.session.on_peer(0.0, peer)
        self.session.on_frame(0.0, 1, "debug", self.raw({}))
        assert self.session.command(0.0, Command.CONNECT, "")[0].success
        assert self.session.command(0.0, Command.START, "")[0].success

    def raw(self, moves, turns=None):
        """Return a frame with each hand moved [m], and turned, off its place; the operator faces ``turned`` in the play space."""
        about = quat_from_axis_angle((0.0, 1.0, 0.0), self.turned)
        hands = {}
        for side, place in HANDS.items():
            at = tuple(a + b for a, b in zip(place, moves.get(side, (0.0, 0.0, 0.0))))
            attitude = (turns or {}).get(side, (0.0, 0.0, 0.0, 1.0))
            pose = TrackedPose(Pose(quat_rotate(about, at), attitude), ALL)
            hands[side] = Controller(True, pose, pose, 0.0, 1.0)
        self.sequence += 1
        stamp = Header(round(1e9 * self.sequence / HZ))
        head = TrackedPose(Pose((0.0, 1.6, 0.0), about), ALL)
        return TeleopFrame(stamp, "debug", 5, self.sequence, convention=int(Convention.OPENXR), head=head, **hands)

    def step(self, moves):
        """Play one frame."""
        raw = self.raw(moves)
        now = raw.header.stamp
        frame, _ = self.session.on_frame(1e-9 * now, now, "debug", raw)
        state = self.session.session_state(now)
        assert state.state == Session.RUNNING
        words, feedback = [], {}
        for arm, hand in zip(state.arm, state.hand):
            names = ROBOT.arm_names(arm)
            words.append(ArmAuthority(arm, int(Authority.DRIVING), 3, hand, "", False, names, self.joints[arm]))
            feedback[arm] = Feedback(JointState(Header(now), names, self.joints[arm]), 0.002)
        targets = self.retargeter.step(now, now, frame, AuthorityState(Header(now), 1, tuple(words)), state, feedback)
        for target in targets.arms:
            self.joints[target.arm] = target.position

    def tool(self, arm):
        """Return the tool's position in world [m]."""
        mount = CELL.mount(arm)
        turned = quat_rotate(mount.orientation, forward(CHAIN, self.joints[arm][:5]).position)
        return tuple(a + b for a, b in zip(mount.position, turned))

    def moved(self, moves, frames=60):
        """Return how far each tool goes in world [m] when the hands move by ``moves`` and stay."""
        self.step({})
        before = {arm: self.tool(arm) for arm in ARMS}
        for k in range(frames):
            share = min(1.0, k / 30)
            self.step({side: tuple(share * v for v in by) for side, by in moves.items()})
        return {arm: tuple(a - b for a, b in zip(self.tool(arm), before[arm])) for arm in ARMS}


@pytest.mark.parametrize(("stance", "view", "yaw", "hands"), STANCES)
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("turned", [0.0, 0.9])
def test_each_axis_of_each_hand_is_that_of_the_picture(stance, view, yaw, hands, axis, sign, turned):
    """Both hands alike, however the operator stands in the play space."""
    hand, seen = AXES[axis]
    by = tuple(0.03 * sign * v for v in hand)
    found = Chain(stance, view, turned).moved({"left": by, "right": by})
    wanted = quat_rotate(quat_from_yaw(yaw), tuple(0.03 * sign * v for v in seen))
    for arm in ARMS:
        assert found[arm] == pytest.approx(wanted, abs=2e-4)


@pytest.mark.parametrize(("stance", "view", "yaw", "hands"), STANCES)
@pytest.mark.parametrize("side", ["left", "right"])
def test_one_hand_moves_its_own_arm_and_no_other(stance, view, yaw, hands, side):
    found = Chain(stance, view).moved({side: (0.0, 0.03, 0.0)})
    for arm, hand in zip(ARMS, hands):
        assert found[arm][2] == pytest.approx(0.03 if hand == side else 0.0, abs=2e-4)
    # the arm of the left hand is the left one of the picture
    left = {arm: quat_rotate(quat_from_yaw(-yaw), CELL.mount(arm).position)[1] for arm in ARMS}
    if abs(left["left"] - left["right"]) > 1e-3:
        assert dict(zip(ARMS, hands))[max(left, key=left.get)] == "left"


def test_hands_apart_are_arms_apart_in_every_picture():
    for stance, view, yaw, _ in STANCES[:4]:
        found = Chain(stance, view).moved({"left": (-0.03, 0.0, 0.0), "right": (0.03, 0.0, 0.0)})
        apart = {arm: tuple(a + b for a, b in zip(CELL.mount(arm).position, by)) for arm, by in found.items()}
        y = {arm: quat_rotate(quat_from_yaw(-yaw), place)[1] for arm, place in apart.items()}
        assert abs(y["left"] - y["right"]) == pytest.approx(0.4 + 0.06, abs=1e-3)


def test_a_stance_changed_while_driving_moves_nothing_and_then_follows_the_new_picture():
    chain = Chain("behind", "")
    chain.moved({"left": (0.0, 0.02, 0.0)})
    assert chain.session.set_stance("facing", "", 0.0).success
    before = dict(chain.joints)
    for _ in range(5):
        chain.step({"left": (0.0, 0.02, 0.0)})
        for arm in ARMS:
            assert chain.joints[arm] == pytest.approx(before[arm], abs=1e-4)
    start = chain.tool("right")
    for k in range(60):
        chain.step({"left": (0.0, 0.02, -0.03 * min(1.0, k / 30))})
    assert [a - b for a, b in zip(chain.tool("right"), start)] == pytest.approx((-0.03, 0.0, 0.0), abs=3e-4)
