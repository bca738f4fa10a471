"""What tests of the driver and the tools need of the emulator: one on a clock of its own, one as a process on terminals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from teleop_common.cell import Cell
from teleop_common.limits import RobotLimits
from teleop_hw_so101.calibration import ArmCalibration
from teleop_hw_so101.emulator import server
from teleop_hw_so101.emulator.emulator import Emulator
from teleop_hw_so101.emulator.log import Event, Row
from teleop_hw_so101.emulator.log import read as read_log
from teleop_hw_so101.emulator.loopback import Loopback
from teleop_hw_so101.emulator.unit import make_unit


def loopback(
    robot: RobotLimits, cell: Cell, arms: Sequence[str] = ("left",), *, seed: int = 1, **options: Any
) -> tuple[Loopback, dict[str, ArmCalibration]]:
    """Return arms on a clock of their own, and the calibration of each.

    Args:
        robot: the limits file.
        cell: the cell.
        arms: names of the arms.
        seed: decides units and every chance.
        options: further ones of ``Emulator``.
    """
    units = [make_unit(arm, robot, seed) for arm in arms]
    return Loopback(Emulator(units, cell, robot, seed=seed, **options)), {unit.arm: unit.calibration for unit in units}


@dataclass
class Running:
    """An emulator that runs as a process.

    Attributes:
        folder: its ports, named after the arms, and beside them the calibrations, ``<arm>.json``.
        log: its log, on this machine's monotonic clock.
        process: the process.
    """

    folder: Path
    log: Path
    process: subprocess.Popen[str]

    def port(self, arm: str) -> str:
        """Return the port of ``arm``."""
        return str(self.folder / arm)

    def tell(self, *faults: str) -> None:
        """Let faults happen now."""
        answers = server.tell(self.folder, faults)
        assert answers == ["ok"] * len(faults), answers

    def read(self) -> tuple[list[Row], list[Event]]:
        """Return what the log says until now."""
        with self.log.open(encoding="utf-8") as file:
            return read_log(file.readlines())

    def rows(self, arm: str, joint: int) -> list[Row]:
        """Return what one servo did until now."""
        return [row for row in self.read()[0] if (row.arm, row.joint) == (arm, joint)]

    def held_after(self, arm: str, begun: float) -> float:
        """Return how long after ``begun`` (monotonic [s]) a goal of ``arm`` still changed [s], as its servos have it.

        AssertionError where one had no torque since, or where no goal changed just before: then nothing was driven.
        """
        goals: dict[int, int] = {}
        changed = []
        for row in self.read()[0]:
            if row.arm != arm:
                continue
            assert row.torque or row.time <= begun, f"servo {row.joint} of {arm} let go"
            if goals.get(row.joint, row.goal) != row.goal:
                changed.append(row.time)
            goals[row.joint] = row.goal
        assert any(begun - 0.2 < time <= begun for time in changed), f"no goal of {arm} changed in the 0.2 s before"
        return max(0.0, changed[-1] - begun)

    def until(self, true: Callable[[Row], bool], arm: str, joint: int, timeout: float = 10.0) -> Row:
        """Return the newest row of one servo as soon as it is as wanted, AssertionError when it never is."""
        end = time.monotonic() + timeout
        while True:
            rows = self.rows(arm, joint)
            if rows and true(rows[-1]):
                return rows[-1]
            assert time.monotonic() < end, f"servo {joint} of {arm} after {timeout} s: {rows[-1:]}"
            time.sleep(0.02)


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Running]:
    """Run ``./teleop emulate`` with ports in ``folder`` until the block ends; wait until it serves.

    Args:
        folder: an empty folder.
        arguments: further ones of the command line.
    """
    told = folder / "log.csv"
    command = [sys.executable, "-m", "teleop_hw_so101.emulator.cli", "--folder", str(folder), "--log", str(told), *arguments]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert child.stdout is not None
    try:
        said: list[str] = []
        while not said or not said[-1].startswith("serving"):
            said.append(child.stdout.readline())
            assert said[-1], f"the emulator ended with {child.wait()}: {said}"
        yield Running(folder, told, child)
    finally:
        child.send_signal(signal.SIGINT)
        try:
            status = child.wait(10.0)
        except subprocess.TimeoutExpired:
            child.kill()
            raise
        finally:
            child.stdout.close()
    assert status == 0, f"the emulator ended with {status}"
