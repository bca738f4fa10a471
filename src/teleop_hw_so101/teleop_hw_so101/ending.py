"""What the driver still does once it was told to end: answer what was asked, and ease the arm to rest if that is wanted."""

from __future__ import annotations

from contextlib import AbstractContextManager

from teleop_hw_so101.servo_arm import ServoArm

# with the longest way to rest, all is over before a launcher loses patience at 5 s
_SETTLE = 0.3  # [s] that the arm lags behind its last goal
_GRACE = 0.4  # [s] more that it may take to come to rest
_PATIENCE = 0.4  # [s] for the bus to answer
_LATER = 0.2  # [s] by which a way that was planned anew may end after the longest one


class Ending:
    """The arm's way from being driven to being left alone; the bus thread goes on meanwhile, and an e-stop is obeyed.

    Attributes:
        outcome: why the arm was not parked, empty when it was, or when nobody wanted it to be.
    """

    def __init__(self, arm: ServoArm, lock: AbstractContextManager[object], now: float, park: bool) -> None:
        """Begin at ``now``.

        Args:
            arm: to be ended.
            lock: held while its core is touched.
            now: monotonic clock [s].
            park: ease it to rest and turn torque off there.
        """
        self._arm, self._lock, self._park = arm, lock, park
        self._latest = now + arm.core.config.park_time + _LATER
        self._until: float | None = None  # of waiting for the bus, once the way has ended
        self.outcome = ""
        if park:
            with lock:
                self.outcome = arm.core.park(now)
        if self.outcome or not park:
            self._until = now + _PATIENCE

    def over(self, now: float) -> bool:
        """Go on at ``now`` (monotonic [s]); returns whether the driver may end."""
        if self._until is None:
            with self._lock:
                if self._arm.core.parking is None:
                    self._again(now)
                way, refusal = self._arm.core.parking, self._arm.core.rested(now)
            if way is not None and now < way.begun + way.duration + _SETTLE + (_GRACE if refusal else 0.0):
                return False
            self._until = now + _PATIENCE
            self.outcome = refusal or "torque off got no answer of the bus in time"
            if not refusal:
                self._arm.ask(False, self._released)
        return not self._arm.asked or now >= self._until

    def _again(self, now: float) -> None:
        """Plan anew after a servo was not heard for a moment; e-stop, fault, a lost arm and torque off refuse that."""
        core = self._arm.core
        core.park(now)
        if core.parking is not None and core.parking.begun + core.parking.duration > self._latest:
            core.parking = None

    def _released(self, refusal: str) -> None:
        self.outcome = refusal
