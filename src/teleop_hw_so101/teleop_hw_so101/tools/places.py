"""Where the tools of the arms are in world, from their measured joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from teleop_common.cell import Cell
from teleop_common.limits import RobotLimits
from teleop_common.records import Pose, Vec3
from teleop_common.spatial import compose
from teleop_description.models import arm_model, tool_frame_id


class ToolPlaces:
    """Forward kinematics of every arm on its mount."""

    def __init__(self, robot: RobotLimits, cell: Cell, arms: Sequence[str]) -> None:
        """Read the model.

        Raises:
            ConfigError: no model, or an arm without a mount.
        """
        self._model = arm_model(robot)
        self._data = self._model.createData()
        self._tip = tool_frame_id(self._model, robot)
        self._mounts = {arm: cell.mount(arm) for arm in arms}

    def world(self, arm: str, state: Any) -> Vec3:
        """Return the tool centre point of ``arm`` in world [m] from its joint states (limits file's order)."""
        pin.framesForwardKinematics(self._model, self._data, np.array(state.position[: self._model.nq]))
        x, y, z = self._data.oMf[self._tip].translation
        return compose(self._mounts[arm], Pose((float(x), float(y), float(z)))).position
