"""What every tool works with: somebody to talk to, ports to open, the robot's limits; and how an arm's port is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from teleop_common.errors import TeleopError
from teleop_common.limits import RobotLimits
from teleop_hw_so101 import arms
from teleop_hw_so101.arms import Answer, Binding, Port
from teleop_hw_so101.calibration import ArmCalibration
from teleop_hw_so101.feetech_bus import BusConfig, FeetechBus
from teleop_hw_so101.stream import ByteStream
from teleop_hw_so101.tools.servos import Servos

Rows = Sequence[Sequence[str]]
Show = Callable[[Rows], None]


# nobody waits for a tool in a control loop: an adapter behind a busy hub is given time; scanning 254 IDs is not
PATIENT, BRISK = BusConfig(slack=0.03, retries=3), BusConfig(slack=0.01, retries=0)


class ToolError(TeleopError):
    """A tool cannot do what was asked; the text says why and what to do."""


class Talk(Protocol):
    """Somebody in front of a terminal."""

    def say(self, text: str, style: str = "") -> None:
        """Show a line; ``style`` is good, bad, or empty."""

    def table(self, title: str, columns: Sequence[str], rows: Rows) -> None:
        """Show a table."""

    def live(self, title: str, columns: Sequence[str]) -> Any:
        """Return a context manager that gives a function to show newer rows in place of the last."""

    def ask(self, question: str, choices: Sequence[str]) -> str:
        """Return one of ``choices``, in lower case; without choices: whatever was typed."""

    def pressed(self) -> bool:
        """Return whether Enter was pressed since the last time; does not wait."""

    def record(self, data: dict[str, Any]) -> None:
        """Hand one of many records to a program that reads along."""


@dataclass
class Desk:
    """Everything outside that a tool needs.

    Attributes:
        talk: whom it talks to.
        robot: limits file of the robot.
        connect: opens a serial port.
        ports: lists the serial ports.
        sleep: waits [s].
    """

    talk: Talk
    robot: RobotLimits
    connect: Callable[[str], ByteStream]
    ports: Callable[[], tuple[Port, ...]]
    sleep: Callable[[float], None]

    @property
    def ids(self) -> dict[str, int]:
        """Joint name → servo ID as the SO-101 is built: 1 at the base to 6 at the gripper."""
        return {name: ident for ident, name in enumerate(self.robot.names, 1)}

    def port(self, device: str) -> Port:
        """Return what the system says about a device; one that it does not list has no serial number."""
        return next((p for p in self.ports() if p.device == device), Port(device, "", "given by name"))

    @contextmanager
    def servos(self, device: str, ids: dict[str, int] | None = None, config: BusConfig = PATIENT) -> Iterator[Servos]:
        """Open a port and give the arm on it.

        Args:
            device: path of the port.
            ids: joint name → servo ID; None: as the SO-101 is built.
            config: of the bus.

        Raises:
            PortError: it cannot be opened, or goes away meanwhile.
        """
        stream = self.connect(device)
        try:
            yield Servos(FeetechBus(stream, config), ids or self.ids)
        finally:
            stream.close()

    def answer(self, port: Port) -> Answer:
        """Return what answers on a port."""
        try:
            with self.servos(port.device) as servos:
                silent = [name for name in servos.ids if servos.bus.ping(servos.ids[name]) is None]
                if silent:
                    names = ", ".join(f"{name} (ID {servos.ids[name]})" for name in silent)
                    return Answer(port, None, f"no answer from {names}")
                return Answer(port, servos.unit())
        except TeleopError as error:
            return Answer(port, None, str(error))

    def bindings(self, devices: Sequence[str] = ()) -> tuple[Binding, ...]:
        """Return whose each port is, of those given by name or else all that the system lists."""
        ports = [self.port(device) for device in devices] or list(self.ports())
        return arms.bind([self.answer(port) for port in ports], arms.known())

    def find(self, arm: str, device: str = "") -> tuple[Port, ArmCalibration | None]:
        """Return the port of ``arm`` and its calibration, None where it has no file yet.

        Raises:
            ToolError: no port is known to be the arm's.
            PortError: as from opening one.
        """
        calibration = arms.known().get(arm)
        if device:
            return self.port(device), calibration
        found = [b for b in self.bindings() if b.arm == arm]
        if len(found) == 1:
            return self.port(found[0].device), calibration
        seen = ", ".join(b.device for b in found) or "none"
        raise ToolError(f"port of '{arm}': got {seen}, allowed exactly one; name it with --port, and see ./teleop arm find")


def confirm(talk: Talk, question: str) -> bool:
    """Return whether somebody says yes."""
    return talk.ask(question, ("y", "n")) == "y"
