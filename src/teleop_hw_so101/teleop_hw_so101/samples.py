"""The newest that is known of each servo, with its age: lost replies cost a sample, nothing more."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from teleop_common.plausible import JUMP
from teleop_hw_so101.registers import STEPS_PER_TURN

_PLAY = round(JUMP / (2.0 * math.pi) * STEPS_PER_TURN)  # [step]
_FASTEST = 6.0 / (2.0 * math.pi) * STEPS_PER_TURN  # [step/s], above what the motor turns with the greatest supply


def unwrapped(raw: int, near: int) -> int:
    """Return the position that reads ``raw`` in one turn and lies nearest to ``near`` [step]."""
    half = STEPS_PER_TURN // 2
    return near + (raw - near + half) % STEPS_PER_TURN - half


@dataclass(frozen=True)
class Motion:
    """What is read of a servo all the time.

    Attributes:
        position: position, counted on over the seam between 4095 and 0 [step].
        raw: position as the servo tells it [step].
        velocity: speed [step/s].
        load: share of full duty, -1 to 1.
        time: when the reply came (monotonic) [s].
    """

    position: int
    raw: int
    velocity: int
    load: float
    time: float


@dataclass(frozen=True)
class Slow:
    """What is read of a servo in rotation; NaN unknown.

    Attributes:
        voltage: supply [V].
        temperature: [°C].
        current: [A].
        time: when the reply came (monotonic) [s], -inf never.
    """

    voltage: float = math.nan
    temperature: float = math.nan
    current: float = math.nan
    time: float = -math.inf


@dataclass
class Servo:
    """One servo as the driver knows it.

    Attributes:
        motion: newest motion sample, None before the first.
        slow: newest slow sample.
        status: newest error byte.
        misses: readings of motion in a row that gave nothing.
        suspect: it was away, so that nobody knows whether its torque is still on: not written until that is read again.
        torque: newest known state of its torque switch, None unknown.
        doubt: newest reading that could not be believed, until another agrees with it.
        turn: how far ``position`` has counted on from ``raw``, as two readings in a row say [step].
    """

    motion: Motion | None = None
    slow: Slow = Slow()
    status: int = 0
    misses: int = 0
    suspect: bool = False
    torque: bool | None = None
    doubt: Motion | None = None
    turn: int = 0

    def age(self, now: float) -> float:
        """Return the age of the motion sample [s], inf before the first."""
        return math.inf if self.motion is None else now - self.motion.time


@dataclass
class Samples:
    """All servos of an arm, by joint index.

    Attributes:
        servos: the servos.
        suspect_after: silence after which a servo is suspect [s].
        seams: joints found on the other side of the seam since this was last emptied.
        leaps: joints found, twice in a row, where no motor can have brought them, since this was last emptied.
    """

    servos: list[Servo]
    suspect_after: float
    seams: list[int] = field(default_factory=list)
    leaps: list[int] = field(default_factory=list)

    def take_motion(self, index: int, raw: int, velocity: int, load: float, status: int, time: float) -> None:
        """Take a reading of servo ``index``; crossing the seam, and a leap, are noted when two in a row say so.

        A place that no motor reaches in that time counts as no reading, unless the next one agrees with it. After a silence
        the place is taken as it is told: the servo may have been off, and turned by hand.
        """
        servo, before = self.servos[index], self.servos[index].motion
        if before is not None and time - before.time > self.suspect_after:
            before, servo.suspect, servo.turn = None, True, 0
        position = raw if before is None else unwrapped(raw, before.position)
        motion = Motion(position, raw, velocity, load, time)
        inside = 0 <= raw < STEPS_PER_TURN
        if not inside or before is not None and not _reached(before, motion):
            agrees = inside and servo.doubt is not None and _reached(servo.doubt, motion)
            servo.doubt = motion if inside else None
            if not agrees:
                self.miss(index, time)
                return
            self.leaps.append(index)
        turn = position - raw
        if before is not None and turn != servo.turn and turn == before.position - before.raw:
            servo.turn = turn
            self.seams.append(index)
        servo.motion, servo.doubt = motion, None
        servo.status, servo.misses = status, 0

    def miss(self, index: int, now: float) -> None:
        """Note that servo ``index`` gave no reading."""
        servo = self.servos[index]
        servo.misses += 1
        if servo.age(now) > self.suspect_after:
            servo.suspect = True

    def take_slow(self, index: int, slow: Slow, status: int) -> None:
        """Take a reading of the slow registers."""
        servo = self.servos[index]
        servo.slow, servo.status = slow, status

    def forget(self) -> None:
        """The line was gone: every servo may have been switched off, turned, and switched on again since."""
        for index, servo in enumerate(self.servos):
            # its place is read anew, without unwrapping from one that is long past
            self.servos[index] = replace(servo, motion=None, suspect=True, torque=None, doubt=None, turn=0)

    def complete(self, now: float, age: float) -> bool:
        """Return whether every servo has a motion sample not older than ``age`` [s]."""
        return all(servo.age(now) <= age for servo in self.servos)

    @property
    def positions(self) -> tuple[int, ...] | None:
        """Newest positions [step], None before every servo was heard."""
        found = tuple(servo.motion.position for servo in self.servos if servo.motion is not None)
        return found if len(found) == len(self.servos) else None


def _reached(before: Motion, after: Motion) -> bool:
    """Return whether a joint can have come from one place to the other in the time between."""
    way = abs(unwrapped(after.raw, before.position) - before.position)
    return way <= _FASTEST * (after.time - before.time) + _PLAY
