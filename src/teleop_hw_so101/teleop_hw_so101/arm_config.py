"""Settings and counts of one arm's driver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from teleop_common.driver import DriverConfig
from teleop_hw_so101.arming import ArmingRules
from teleop_hw_so101.calibration import ArmCalibration
from teleop_hw_so101.feetech_bus import BusConfig
from teleop_hw_so101.units import JointScale


@dataclass(frozen=True)
class ArmConfig:
    """Settings of one arm.

    Attributes:
        driver: the rules for commands.
        joints: joint names without prefix.
        ids: servo IDs, in the order of ``driver.names``.
        scales: ticks ↔ radians, in that order.
        speed_bound: no goal moves faster, whatever is commanded [rad/s].
        sample_timeout: age from which a joint counts as not measured [s].
        suspect_after: silence after which a servo is not written until its torque is read again [s].
        degraded_misses: lost readings in a row from which the arm counts as degraded.
        rest: where the arm may lie without torque [rad].
        park_speed: largest speed on the way there [rad/s].
        park_time: longest time for it [s].
        torque: share of full torque that each joint may use, as set in its servo; empty: all of it.
        park_near: how far from there each joint may lie when torque goes off [rad]; more than these servos droop.
    """

    driver: DriverConfig
    joints: tuple[str, ...]
    ids: tuple[int, ...]
    scales: tuple[JointScale, ...]
    speed_bound: float
    sample_timeout: float = 0.2
    suspect_after: float = 0.06
    degraded_misses: int = 10
    rest: tuple[float, ...] = ()
    park_speed: float = 2.0
    park_time: float = 3.0
    torque: tuple[float, ...] = ()
    park_near: float = 0.15


@dataclass(frozen=True)
class ArmSetup:
    """What stays the same while the driver runs.

    Attributes:
        calibration: the arm's file.
        known: files of all arms, to tell swapped ports.
        rules: what must be true before torque goes on.
        registers: what is written to each servo's RAM before torque goes on: name → count, per joint.
        bus: settings of the bus.
        budget: time in a cycle after which nothing is tried again [s].
        retry: time between two attempts to reach the arm [s].
        patience: longest silence before a reply while the arm is looked for or armed [s].
    """

    calibration: ArmCalibration
    known: Mapping[str, ArmCalibration]
    rules: ArmingRules
    registers: tuple[Mapping[str, int], ...]
    bus: BusConfig = BusConfig()
    budget: float = 0.008
    retry: float = 0.5
    patience: float = 0.03


@dataclass
class Tally:
    """Counts since the start.

    Attributes:
        writes: goals written to the servos.
        motions: readings of motion, also those that some servo did not answer.
        reads: those that all answered.
        clipped: commands cut to the speed bound.
        held: commands refused because of a fault, a lost arm, or parking.
    """

    writes: int = 0
    motions: int = 0
    reads: int = 0
    clipped: int = 0
    held: int = 0
