"""Which register is read when: rates in Hz, whatever the rate of the loop. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from teleop_common.schedule import Schedule


@dataclass(frozen=True)
class Turn:
    """One reading in rotation.

    Attributes:
        index: joint.
        health: the slow measurements, else what the servo was told.
    """

    index: int
    health: bool


@dataclass
class Rotation:
    """When goals are written, motion is read, and whose slow registers are next.

    Attributes:
        servos: how many there are.
        write_hz: goals of all servos [Hz].
        motion_hz: position, speed and load of all servos [Hz].
        slow_hz: slow registers, of one servo at a time [Hz].
        probe_hz: asking a silent servo whether it is back [Hz].
        tick: period of the loop [s]; what falls due within half of it is done now, so that jitter costs no turn.
    """

    servos: int
    write_hz: float
    motion_hz: float
    slow_hz: float
    probe_hz: float = 2.0
    tick: float = 0.01
    _turn: int = -1
    _schedules: dict[str, Schedule] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with everything due."""
        for name in ("write", "motion", "slow", "probe"):
            self._schedules[name] = Schedule(getattr(self, f"{name}_hz"), self.tick / 2.0)

    def due(self, what: str, now: float) -> bool:
        """Return whether ``write``, ``motion``, ``slow`` or ``probe`` is due at ``now`` (monotonic [s])."""
        return self._schedules[what].due(now)

    def turn(self, now: float) -> Turn | None:
        """Return the slow reading that is due, None when there is none: two rounds of health to one of the rest."""
        if not self.due("slow", now):
            return None
        self._turn = (self._turn + 1) % (3 * self.servos)
        return Turn(self._turn % self.servos, self._turn < 2 * self.servos)
