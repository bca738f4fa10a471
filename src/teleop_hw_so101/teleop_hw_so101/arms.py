"""The arms that this machine knows: where their files lie, and which serial port is whose.

An adapter has a serial number, the servos have their EEPROM, and device names have neither: ``ttyACM0`` and ``ttyACM1`` swap with
the order of plugging. An arm is bound to the port where both its servos answer and, as far as known, its adapter.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from serial.tools import list_ports

from teleop_hw_so101 import calibration
from teleop_hw_so101.calibration import ArmCalibration


def folder() -> Path:
    """Return where the arms' files are: ``$XDG_CONFIG_HOME/xr-teleop/arms``, else ``~/.config/xr-teleop/arms``."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "xr-teleop" / "arms"


def file(arm: str) -> Path:
    """Return the calibration file of ``arm``."""
    return folder() / f"{arm}.json"


def known() -> dict[str, ArmCalibration]:
    """Return the calibrations of all arms that have one here, by name.

    Raises:
        ConfigError: one of the files says what cannot be.
    """
    return {path.stem: calibration.load(path) for path in sorted(folder().glob("*.json"))}


class Port(NamedTuple):
    """A serial port.

    Attributes:
        device: its path.
        usb_serial: serial number of its USB adapter; empty: it has none.
        what: description by the system.
    """

    device: str
    usb_serial: str
    what: str


def serial_ports() -> tuple[Port, ...]:
    """Return the serial ports of USB adapters, as the system lists them."""
    found = [p for p in list_ports.comports() if p.vid is not None]
    return tuple(Port(p.device, p.serial_number or "", p.description or "") for p in sorted(found, key=lambda p: str(p.device)))


class Answer(NamedTuple):
    """What answered on a port.

    Attributes:
        port: the port.
        unit: what its servos hold; None: not all six answered.
        problem: why there is no unit; empty where there is.
    """

    port: Port
    unit: ArmCalibration | None
    problem: str = ""


class Binding(NamedTuple):
    """Whose port it is.

    Attributes:
        device: the port's path.
        usb_serial: its adapter's serial number.
        fingerprint: of the servos; empty: not all answered.
        arm: the arm; None: nobody's that is known.
        by: what told: ``servos and adapter``, ``servos``, ``adapter``, or empty.
        problem: what is wrong with it; empty: nothing.
    """

    device: str
    usb_serial: str
    fingerprint: str
    arm: str | None
    by: str
    problem: str


def bind(answers: Iterable[Answer], arms: Mapping[str, ArmCalibration]) -> tuple[Binding, ...]:
    """Return whose each port is; the servos decide, the adapter confirms."""
    bindings = [_bind(answer, arms) for answer in answers]
    twice = {b.arm for b in bindings if b.arm is not None and sum(o.arm == b.arm for o in bindings) > 1}
    return tuple(b._replace(problem=b.problem or f"'{b.arm}' is at another port too") if b.arm in twice else b for b in bindings)


def _bind(answer: Answer, arms: Mapping[str, ArmCalibration]) -> Binding:
    port, unit = answer.port, answer.unit
    adapter = next((arm for arm, c in arms.items() if port.usb_serial and c.usb_serial == port.usb_serial), None)
    made = Binding(
        port.device, port.usb_serial, unit.fingerprint if unit else "", adapter, "adapter" if adapter else "", answer.problem
    )
    if unit is None:
        return made
    servos = calibration.whose(unit, arms)
    if servos is None:
        if adapter is None:
            return made._replace(problem="no calibration for these servos: ./teleop arm calibrate")
        found = calibration.differences(arms[adapter], unit)
        return made._replace(problem=f"the servos hold other values than {arms[adapter].source}:\n{calibration.table(found)}")
    if adapter not in (None, servos):
        problem = f"the arms are swapped: the adapter is that of '{adapter}', the servos are those of '{servos}'"
        return made._replace(arm=servos, by="servos", problem=problem)
    return made._replace(arm=servos, by="servos and adapter" if adapter else "servos")
