"""What one arm's step is configured with, takes in, and carries on."""

from __future__ import annotations

import math
from typing import NamedTuple

from teleop_common.enums import PoseFlags
from teleop_common.limits import JointLimits, RobotLimits
from teleop_common.records import ArmAuthority, Controller, JointState, Pose, Vec3
from teleop_common.spatial import compose, quat_conjugate, quat_normalized, quat_rotate
from teleop_description.folds import Fold
from teleop_description.hand import Hand
from teleop_ik import floor
from teleop_ik.anchor import Anchor
from teleop_ik.fold import Over
from teleop_ik.kinematics import Joints
from teleop_ik.solver import Bounds, sane
from teleop_ik.wrist import GAINS

SHARE = 0.95  # of speed and acceleration; with the rest the guard makes up for frames that come unevenly


class ArmConfig(NamedTuple):
    """What does not change while the process lives.

    Attributes:
        name: arm.
        limits: limits of the robot.
        mount: base of the arm in world.
        bench: height of the bench in world [m].
        leash: largest distance of target from measured joints [rad].
        hand: what is kept above the bench besides the joints.
        pose: ``grip`` or ``aim``: which pose of the controller drives.
        gains: translation gains along forward, left and up.
        dead_zone: of the trigger, at either end.
        trigger_gain: of what lies between.
        stale: age from which feedback is no longer used [s].
        feedback: ``closed``: solves start from the measured joints and the leash ties targets to them; ``open``: the last
            command stands for the arm.
        folds: borders at which the arm would fold against itself.
        wrist: ``ik``: the tool's attitude follows the hand's; ``direct``: the wrist's joints do.
        wrist_gains: of the hand's roll, pitch and yaw on a direct wrist [rad/rad].
    """

    name: str
    limits: RobotLimits
    mount: Pose
    bench: float
    leash: float
    hand: Hand = Hand()
    pose: str = "grip"
    gains: Vec3 = (1.0, 1.0, 1.0)
    dead_zone: float = 0.03
    trigger_gain: float = 1.0
    stale: float = 0.2
    feedback: str = "closed"
    folds: tuple[Fold, ...] = ()
    wrist: str = "ik"
    wrist_gains: Vec3 = GAINS

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all joints, prefixed, the gripper last."""
        return self.limits.arm_names(self.name)

    @property
    def floor(self) -> floor.Floor:
        """The level that the hand keeps above."""
        up = quat_rotate(quat_conjugate(self.mount.orientation), (0.0, 0.0, 1.0))
        return floor.Floor(up, self.bench + self.limits.floor_clearance - self.mount.position[2], self.hand)

    @property
    def bounds(self) -> Bounds:
        """Limits of the arm joints, less what the guard keeps in hand."""
        return bounds_of(self.limits.joints)


def bounds_of(joints: tuple[JointLimits, ...]) -> Bounds:
    """Return the limits of ``joints``, less what the guard keeps in hand."""
    return Bounds(
        tuple(j.lower for j in joints),
        tuple(j.upper for j in joints),
        tuple(SHARE * j.velocity for j in joints),
        tuple(SHARE * j.acceleration for j in joints),
    )


class ArmState(NamedTuple):
    """All that one arm carries from frame to frame.

    Attributes:
        anchor: the anchor, or None before the next tracked frame of an engaged arm.
        key: engage, connection and epoch for which it holds.
        previous: last target [rad], arm joints.
        rate: its speed [rad/s]; empty: at rest.
        leashes: leash of each arm joint [rad].
        held: where each arm joint had come to before it was pushed [rad]; empty: nowhere yet.
        level: floor in force [m].
        rest: height that the floor raised the last target to [m], far below when it did not.
        grip: where the gripper is to go [rad].
        trigger: gripper position that the trigger asked for one frame earlier [rad].
        taken: whether the trigger has the gripper.
        opening: where the gripper is on its way there, within its speed and acceleration [rad].
        opens: how fast [rad/s].
        measured: arm joints where they were last believed to be [rad]; empty: nowhere yet.
        heard: stamp of that [ns].
        overs: how far the arm started outside the borders of its folds, as far as it has not come in since.
    """

    anchor: Anchor | None = None
    key: tuple[int, int, int] = (0, 0, 0)
    previous: Joints = ()
    rate: Joints = ()
    leashes: Joints = ()
    held: Joints = ()
    level: float = 0.0
    rest: float = floor.NOWHERE
    grip: float = 0.0
    trigger: float = 0.0
    taken: bool = False
    opening: float = 0.0
    opens: float = 0.0
    overs: tuple[Over, ...] = ()
    measured: Joints = ()
    heard: int = 0


class ArmInput(NamedTuple):
    """What one frame brings for one arm.

    Attributes:
        authority: the guard's word on this arm.
        hand: the paired controller, poses in the tracking space; None when no hand is paired.
        world_from_tracking: the tracking space in world.
        heading: yaw of the operator in world [rad], or None while unknown.
        yaw: of the stance [rad].
        scale: translation scale.
        connection: of the frame.
        epoch: of the session.
        recentred: the play space moved.
        feedback: newest joint state, or None.
        age: its age [s].
        dt: time since the frame before [s].
    """

    authority: ArmAuthority
    hand: Controller | None
    world_from_tracking: Pose
    heading: float | None
    yaw: float
    scale: float
    connection: int
    epoch: int
    recentred: bool
    feedback: JointState | None
    age: float
    dt: float


def ordered(names: tuple[str, ...], given: tuple[str, ...], values: tuple[float, ...]) -> Joints | None:
    """Return ``values`` of joints ``given`` in the order of ``names``; None when one is missing or absurd."""
    if len(values) < len(given):
        return None
    if given != names:
        table = dict(zip(given, values))
        if any(name not in table for name in names):
            return None
        values = tuple([table[name] for name in names])
    return tuple(values[: len(names)]) if sane(values) else None


def tracked_hand(hand: Controller | None, which: str, world_from_tracking: Pose) -> Pose | None:
    """Return the hand's pose in world; None unless it is tracked, finite and a rotation."""
    if hand is None or not hand.connected:
        return None
    sample = hand.grip if which == "grip" else hand.aim
    if sample.flags != PoseFlags.ALL or not all(map(math.isfinite, sample.pose.position)):
        return None
    try:
        pose = Pose(sample.pose.position, quat_normalized(sample.pose.orientation))
    except ValueError:
        return None
    world = compose(world_from_tracking, pose)
    return world if all(map(math.isfinite, world.position + world.orientation)) else None


def claims_tracked(hand: Controller, which: str) -> bool:
    """Return whether the controller says that its pose is tracked."""
    return (hand.grip if which == "grip" else hand.aim).flags == PoseFlags.ALL
