"""The data sets of a take: what a row holds beside the poses, and how records fill it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from teleop_common.records import ArmAuthority, Controller, GuardState, JointCommand, Pose, SimState, TeleopFrame
from teleop_recorder.hdf5 import Channel

SIDES = ("left", "right")
_ANALOGUE = ("trigger", "squeeze", "thumbstick_x", "thumbstick_y")
_BUTTONS = {
    "primary_click": "primary",
    "secondary_click": "secondary",
    "thumbstick_click": "thumbstick_click",
    "menu_click": "menu",
}
_WHERE = "m, tracking_origin (x forward, y left, z up)"
_TURN = "quaternion w x y z, tracking_origin"
_NAN = float("nan")


def channels(arms: Sequence[str], joints: int, aim: bool, head: bool) -> dict[str, Channel]:
    """Return path → data set.

    Args:
        arms: names of the arms.
        joints: joints of each.
        aim: record the aim pose of the hands.
        head: record the pose of the head.
    """
    made = {
        "meta/time/sim_time": Channel((), "f8", _NAN, "s, NaN without a simulation"),
        "meta/time/physics_step": Channel((), "i8", -1, "-1 without a simulation"),
        "meta/time/wall_time": Channel((), "f8", 0, "s since the epoch, of the commit"),
        "meta/time/episode_time": Channel((), "f8", 0, "s since the first row, by monotonic_ns"),
        "meta/time/stamp_ns": Channel((), "i8", 0, "ns since the epoch, of the commit"),
        "meta/time/monotonic_ns": Channel((), "i8", 0, "ns, CLOCK_MONOTONIC of the guard's machine, of the commit"),
        "meta/time/origin_ns": Channel((), "i8", 0, "ns since the epoch, of the frame that caused the commit, 0 none"),
        "meta/time/received_ns": Channel((), "i8", 0, "ns since the epoch, when the commit reached the recorder"),
        "meta/commit": Channel((), "i8", 0, "the guard's number of the commit"),
        "meta/frame/connection": Channel((), "i8", 0, "of the operator's sample in teleop/, the newest at the commit"),
        "meta/frame/sequence": Channel((), "i8", 0, "of that sample"),
        "meta/frame/stamp_ns": Channel((), "i8", 0, "ns since the epoch, of that sample"),
        "guard/stamp_ns": Channel((), "i8", 0, "ns since the epoch, of the guard state below (10 Hz)"),
        "guard/scale": Channel((), "f4", _NAN, "0..1, of the last step"),
        "guard/holding": Channel((), "u1"),
        "guard/clearance_committed": Channel((), "f4", _NAN, "m"),
        "guard/clearance_measured": Channel((), "f4", _NAN, "m"),
    }
    for side in SIDES:
        base = f"teleop/{side}"
        made |= {f"{base}/{name}": Channel((), "f4") for name in _ANALOGUE}
        made |= {f"{base}/{name}": Channel((), "u1") for name in _BUTTONS}
        made[f"{base}/connected"] = Channel((), "u1")
        for pose in ("grip", "aim") if aim else ("grip",):
            made |= _pose(f"{base}/{pose}_")
    if head:
        made |= _pose("teleop/head/")
    for arm in arms:
        base = f"control/{arm}"
        made |= {f"{base}/{n}": Channel((joints,), "f8", _NAN, "rad") for n in ("requested", "committed", "measured")}
        made[f"{base}/reason"] = Channel((joints,), "u1", 0, "JointCommand reason")
        made[f"{base}/dt"] = Channel((), "f8", 0, "s, motion time credited, 0 for a hold")
        made[f"{base}/feedback_ns"] = Channel((), "i8", 0, "ns since the epoch, of the measurement")
        base = f"authority/{arm}"
        made[f"{base}/state"] = Channel((), "u1", 0, "ArmAuthority state")
        made[f"{base}/engage"] = Channel((), "u4")
        made[f"{base}/must_open"] = Channel((), "u1")
    return made


def _pose(base: str) -> dict[str, Channel]:
    return {
        f"{base}position": Channel((3,), "f4", 0, _WHERE),
        f"{base}orientation": Channel((4,), "f4", 0, _TURN),
        f"{base}flags": Channel((), "u1", 0, "TrackedPose flags: 15 when tracked"),
    }


def _put_pose(row: dict[str, Any], base: str, pose: Pose, flags: int) -> None:
    x, y, z, w = pose.orientation
    row[f"{base}position"], row[f"{base}orientation"], row[f"{base}flags"] = pose.position, (w, x, y, z), flags


def put_frame(row: dict[str, Any], frame: TeleopFrame, aim: bool, head: bool) -> None:
    """Fill in the operator's sample."""
    row["meta/frame/connection"], row["meta/frame/sequence"] = frame.connection, frame.sequence
    row["meta/frame/stamp_ns"] = frame.header.stamp
    for side in SIDES:
        hand: Controller = frame.hand(side)
        base = f"teleop/{side}"
        for name in _ANALOGUE:
            row[f"{base}/{name}"] = getattr(hand, name)
        for name, field in _BUTTONS.items():
            row[f"{base}/{name}"] = getattr(hand, field)
        row[f"{base}/connected"] = hand.connected
        _put_pose(row, f"{base}/grip_", hand.grip.pose, hand.grip.flags)
        if aim:
            _put_pose(row, f"{base}/aim_", hand.aim.pose, hand.aim.flags)
    if head:
        _put_pose(row, "teleop/head/", frame.head.pose, frame.head.flags)


def put_commit(row: dict[str, Any], command: JointCommand, received: int, began: int) -> None:
    """Fill in what all arms of a commit share; ``began`` is the first row's time on the guard's steady clock [ns]."""
    stamp = command.header.stamp
    row["meta/time/wall_time"] = stamp * 1e-9
    row["meta/time/episode_time"] = (command.commit_time_ns - began) * 1e-9
    row["meta/time/stamp_ns"], row["meta/time/monotonic_ns"] = stamp, command.commit_time_ns
    row["meta/time/origin_ns"], row["meta/time/received_ns"] = command.origin_stamp, received
    row["meta/commit"] = command.commit


def put_command(row: dict[str, Any], arm: str, command: JointCommand, joints: int) -> None:
    """Fill in one arm's command; arrays of another length than ``joints`` are left out."""
    base = f"control/{arm}"
    row[f"authority/{arm}/state"], row[f"{base}/dt"], row[f"{base}/feedback_ns"] = (
        command.authority,
        command.dt,
        command.feedback_stamp,
    )
    values = {
        "requested": command.requested,
        "committed": command.position,
        "measured": command.measured,
        "reason": command.reason,
    }
    row |= {f"{base}/{name}": value for name, value in values.items() if len(value) == joints}


def put_authority(row: dict[str, Any], arm: ArmAuthority) -> None:
    """Fill in one arm's authority."""
    base = f"authority/{arm.arm}"
    row[f"{base}/state"], row[f"{base}/engage"], row[f"{base}/must_open"] = arm.state, arm.engage, arm.must_open


def put_guard(row: dict[str, Any], state: GuardState) -> None:
    """Fill in what the collision filter saw last."""
    row["guard/stamp_ns"], row["guard/scale"], row["guard/holding"] = state.header.stamp, state.scale, state.holding
    row["guard/clearance_committed"] = np.float32(state.clearance_committed)
    row["guard/clearance_measured"] = np.float32(state.clearance_measured)


def put_sim(row: dict[str, Any], state: SimState) -> None:
    """Fill in the simulation's time."""
    row["meta/time/sim_time"], row["meta/time/physics_step"] = state.sim_time, state.physics_step
