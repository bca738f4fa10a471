"""Stances: which way the operator faces in world, and which hand drives which arm."""

from __future__ import annotations

import math
from collections.abc import Mapping

from teleop_common import spatial
from teleop_common.records import Pose, Transform

STANCES = ("behind", "facing", "camera")
_OTHER = {"left": "right", "right": "left"}


def stance_yaw(stance: str, view: str, views: Mapping[str, float]) -> float:
    """Return the operator's forward in world [rad] about +z.

    Args:
        stance: one of ``STANCES``.
        view: the camera view in use (stance ``camera`` alone).
        views: view name → yaw of its horizontal looking direction in world [rad].
    """
    if stance == "facing":
        return math.pi
    return views[view] if stance == "camera" else 0.0


def pairing(stance: str, yaw: float, arms: tuple[str, ...], mounts: Mapping[str, Pose]) -> tuple[str, ...]:
    """Return the hand that drives each arm, in the order of ``arms``.

    ``behind`` pairs by name, ``facing`` crosswise. ``camera``, and arms of other names, pair by what the operator sees:
    the arm whose mount lies farther left as seen along ``yaw`` belongs to the left hand.

    Args:
        stance: one of ``STANCES``.
        yaw: the operator's forward in world [rad].
        arms: the arms in use.
        mounts: every mount of the cell, also of arms that are not in use.
    """
    if stance != "camera" and all(arm in _OTHER for arm in arms):
        return arms if stance == "behind" else tuple(_OTHER[arm] for arm in arms)
    across = {name: -math.sin(yaw) * pose.position[0] + math.cos(yaw) * pose.position[1] for name, pose in mounts.items()}
    middle = sum(across.values()) / len(across)
    if max(abs(value - middle) for value in across.values()) < 1e-3:
        # one mount alone, or a view along the line of mounts: the picture does not tell, the name does
        return tuple(arm if arm in _OTHER else "right" for arm in arms)
    return tuple("left" if across[arm] > middle else "right" for arm in arms)


def world_from_tracking(origin: Pose, yaw: float) -> Transform:
    """Return the play space in world.

    The play space as configured (for an operator behind the arms) is turned with its operator about world's vertical
    axis, so that the hands appear where the stance says they work.

    Args:
        origin: configured pose of the play space in world.
        yaw: the operator's forward [rad].
    """
    if yaw == 0.0:
        return Transform(*origin)
    return Transform(*spatial.compose(Pose(orientation=spatial.quat_from_yaw(yaw)), origin))
