"""Where the simulation's cameras stand and what they look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

WRIST = "wrist"


@dataclass(frozen=True)
class View:
    """A camera fixed in the cell.

    Attributes:
        name: its name.
        position: in world, relative to the bench surface [m].
        target: the point it looks at, likewise [m].
        up: the direction that is up in the picture.
        fovy_deg: vertical field of view [deg].
    """

    name: str
    position: tuple[float, float, float]
    target: tuple[float, float, float]
    up: tuple[float, float, float]
    fovy_deg: float


# Framed on the workspace, not on the arms' extremes: cubes, place zone and mounts are inside with a margin (tested).
VIEWS = (
    View("overshoulder", (-0.28, 0.0, 0.80), (0.155, 0.0, 0.0), (0.0, 0.0, 1.0), 42.0),
    View("overhead", (0.17, 0.0, 1.05), (0.17, 0.0, 0.0), (1.0, 0.0, 0.0), 42.0),
    View("front", (0.90, 0.0, 0.42), (0.16, 0.0, 0.06), (0.0, 0.0, 1.0), 42.0),
)

# The wrist camera, in the frame of gripper_frame_link (z approach, y left, x down at level): it rides beside the fixed
# jaw, outside the sweep of the moving one, and looks between the finger tips.
WRIST_POSITION = (-0.050, 0.075, -0.115)
WRIST_TARGET = (-0.012, 0.0, 0.012)
WRIST_UP = (-1.0, 0.0, 0.0)
WRIST_FOVY_DEG = 62.0


def look_at(position: Sequence[float], target: Sequence[float], up: Sequence[float]) -> NDArray[np.float64]:
    """Return the attitude of a camera as a matrix, shape (3, 3), in MuJoCo's convention: x right, y up, -z forward."""
    back = np.subtract(position, target)
    back = back / np.linalg.norm(back)
    right = np.cross(up, back)
    right = right / np.linalg.norm(right)
    return np.column_stack([right, np.cross(back, right), back])


def quat_wxyz(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the quaternion (w, x, y, z) of a rotation matrix, shape (3, 3)."""
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, np.ascontiguousarray(matrix).ravel())
    return quat


def add_wrist_camera(spec: mujoco.MjSpec, tip_link: str) -> None:
    """Mount the wrist camera on the body that carries the tool site ``tip_link``."""
    site = spec.site(tip_link)
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, np.asarray(site.quat, float))
    rotation_tool_to_body = turn.reshape(3, 3)
    attitude = rotation_tool_to_body @ look_at(WRIST_POSITION, WRIST_TARGET, WRIST_UP)
    site.parent.add_camera(
        name=WRIST,
        pos=np.asarray(site.pos) + rotation_tool_to_body @ np.asarray(WRIST_POSITION),
        quat=quat_wxyz(attitude),
        fovy=WRIST_FOVY_DEG,
    )


def add_views(spec: mujoco.MjSpec, bench_height: float) -> None:
    """Add the cameras fixed in the cell."""
    lift = np.array([0.0, 0.0, bench_height])
    for view in VIEWS:
        spec.worldbody.add_camera(
            name=view.name,
            pos=np.asarray(view.position) + lift,
            quat=quat_wxyz(look_at(view.position, view.target, view.up)),
            fovy=view.fovy_deg,
        )
