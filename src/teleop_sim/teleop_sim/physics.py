"""The simulated world: MuJoCo behind the few operations that the driver and the services need. No clock in here."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from teleop_common.cell import Cell
from teleop_common.limits import RobotLimits
from teleop_description.scene import CUBES, cube_poses


@dataclass(frozen=True)
class Joints:
    """Measured joints of one arm, in the order of the limits file.

    Attributes:
        position: [rad].
        velocity: [rad/s].
        effort: torque of the servos [Nm].
    """

    position: tuple[float, ...]
    velocity: tuple[float, ...]
    effort: tuple[float, ...]


class Physics:
    """One scene of ``teleop_description.scene`` and its state."""

    def __init__(self, model: mujoco.MjModel, arms: Sequence[str], limits: RobotLimits, cell: Cell) -> None:
        """Start with every arm at home and the cubes of seed 0."""
        self.model, self.arms, self.limits, self.cell = model, tuple(arms), limits, cell
        self.data = mujoco.MjData(model)
        self.steps = 0
        self._qpos: dict[str, np.ndarray] = {}
        self._qvel: dict[str, np.ndarray] = {}
        self._act: dict[str, np.ndarray] = {}
        for arm in self.arms:
            names = limits.arm_names(arm)
            self._qpos[arm] = np.array([model.joint(n).qposadr[0] for n in names])
            self._qvel[arm] = np.array([model.joint(n).dofadr[0] for n in names])
            self._act[arm] = np.array([model.actuator(n).id for n in names])
        self._cubes = {name: int(model.joint(name).qposadr[0]) for name in CUBES}
        self.home = tuple(j.home for j in limits.all_joints)
        self.reset({}, 0)

    def reset(self, start: Mapping[str, Sequence[float]], seed: int) -> None:
        """Put every arm at rest at its start pose, home by default, and the cubes where ``seed`` says."""
        mujoco.mj_resetData(self.model, self.data)
        self.steps = 0
        for arm in self.arms:
            position = tuple(start.get(arm, self.home))
            self.data.qpos[self._qpos[arm]] = position
            self.set_goal(arm, position)
        self._place_cubes(seed)
        mujoco.mj_forward(self.model, self.data)

    def set_cubes(self, seed: int) -> str:
        """Put the cubes where ``seed`` says, at rest, unless an arm stands there.

        Returns:
            Empty on success, else which arm is in the way; then nothing was changed.
        """
        before = self.data.qpos.copy(), self.data.qvel.copy()
        self._place_cubes(seed)
        mujoco.mj_forward(self.model, self.data)
        if blocked := self._cube_in_arm():
            self.data.qpos[:], self.data.qvel[:] = before
            mujoco.mj_forward(self.model, self.data)
            return f"cubes '{seed}': got {blocked}, allowed free places; move the arm away or reset the simulation"
        return ""

    def _place_cubes(self, seed: int) -> None:
        for name, pose in cube_poses(self.cell, seed).items():
            address, dof = self._cubes[name], int(self.model.joint(name).dofadr[0])
            self.data.qpos[address : address + 7] = pose
            self.data.qvel[dof : dof + 6] = 0.0

    def _cube_in_arm(self) -> str:
        for contact in self.data.contact:
            bodies = [self.model.body(self.model.geom_bodyid[g]).name for g in (contact.geom1, contact.geom2)]
            cubes = [b for b in bodies if b in CUBES]
            others = [b for b in bodies if b not in CUBES and b != "world"]
            if cubes and others:
                return f"{others[0]} at the place of {cubes[0]}"
        return ""

    def set_goal(self, arm: str, position: Sequence[float]) -> None:
        """Set the servo goals of ``arm`` [rad]; they act from the next step on."""
        self.data.ctrl[self._act[arm]] = position

    def goal(self, arm: str) -> tuple[float, ...]:
        """Return the servo goals of ``arm`` [rad]."""
        return tuple(self.data.ctrl[self._act[arm]].tolist())

    def set_torque(self, arm: str, on: bool) -> None:
        """Let the servos of ``arm`` pull, or make them limp."""
        bit = 1 << int(self.model.actuator_group[self._act[arm][0]])
        mask = self.model.opt.disableactuator
        self.model.opt.disableactuator = mask & ~bit if on else mask | bit

    def push(self, arm: str, torque: Sequence[float]) -> None:
        """Push the joints of ``arm`` from outside, as a person would, until told otherwise: torques [Nm], zero to let go."""
        self.data.qfrc_applied[self._qvel[arm]] = torque

    def step(self, count: int) -> None:
        """Advance by ``count`` steps."""
        if count > 0:
            mujoco.mj_step(self.model, self.data, nstep=count)
            self.steps += count

    def keep(self) -> mujoco.MjData:
        """Return a copy of everything that the next step depends on, for ``put_back``."""
        return copy.copy(self.data)

    def put_back(self, kept: mujoco.MjData) -> None:
        """Make the state what it was at ``keep``, to the bit. No steps may have been done since."""
        mujoco.mj_copyData(self.data, self.model, kept)

    def show(self, positions: Sequence[float]) -> None:
        """Set all generalised positions, at rest and without force: a picture, no physics."""
        self.data.qpos[:] = positions
        self.data.qvel[:] = 0.0
        self.data.actuator_force[:] = 0.0
        mujoco.mj_kinematics(self.model, self.data)

    def joints(self, arm: str) -> Joints:
        """Return the measured joints of ``arm``."""
        data = self.data
        return Joints(
            tuple(data.qpos[self._qpos[arm]].tolist()),
            tuple(data.qvel[self._qvel[arm]].tolist()),
            tuple(data.actuator_force[self._act[arm]].tolist()),
        )

    def load(self, arm: str) -> tuple[float, ...]:
        """Return the share of the torque limit in use, -1 to 1, per joint of ``arm``."""
        act = self._act[arm]
        return tuple((self.data.actuator_force[act] / self.model.actuator_forcerange[act, 1]).tolist())

    @property
    def time(self) -> float:
        """Simulated time since the last reset [s]."""
        return float(self.data.time)

    def state(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return all generalised positions and velocities, in MuJoCo's order and units."""
        return tuple(self.data.qpos.tolist()), tuple(self.data.qvel.tolist())
