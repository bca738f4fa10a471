"""Arms on emulated servo buses in place of the simulation, in lockstep: drivers, bytes and servos on the same virtual clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from teleop_common.cell import Cell
from teleop_common.limits import RobotLimits
from teleop_common.records import DriverState, Header, JointCommand, JointState, SimState
from teleop_common.schedule import Schedule
from teleop_hw_so101.emulator.testing import loopback
from teleop_hw_so101.testing import PERIOD, Bench


class Measured(NamedTuple):
    """What ``physics.joints`` of the simulation returns, as far as it is asked for here.

    Attributes:
        position: joints [rad].
    """

    position: tuple[float, ...]


class EmulatedArms:
    """Stands where ``Lockstep.cores.simulation`` does; the arms are armed and hold when it begins.

    Args:
        arms: their names.
        robot: the limits file.
        cell: the cell.
        seed: of the emulated units.

    Attributes:
        benches: the driver of each arm, on its emulated bus.
        uptime: what the clock says now [s]; a lockstep with this ``uptime`` goes on from here.
    """

    def __init__(self, arms: Sequence[str], robot: RobotLimits, cell: Cell, seed: int = 1) -> None:
        """Switch everything on and give the arms torque."""
        loop, calibrations = loopback(robot, cell, arms, seed=seed)
        self.benches = {arm: Bench(loop, robot, calibrations, arm) for arm in arms}
        self._loop, self._due = loop, Schedule(1.0 / PERIOD)
        for bench in self.benches.values():
            bench.cycle()  # connects: the arms have had no time to sag
            answer = bench.torque(True)
            if answer:
                raise RuntimeError(f"emulated arm '{bench.name}': {answer}")
        self.uptime = loop.time + 0.1
        self._joints: dict[str, JointState] = {}

    @property
    def physics(self) -> EmulatedArms:
        """Stand in for the simulation's physics, of which only ``joints`` is there."""
        return self

    def joints(self, arm: str) -> Measured:
        """Return where the joints of ``arm`` really stand."""
        return Measured(self.benches[arm].truth())

    def advance(self, now: float) -> None:
        """Let time pass until ``now`` [s] and do the bus cycles that are due."""
        self._loop.until(now)
        if self._due.due(now + PERIOD / 4.0):
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
        """Return a state without content: nobody looks at the scene."""
        return SimState(Header(stamp, "world"))

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
