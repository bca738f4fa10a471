"""Making an arm's driver from its parameters and files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from teleop_common.driver import configured
from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits
from teleop_hw_so101 import arms, calibration
from teleop_hw_so101.arm_config import ArmConfig, ArmSetup
from teleop_hw_so101.arm_core import ArmCore
from teleop_hw_so101.arming import ArmingRules
from teleop_hw_so101.calibration import ArmCalibration
from teleop_hw_so101.feetech_bus import BusConfig
from teleop_hw_so101.registers import BAUD_RATES, REGISTERS
from teleop_hw_so101.rotation import Rotation
from teleop_hw_so101.servo_arm import ServoArm
from teleop_hw_so101.stream import ByteStream, PortError
from teleop_hw_so101.units import RADIANS_PER_TICK, arm_scales

if TYPE_CHECKING:  # its module needs ROS, this one does not
    from teleop_hw_so101.driver_params import DriverParams


class PortFinder:
    """Opens the arm's port; with ``auto``, another candidate at each attempt.

    Attributes:
        port: path of the port tried last, empty before the first.
    """

    def __init__(
        self,
        port: str,
        own: ArmCalibration,
        known: Mapping[str, ArmCalibration],
        connect: Callable[[str], ByteStream],
        ports: Callable[[], tuple[arms.Port, ...]] = arms.serial_ports,
    ) -> None:
        """Begin with the first candidate.

        Args:
            port: a path, or ``auto``.
            own: the arm's calibration, for its adapter's serial number.
            known: calibrations of all arms: another's adapter is left to that one.
            connect: opens a path.
            ports: lists the serial ports.
        """
        self._given, self._own, self._connect, self._ports = port, own, connect, ports
        self._others = {c.usb_serial for c in known.values() if c.usb_serial and c.usb_serial != own.usb_serial}
        self._turn = -1
        self.port = ""

    def __call__(self) -> ByteStream:
        """Open a port.

        Raises:
            PortError: there is none, or it cannot be opened.
        """
        self.port = self._given if self._given != "auto" else self._candidate()
        return self._connect(self.port)

    def _candidate(self) -> str:
        found = [p for p in self._ports() if p.usb_serial not in self._others or not p.usb_serial]
        mine = [p for p in found if self._own.usb_serial and p.usb_serial == self._own.usb_serial]
        found = mine or found
        if not found:
            raise PortError("port 'auto': got no adapter that may be this arm's, allowed one; plug it in, or name the port")
        self._turn += 1
        return found[self._turn % len(found)].device


def load_calibrations(params: DriverParams) -> tuple[ArmCalibration, dict[str, ArmCalibration]]:
    """Return the arm's calibration and those of all arms here.

    Raises:
        ConfigError: the arm has none: there is no calibration that fits every arm.
    """
    own = calibration.load(Path(params.calibration) if params.calibration else arms.file(params.arm))
    return own, {**arms.known(), params.arm: own}


def create(
    params: DriverParams,
    robot: RobotLimits,
    own: ArmCalibration,
    known: Mapping[str, ArmCalibration],
    instance: int,
    connect: Callable[[str], ByteStream],
    lock: AbstractContextManager[object],
) -> ServoArm:
    """Return the arm's driver, not yet connected.

    Args:
        params: parameters of the node.
        robot: the limits file.
        own: the arm's calibration.
        known: those of all arms.
        instance: random number of this start.
        connect: opens a path.
        lock: held while the core is touched.

    Raises:
        ConfigError: parameters that do not fit each other or the robot.
    """
    names = robot.names
    if params.baud_rate not in BAUD_RATES:
        raise ConfigError("parameter", "baud_rate", params.baud_rate, f"one of {BAUD_RATES}", "1000000 is the servos' own")
    if len(params.park_positions) != len(names):
        raise ConfigError("parameter", "park_positions", len(params.park_positions), f"{len(names)} positions", "one a joint")
    for joint, value in zip(robot.all_joints, params.park_positions):
        if not joint.lower <= value <= joint.upper:
            raise ConfigError(
                "parameter", f"park_positions.{joint.name}", value, f"{joint.lower} to {joint.upper} rad", "mend it"
            )
    registers = tuple(_registers(params, robot, name) for name in names)
    config = ArmConfig(
        driver=configured(params.arm, robot, params, estop_release=params.estop_release),
        joints=names,
        ids=tuple(own.joint(name).id for name in names),
        scales=arm_scales(own, robot),
        speed_bound=params.speed_bound,
        sample_timeout=params.sample_timeout,
        suspect_after=params.suspect_after,
        degraded_misses=params.degraded_misses,
        rest=params.park_positions,
        park_speed=params.park_speed,
        park_time=params.park_time,
        torque=tuple(counts["torque_limit"] * REGISTERS["torque_limit"].scale for counts in registers),
    )
    setup = ArmSetup(
        calibration=own,
        known=known,
        rules=ArmingRules(params.voltage_min, params.voltage_max, params.temperature_max),
        registers=registers,
        bus=BusConfig(params.baud_rate, params.reply_timeout, params.retries),
        budget=0.8 / params.loop_hz,
        retry=params.reconnect_time,
    )
    rotation = Rotation(len(names), params.write_hz, params.position_hz, params.slow_hz, tick=1.0 / params.loop_hz)
    finder = PortFinder(params.port, own, known, connect)
    return ServoArm(ArmCore(config, instance), setup, rotation, finder, lock)


def _registers(params: DriverParams, robot: RobotLimits, name: str) -> dict[str, int]:
    """Return what is written to a servo's RAM before torque goes on; EEPROM is left to the tools."""
    gripper = robot.gripper is not None and name == robot.gripper.limits.name
    share = params.gripper_torque_limit if gripper else params.torque_limit
    return {
        "acceleration": params.servo_acceleration,
        "goal_time": 0,
        "goal_velocity": round(params.servo_speed / RADIANS_PER_TICK),
        "torque_limit": round(share * 1000),
    }
