"""Arms on emulated servo buses in place of the simulation, in lockstep: drivers, bytes and servos on the same virtual clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from teleop_common.cell import Cell
from teleop_common.limits import RobotLimits
from teleop_common.records import DriverState, Header, JointCommand, JointState, SimState
from teleop_common.schedule import Schedule
from teleop_hw_so101.emulator.emulator import Emulator
from teleop_hw_so101.emulator.loopback import Loopback
from teleop_hw_so101.emulator.unit import make_unit
from teleop_hw_so101.testing import PERIOD, Bench

_BEFORE = 0.5  # [s] in which the drivers connect and give the arms torque


class Measured(NamedTuple):
    """What ``physics.joints`` of the simulation returns, as far as it is asked for here.

    Attributes:
        position: joints [rad].
    """

    position: tuple[float, ...]


class Scene:
    """Stands where ``Simulation.physics`` does: what is on the servos' horns, and the cubes beside.

    Attributes:
        model: MuJoCo's.
        data: MuJoCo's.
    """

    def __init__(self, emulator: Emulator) -> None:
        """Look at the scene of ``emulator``."""
        self.model, self.data = emulator.dynamics.model, emulator.dynamics.data
        self._emulator = emulator

    def joints(self, arm: str) -> Measured:
        """Return where the joints of ``arm`` really stand."""
        return Measured(self._emulator.position(arm))


class EmulatedArms:
    """Stands where ``Lockstep.cores.simulation`` does; the arms are armed and hold when it begins.

    Args:
        arms: their names.
        robot: the limits file.
        cell: the cell.
        begin: what the clock says at the beginning [s].
        cubes_seed: places of the cubes.
        seed: of the emulated units.

    Attributes:
        benches: the driver of each arm, on its emulated bus.
        physics: arms and cubes.
    """

    def __init__(
        self, arms: Sequence[str], robot: RobotLimits, cell: Cell, begin: float = 1000.0, cubes_seed: int = 0, seed: int = 1
    ) -> None:
        """Switch everything on and give the arms torque."""
        units = [make_unit(arm, robot, seed) for arm in arms]
        loop = Loopback(Emulator(units, cell, robot, seed=seed, cubes_seed=cubes_seed), begin - _BEFORE)
        calibrations = {unit.arm: unit.calibration for unit in units}
        self.benches = {arm: Bench(loop, robot, calibrations, arm) for arm in arms}
        self.physics = Scene(loop.emulator)
        self._loop, self._due = loop, Schedule(1.0 / PERIOD, PERIOD / 2.0)
        for bench in self.benches.values():
            bench.cycle()  # connects: the arms have had no time to sag
            answer = bench.torque(True)
            if answer:
                raise RuntimeError(f"emulated arm '{bench.name}': {answer}")
        while loop.time < begin - PERIOD:
            self.advance(loop.time + PERIOD / 2.0)

    def advance(self, now: float) -> None:
        """Let time pass until ``now`` [s] and do the bus cycles that are due."""
        self._loop.until(now)
        if self._due.due(now):
            for bench in self.benches.values():
                bench.cycle()

    def joint_state(self, arm: str, stamp: int) -> JointState:
        """Return the newest joint state of ``arm``, with the stamp that the driver gave it."""
        driver = self.benches[arm]
        # the driver's clock is the loopback's, the caller's is ``stamp``
        newest = driver.joints[-1]
        age = driver.now_ns() - newest.header.stamp
        return newest._replace(header=Header(stamp - max(age, 0), ""))

    def driver_state(self, arm: str, stamp: int, now: float) -> DriverState:
        """Return the newest state of the driver."""
        return self.benches[arm].states[-1]._replace(header=Header(stamp, ""))

    def sim_state(self, stamp: int, model_hash: str) -> SimState:
        """Return arms and cubes as they really are."""
        seen = self._loop.emulator.scene()
        return SimState(Header(stamp, "world"), seen.time, round(seen.time / seen.period), tuple(seen.qpos), tuple(seen.qvel))

    def command(self, arm: str, command: JointCommand, now_ns: int, now: float) -> bool:
        """Hand a command to the arm's driver."""
        return self.benches[arm].core.command(command, now_ns, max(now, self._loop.time))

    def estop(self, arm: str) -> str:
        """Latch the e-stop of ``arm``."""
        self.benches[arm].core.estop()
        return ""

    def reset_estop(self, arm: str) -> str:
        """Release it."""
        return self.benches[arm].core.reset_estop()
