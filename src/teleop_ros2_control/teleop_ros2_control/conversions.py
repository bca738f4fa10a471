"""The controllers' messages, made of plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from builtin_interfaces.msg import Duration
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

MESSAGES: dict[str, Any] = {"trajectory": JointTrajectory, "array": Float64MultiArray}


def trajectory(names: Sequence[str], positions: Sequence[float], horizon: float) -> JointTrajectory:
    """Return a trajectory of one point, reached ``horizon`` [s] after its arrival; its stamp is zero, which means now.

    It carries positions only: joint_trajectory_controller then interpolates linearly from where it is.
    """
    seconds, fraction = divmod(horizon, 1.0)
    point = JointTrajectoryPoint(
        positions=list(positions), time_from_start=Duration(sec=int(seconds), nanosec=round(fraction * 1e9))
    )
    return JointTrajectory(joint_names=list(names), points=[point])


def message(kind: str, names: Sequence[str], positions: Sequence[float], horizon: float) -> Any:
    """Return the message of a controller of ``kind`` for ``positions`` [rad or m]; see ``trajectory``."""
    if kind == "trajectory":
        return trajectory(names, positions, horizon)
    return Float64MultiArray(data=list(positions))
