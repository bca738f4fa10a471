"""What comes in, checked at the door: a message is taken over as plain values, or refused with a reason."""

from __future__ import annotations

import math

from teleop_common.enums import PoseFlags, Session, TargetStatus
from teleop_common.records import Controller, DriverState, JointState, JointTarget, SessionState, TrackedPose
from teleop_safety.state import Joints

# statuses whose position is meant to be followed; the others say that there is nothing to follow
FOLLOW = (TargetStatus.OK, TargetStatus.UNREACHABLE, TargetStatus.STALE_FEEDBACK)

BOUND = 1000.0  # [rad] or [rad/s], beyond which no joint goes: such a number would overflow what is reckoned with it


class Refused(ValueError):
    """A message that must not be acted on; its text says why."""


def check_stamp(stamp: int, now: int, stale: int) -> None:
    """Refuse a message whose stamp is more than ``stale`` off ``now`` [ns, ROS clock]."""
    if abs(now - stamp) > stale:
        raise Refused(f"stamp: got {(now - stamp) * 1e-9:+.3f} s old, allowed within {stale * 1e-9:g} s")


def ordered(what: str, names: tuple[str, ...], values: tuple[float, ...], wanted: tuple[str, ...]) -> Joints:
    """Return ``values`` of ``names`` in the order ``wanted``.

    Raises:
        Refused: a missing or unknown name, another length, a value that is not finite or no joint's.
    """
    if len(names) != len(values):
        raise Refused(f"{what}: got {len(values)} values for {len(names)} names, allowed one each")
    if names != wanted:
        table = dict(zip(names, values))
        if len(table) != len(names) or set(table) != set(wanted):
            raise Refused(f"{what}: got joints {', '.join(names) or 'none'}, allowed {', '.join(wanted)}")
        values = tuple(table[name] for name in wanted)
    for value in values:
        if not -BOUND < value < BOUND:  # false for NaN, too
            raise Refused(f"{what}: got {value}, allowed finite numbers within ±{BOUND:g}")
    return values


def is_tracked(tracked: TrackedPose) -> bool:
    """Return whether a pose may drive: all four flags, finite, its quaternion of unit length."""
    if tracked.flags & PoseFlags.ALL != PoseFlags.ALL:
        return False
    x, y, z, w = tracked.pose.orientation
    norm = x * x + y * y + z * z + w * w
    return abs(norm - 1.0) < 0.02 and all(map(math.isfinite, tracked.pose.position))


def is_present(controller: Controller) -> bool:
    """Return whether a controller's squeeze means anything: connected and a number in [0, 1]."""
    return bool(controller.connected) and 0.0 <= controller.squeeze <= 1.0


def check_target(target: JointTarget, names: tuple[str, ...], owner: str) -> tuple[Joints, tuple[int, ...]]:
    """Return position and reasons of one arm's target in the order ``names``; ``owner`` is who has the arm.

    Raises:
        Refused: another owner, or bad values.
    """
    if target.owner != owner:
        raise Refused(f"owner: got '{target.owner[:64]}', allowed '{owner}'")
    position = ordered("target", target.name, target.position, names)
    if len(target.reason) != len(target.name):
        return position, (0,) * len(names)
    if target.name == names:
        return position, target.reason
    table = dict(zip(target.name, target.reason))
    return position, tuple(table[name] for name in names)


def check_joints(state: JointState, newest: int, names: tuple[str, ...]) -> Joints:
    """Return the measured position [rad] in the order ``names``. Speeds are looked at for sanity only: a driver may invent them.

    Raises:
        Refused: a sample that is not newer than the last (``newest`` [ns]), or bad values.
    """
    if state.header.stamp <= newest:
        raise Refused(f"joint state: got a sample {(newest - state.header.stamp) * 1e-9:g} s before the last, allowed newer ones")
    position = ordered("joint state", state.name, state.position, names)
    if state.velocity:
        ordered("joint speed", state.name, state.velocity, names)
    return position


def check_driver(state: DriverState, names: tuple[str, ...]) -> Joints:
    """Return the driver's goal in the order ``names`` [rad]; empty with torque off, when it means nothing.

    Raises:
        Refused: bad values.
    """
    if state.torque_on:
        return ordered("driver goal", state.name, state.goal, names)
    if set(state.name) != set(names):
        raise Refused(f"driver: got joints {', '.join(state.name) or 'none'}, allowed {', '.join(names)}")
    return ()


def pairing(session: SessionState, arms: tuple[str, ...]) -> dict[str, str]:
    """Return arm → hand; an arm named twice, a hand named twice and names that do not exist drive nothing."""
    hands: dict[str, str] = {}
    for arm, hand in zip(session.arm, session.hand):
        if arm in arms and arm not in hands and hand in ("left", "right") and hand not in hands.values():
            hands[arm] = hand
    return hands


def is_running(session: int) -> bool:
    """Return whether the session lets an arm move."""
    return session == Session.RUNNING
