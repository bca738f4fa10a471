"""The arms on the servos' horns: motors, gears, supply and heat over MuJoCo. Pure; one call a control period.

What each number rests on:

- torque and speed at 12 V: the maker's data (30 kg·cm, 45 rpm); the back-EMF they imply, 0.62 Nm·s/rad, agrees with the joint
  damping 0.60 of the arm's published simulation model, which is kept;
- friction, and with it the dead band: fitted, together with ``loop.D_DUTY``, to a recording of a real arm (leader and follower,
  50 Hz), see ``test_real_motion``;
- backlash: 1°, a third-party test of the servo;
- resistance of the supply's wires, heat resistance and capacity: assumed, of the right order; no source.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from teleop_common.cell import Cell
from teleop_common.limits import RobotLimits
from teleop_description.scene import SceneOptions, build, cube_poses, model_hash
from teleop_hw_so101.emulator.protection import Sensed
from teleop_hw_so101.registers import STEPS_PER_TURN

Array = NDArray[np.float64]
STEPS_PER_RADIAN = STEPS_PER_TURN / (2.0 * math.pi)
# friction that holds: at the defaults of the solver a limp arm creeps
_STICTION_SOLREF, _STICTION_SOLIMP = (0.004, 1.0), (0.99, 0.999, 0.001)
_STUCK = 1e4  # [Nm·s/rad] of damping: a jammed joint creeps less than a step in a second under the full torque


@dataclass(frozen=True)
class Motor:
    """A servo's motor and gear, and what feeds it.

    Attributes:
        stall: torque at a standstill, at ``volts`` [Nm].
        no_load: speed without a load, at ``volts`` [rad/s].
        stall_current: current at ``stall`` [A].
        resistance: of the winding [Ω].
        friction: of gear and bearings, to be overcome in either direction [Nm].
        backlash: play between motor and output shaft, on which the encoder sits [rad].
        volts: of the supply, unloaded [V].
        supply_resistance: of the supply and its wires, shared by the servos of an arm [Ω].
        ambient: temperature of the room [°C].
        heat_resistance: from winding to room [K/W].
        heat_capacity: of the servo [J/K].
    """

    stall: float = 2.94
    no_load: float = 4.71
    stall_current: float = 2.7
    resistance: float = 4.4
    friction: float = 0.25
    backlash: float = 0.0175
    volts: float = 12.0
    supply_resistance: float = 0.15
    ambient: float = 25.0
    heat_resistance: float = 6.0
    heat_capacity: float = 50.0


class Dynamics:
    """The scene with motors instead of position servos.

    Arrays hold all arms' joints, arm by arm, in the order of the limits file.

    Attributes:
        period: control period, which is the physics step [s].
        time: simulated [s].
        horn: angle of each magnet when its joint stands at 0 [step].
        volts: of each arm's supply now, unloaded [V].
        celsius: temperature of each servo [°C].
        model_hash: of the scene, as simulation and cameras have it.
    """

    def __init__(
        self,
        arms: Sequence[str],
        cell: Cell,
        limits: RobotLimits,
        horn: Sequence[float],
        motor: Motor | None = None,
        cubes_seed: int = 0,
    ) -> None:
        """Put the arms at rest at home, and the cubes where ``cubes_seed`` says."""
        self.motor = motor or Motor()
        options = SceneOptions()
        self.model = build(arms, cell, limits, options)
        self.model_hash = model_hash(self.model)
        self.period = options.timestep
        self.data = mujoco.MjData(self.model)
        names = [name for arm in arms for name in limits.arm_names(arm)]
        self._qpos = np.array([self.model.joint(n).qposadr[0] for n in names])
        self._dof = np.array([self.model.joint(n).dofadr[0] for n in names])
        self._actuator = np.array([self.model.actuator(n).id for n in names])
        self._to_motors()
        self.horn = np.array(horn, dtype=float)
        self.time, self.volts = 0.0, [self.motor.volts] * len(arms)
        self.celsius = np.full(len(names), self.motor.ambient)
        self._current = np.zeros(len(names))
        self._per_arm = len(limits.all_joints)
        self._sag = np.zeros(len(arms))
        self._gap = np.zeros(len(names))
        for name, pose in cube_poses(cell, cubes_seed).items():
            address = int(self.model.joint(name).qposadr[0])
            self.data.qpos[address : address + 7] = pose
        self.place(np.array([joint.home for _ in arms for joint in limits.all_joints]))

    def _to_motors(self) -> None:
        """Let the actuators take torques; the loops run in the servos."""
        model, actuators = self.model, self._actuator
        model.actuator_gainprm[actuators, 0] = 1.0
        model.actuator_biasprm[actuators, :3] = 0.0
        model.actuator_ctrllimited[actuators] = 0
        model.dof_frictionloss[self._dof] = self.motor.friction
        model.dof_solref[self._dof], model.dof_solimp[self._dof, :3] = _STICTION_SOLREF, _STICTION_SOLIMP
        self._damping = float(model.dof_damping[self._dof[0]])

    def place(self, position: Array) -> None:
        """Put the joints at rest at ``position`` [rad]."""
        self.data.qpos[self._qpos] = position
        self.data.qvel[self._dof] = 0.0
        mujoco.mj_forward(self.model, self.data)

    def stick(self, joint: int, stuck: bool) -> None:
        """Jam one joint, or free it."""
        self.model.dof_damping[self._dof[joint]] = _STUCK if stuck else self._damping

    def push(self, joint: int, torque: float) -> None:
        """Push one joint from outside, as a person would, until told otherwise [Nm]."""
        self.data.qfrc_applied[self._dof[joint]] = torque

    @property
    def position(self) -> Array:
        """Joints [rad]."""
        position: Array = self.data.qpos[self._qpos]
        return position

    def sense(self) -> list[Sensed]:
        """Return what each servo's sensors give now."""
        angles = self.horn + self.data.qpos[self._qpos] * STEPS_PER_RADIAN
        speeds = self.data.qvel[self._dof] * STEPS_PER_RADIAN
        columns = (angles, speeds, self._current, self._supplies(), self.celsius)
        return [Sensed(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]

    def _supplies(self) -> Array:
        """Return the voltage that reaches each servo [V]."""
        return np.repeat(np.maximum(np.array(self.volts) - self._sag, 0.0), self._per_arm)

    def step(self, duties: Sequence[float]) -> None:
        """Advance by one period with each motor at its duty [-1 to 1]."""
        motor, duty = self.motor, np.asarray(duties)
        share = self._supplies() / motor.volts
        speed = self.data.qvel[self._dof]
        # the joint damping of the model is the back-EMF: what is applied is the torque of the voltage alone
        torque = self._through_gear(duty * share * motor.stall, duty * share * motor.no_load, speed)
        self.data.ctrl[self._actuator] = torque
        mujoco.mj_step(self.model, self.data)
        self.time += self.period
        driven = duty != 0.0
        emf = np.where(driven, self.data.qvel[self._dof] / motor.no_load, 0.0)
        self._current = motor.stall_current * (duty * share - emf) * driven
        drawn = np.clip(duty * self._current, 0.0, None).reshape(-1, self._per_arm).sum(axis=1)
        self._sag = motor.supply_resistance * drawn
        lost = motor.resistance * self._current**2 - (self.celsius - motor.ambient) / motor.heat_resistance
        self.celsius = self.celsius + lost * self.period / motor.heat_capacity

    def _through_gear(self, torque: Array, free_speed: Array, speed: Array) -> Array:
        """Return the torque that reaches the output shafts: none while a motor crosses the play of its gear."""
        half = self.motor.backlash / 2.0
        moved = self._gap + (free_speed - speed) * self.period
        self._gap = np.clip(moved, -half, half)
        touching = np.where(torque > 0.0, self._gap >= half, self._gap <= -half)
        return np.where(touching, torque, 0.0)
