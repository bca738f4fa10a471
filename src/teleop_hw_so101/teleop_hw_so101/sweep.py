"""Ranges of motion from a stream of positions while somebody moves each joint to both of its stops.

A servo reports its encoder less the homing offset, modulo one turn: a range may run over the seam between 4095 and 0. The stream
is therefore followed without wrapping, and the homing offset that comes out puts the middle of the range at the middle of the
turn, where no seam is. No pose has to be struck by eye before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from teleop_common.errors import ConfigError
from teleop_hw_so101.calibration import LAST_TICK, MIDDLE, ArmCalibration, JointCalibration, offset_for

_TURN = LAST_TICK + 1
LEAP = 512  # [ticks] 45° between two readings: no hand turns an arm so fast, and a seam is a quarter of that away from ambiguity
_LOST_AFTER = 5  # such leaps in a row: it did move, unseen


def shortest(before: int, now: int) -> int:
    """Return the way from one reading to the next [ticks], across the seam where that is shorter."""
    return (now - before + _TURN // 2) % _TURN - _TURN // 2


@dataclass
class Track:
    """One joint followed without wrapping.

    Attributes:
        offset: homing offset in EEPROM while sweeping [ticks].
        last: newest reading [ticks].
        at: encoder position, without wrapping [ticks].
        least: lowest ``at`` so far.
        most: highest ``at`` so far.
        leaps: readings in a row that were too far from the last to be followed.
        samples: readings that counted.
        missed: readings that did not: lost on the bus, or leaps.
        lost: too many leaps: where the seam went is not known, sweep this joint again.
    """

    offset: int
    last: int | None = None
    at: int = 0
    least: int = 0
    most: int = 0
    leaps: int = 0
    samples: int = 0
    missed: int = 0
    lost: bool = False

    def feed(self, reading: int | None) -> None:
        """Take one reading [ticks]; None is one that was lost on the bus."""
        if reading is None:
            self.missed += 1
            return
        reading %= _TURN
        if self.last is None:
            self.last, self.at = reading, reading + self.offset
            self.least = self.most = self.at
            self.samples = 1
            return
        step = shortest(self.last, reading)
        if abs(step) > LEAP:
            self.missed += 1
            self.leaps += 1
            self.lost = self.lost or self.leaps >= _LOST_AFTER
            return
        self.leaps = 0
        self.samples += 1
        self.last, self.at = reading, self.at + step
        self.least, self.most = min(self.least, self.at), max(self.most, self.at)

    @property
    def span(self) -> int:
        """How far the joint was moved [ticks]."""
        return self.most - self.least


@dataclass
class Sweep:
    """All joints of one arm being swept.

    Attributes:
        tracks: joint name → what was seen of it.
    """

    tracks: dict[str, Track] = field(default_factory=dict)

    @classmethod
    def of(cls, unit: ArmCalibration) -> Sweep:
        """Begin a sweep of an arm whose servos hold ``unit``."""
        return cls({joint.name: Track(joint.homing_offset) for joint in unit.joints})

    def feed(self, readings: Mapping[str, int | None]) -> None:
        """Take one reading of every joint [ticks]; a joint that is missing or None was lost on the bus."""
        for name, track in self.tracks.items():
            track.feed(readings.get(name))

    def again(self, name: str) -> None:
        """Forget what was seen of one joint."""
        self.tracks[name] = Track(self.tracks[name].offset)

    def calibration(self, unit: ArmCalibration) -> ArmCalibration:
        """Return the arm's calibration: the middle of each range reads 2047, or a turn without end keeps all of it.

        Args:
            unit: what the servos hold; IDs are taken from it, and signs and zero offsets where it has them.

        Raises:
            ConfigError: a joint was not followed all the way, or not moved.
        """
        joints = []
        for joint in unit.joints:
            track = self.tracks[joint.name]
            if track.lost:
                raise ConfigError("joint", joint.name, "leaps", "readings less than 45° apart", "sweep it again, more slowly")
            if track.span < 2:
                raise ConfigError("joint", joint.name, f"{track.span} ticks", "a sweep", "move it to both of its stops")
            joints.append(_measured(joint, track))
        return ArmCalibration(tuple(joints), "sweep", unit.usb_serial)


def _measured(joint: JointCalibration, track: Track) -> JointCalibration:
    middle = (track.least + track.most) // 2
    offset = offset_for(middle)
    if track.span >= LAST_TICK:
        low, high = 0, LAST_TICK
    else:
        reads = (middle - offset) % _TURN  # 2047, or 2046 where the servo cannot hold the offset
        low, high = max(reads - (middle - track.least), 0), min(reads + (track.most - middle), LAST_TICK)
    return JointCalibration(joint.name, joint.id, 0, offset, low, high, joint.sign, joint.zero_offset)


def homed(unit: ArmCalibration, readings: Mapping[str, int]) -> ArmCalibration:
    """Return LeRobot's first step for these readings [ticks]: offsets that make the present pose read the middle, full ranges."""
    joints = []
    for joint in unit.joints:
        offset = offset_for(readings[joint.name] + joint.homing_offset, MIDDLE)
        joints.append(JointCalibration(joint.name, joint.id, 0, offset, 0, LAST_TICK, joint.sign, joint.zero_offset))
    return ArmCalibration(tuple(joints), "homing", unit.usb_serial)
