"""How an arm is: droop, backlash, dips of the supply, where its temperature leads, errors of the bus. Pure."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

_REST = 0.5  # [s] without a new goal after which a joint counts as settled
_STILL = 3  # [step/s], speed below which it does
_SHARE = 0.2  # weight of a new settling in the mean
_WINDOW = 60.0  # [s] over which dips and the slope of the temperature are taken
_LEAST = 20.0  # [s] of readings before a forecast is made


@dataclass
class Settling:
    """What is left between goal and joint when it rests, apart for the two ways it came.

    A servo without integral gain stops short by what the load asks for (droop), and by its dead zone and gears on either side.

    Attributes:
        up: mean of position less goal after moving up [step], NaN before the first.
        down: the same after moving down [step].
    """

    up: float = math.nan
    down: float = math.nan
    _goal: int | None = None
    _since: float = 0.0
    _way: int = 0
    _taken: bool = True

    def take(self, goal: int, position: int, speed: int, now: float) -> None:
        """Take goal and reading of a joint under torque [step, step/s] at ``now`` (monotonic [s])."""
        if goal != self._goal:
            if self._goal is not None:
                self._way = 1 if goal > self._goal else -1
                self._taken = False
            self._goal, self._since = goal, now
            return
        if self._taken or now - self._since < _REST or abs(speed) > _STILL:
            return
        left, self._taken = position - goal, True
        if self._way > 0:
            self.up = left if math.isnan(self.up) else self.up + _SHARE * (left - self.up)
        else:
            self.down = left if math.isnan(self.down) else self.down + _SHARE * (left - self.down)

    def forget(self) -> None:
        """Torque went off: the next goal is no motion."""
        self._goal, self._taken = None, True

    @property
    def droop(self) -> float:
        """Standing error, the mean of both ways [step], NaN unknown."""
        known = [value for value in (self.up, self.down) if not math.isnan(value)]
        return sum(known) / len(known) if known else math.nan

    @property
    def backlash(self) -> float:
        """Difference between the two ways [step], NaN before both were made: gears and dead zone together."""
        return abs(self.up - self.down)


@dataclass
class Trend:
    """A slow measurement over the last minute."""

    _values: deque[tuple[float, float]] = field(default_factory=deque)

    def take(self, value: float, now: float) -> None:
        """Take a reading at ``now`` (monotonic [s])."""
        if self._values and self._values[-1][0] == now:
            return
        self._values.append((now, value))
        while now - self._values[0][0] > _WINDOW:
            self._values.popleft()

    @property
    def least(self) -> float:
        """Least value in the window, NaN without any."""
        return min((value for _, value in self._values), default=math.nan)

    @property
    def newest(self) -> float:
        """Newest value, NaN without any."""
        return self._values[-1][1] if self._values else math.nan

    @property
    def slope(self) -> float:
        """Slope of the line through the window [1/s], 0 as long as it is too short."""
        if len(self._values) < 3 or self._values[-1][0] - self._values[0][0] < _LEAST:
            return 0.0
        count = len(self._values)
        mean_time = sum(time for time, _ in self._values) / count
        mean = sum(value for _, value in self._values) / count
        spread = sum((time - mean_time) ** 2 for time, _ in self._values)
        return sum((time - mean_time) * (value - mean) for time, value in self._values) / spread

    def reaches(self, limit: float) -> float:
        """Return in how long the line reaches ``limit`` from below [s], inf never, 0 when it is there."""
        if self.newest >= limit:
            return 0.0
        return (limit - self.newest) / self.slope if self.slope > 1e-3 else math.inf


@dataclass
class JointHealth:
    """Health of one joint."""

    settling: Settling = field(default_factory=Settling)
    voltage: Trend = field(default_factory=Trend)
    temperature: Trend = field(default_factory=Trend)


@dataclass(frozen=True)
class HealthRules:
    """From when on a joint is told of.

    Attributes:
        hot: temperature at which the servo unloads [°C].
        warn_before: forecast time to it [s].
        dip: least supply [V].
        droop: standing error [step]; 20 to 30 under a heavy load are normal.
        errors: share of requests without a good reply.
    """

    hot: float = 70.0
    warn_before: float = 120.0
    dip: float = 6.0
    droop: float = 60.0
    errors: float = 0.05


def warnings(joint: JointHealth, rules: HealthRules) -> list[str]:
    """Return what is doubtful about a joint, in words."""
    found = []
    left = joint.temperature.reaches(rules.hot)
    if left == 0.0:
        found.append(f"{joint.temperature.newest:.0f} °C, the servo unloads at {rules.hot:.0f} °C; let it cool")
    elif left < rules.warn_before:
        found.append(f"{joint.temperature.newest:.0f} °C, {rules.hot:.0f} °C in {left:.0f} s; take load off")
    if joint.voltage.least < rules.dip:
        found.append(f"supply fell to {joint.voltage.least:.1f} V in the last minute; use a stronger one, shorter cables")
    if abs(joint.settling.droop) > rules.droop:
        found.append(f"rests {joint.settling.droop:+.0f} ticks from its goal; too much load, or a loose horn")
    return found
