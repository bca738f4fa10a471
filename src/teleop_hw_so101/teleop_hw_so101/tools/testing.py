"""A bench for tests of the tools: emulated arms on their ports, in virtual time, and a person in front of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from teleop_common.cell import Cell
from teleop_common.limits import RobotLimits
from teleop_hw_so101 import arms, calibration
from teleop_hw_so101.arms import Port
from teleop_hw_so101.emulator import unit as units
from teleop_hw_so101.emulator.emulator import Emulator
from teleop_hw_so101.emulator.loopback import Loopback
from teleop_hw_so101.tools.desk import Desk, Rows, Show

PORTS = {"left": Port("/dev/a", "SL", "USB"), "right": Port("/dev/b", "SR", "USB")}


class Person:
    """Answers what it was told to, else yes; presses Enter when its hand has done all it had to do.

    Attributes:
        answers: to the next questions.
        lines: what was said to it, each with its style.
        tables: what it was shown, title and rows.
        records: what a program that reads along was given.
        hand: does something with the arm each time it is asked whether Enter was pressed.
    """

    def __init__(self, answers: Sequence[str] = ()) -> None:
        """Sit down."""
        self.answers = list(answers)
        self.lines: list[tuple[str, str]] = []
        self.tables: list[tuple[str, Rows]] = []
        self.records: list[dict[str, Any]] = []
        self.hand: Iterator[Any] = iter(())

    def say(self, text: str, style: str = "") -> None:
        """Listen."""
        self.lines.append((style, text))

    def table(self, title: str, columns: Sequence[str], rows: Rows) -> None:
        """Look at a table."""
        self.tables.append((title, rows))

    @contextmanager
    def live(self, title: str, columns: Sequence[str]) -> Iterator[Show]:
        """Look at one table after another."""
        yield lambda rows: self.tables.append((title, rows))

    def ask(self, question: str, choices: Sequence[str]) -> str:
        """Answer."""
        self.lines.append(("ask", question))
        return self.answers.pop(0) if self.answers else "y"

    def pressed(self) -> bool:
        """Move the arm, or press Enter."""
        return next(self.hand, None) is None

    def record(self, data: dict[str, Any]) -> None:
        """Read along."""
        self.records.append(data)

    def said(self) -> str:
        """Return all that was said."""
        return "\n".join(text for _, text in self.lines)


class Bench:
    """Emulated arms, each on its port, with a person in front.

    Attributes:
        units: the emulated units.
        emulator: their servos.
        loopback: their clock.
        person: who is talked to.
        where: device → arm on it.
        desk: what the tools are given.
        moving: does something with the arms each time a tool waits.
    """

    def __init__(self, robot: RobotLimits, cell: Cell, *names: str, calibrated: bool = True, swapped: bool = False) -> None:
        """Switch on the arms ``names``; ``swapped`` plugs each into the other's adapter."""
        # high above the bench, so that nothing is in the way of a hand that moves the arms
        mounts = {name: pose._replace(position=(*pose.position[:2], 1.0)) for name, pose in cell.mounts.items()}
        self.units = [units.make_unit(name, robot, 3, calibrated=calibrated) for name in names]
        self.emulator = Emulator(self.units, replace(cell, mounts=mounts), robot)
        self.loopback = Loopback(self.emulator)
        self.person = Person()
        self.where = {PORTS[name].device: name for name in names}
        if swapped:
            self.where = dict(zip(self.where, reversed(list(self.where.values()))))
        self.moving: Iterator[Any] = iter(())
        self.desk = Desk(self.person, robot, lambda device: self.loopback.stream(self.where[device]), self.ports, self.wait)

    def ports(self) -> tuple[Port, ...]:
        """Return what the system lists."""
        return tuple(port for port in PORTS.values() if port.device in self.where)

    def wait(self, seconds: float) -> None:
        """Let time pass, and the hand move."""
        self.loopback.wait(seconds)
        next(self.moving, None)

    def save(self) -> None:
        """Write the calibration file of every arm."""
        for made in self.units:
            calibration.save(replace(made.calibration, usb_serial=PORTS[made.arm].usb_serial), arms.file(made.arm))

    def hold(self, seconds: float) -> Iterator[bool]:
        """Keep the arms where they are, for ``seconds`` [s] of a tool's short waits."""
        at = self.emulator.dynamics.position.copy()
        for _ in range(round(seconds / 0.02)):
            self.emulator.dynamics.place(at)
            yield True

    def by_hand(self, targets: Sequence[Any], step: float = 0.2) -> Iterator[bool]:
        """Move the first arm's joints through ``targets`` [rad], at most ``step`` [rad] each time."""
        at = self.emulator.dynamics.position.copy()
        for target in targets:
            while np.abs(target - at[: len(target)]).max() > 1e-9:
                at[: len(target)] += (target - at[: len(target)]).clip(-step, step)
                self.emulator.dynamics.place(at)
                yield True
