"""How long a frame waited on its way, and what is left of one that waited too long. Pure; times are seconds.

A frame carries the device's clock. Arrival minus that clock is the two clocks' offset, plus the way, plus the time spent in
queues; its smallest value on a connection is what the clocks and the way alone make, so what lies above it is waiting.
"""

from __future__ import annotations

from dataclasses import dataclass

from teleop_common.enums import PoseFlags
from teleop_common.records import Controller, TeleopFrame, TrackedPose

LATE = 0.2  # [s] of waiting from which a frame moves nothing: the age at which the graph refuses a message
DRIFT = 1e-3  # [s/s] by which the device's clock may lose against ours; clocks that are being set slew by half of it
PATIENCE = 10.0  # [s] after which a delay that never falls is no queue but another clock (a device that slept stops its own)
_KNOWN = int(PoseFlags.POSITION_VALID | PoseFlags.ORIENTATION_VALID)


@dataclass
class Waiting:
    """Estimates the waiting time of each frame of one connection.

    Attributes:
        base: arrival minus device clock of a frame that did not wait [s]; None before the first.
        device: device clock of the last frame [s].
        arrival: arrival of the last frame [s].
        delay: estimate for the last frame [s].
        late_since: arrival of the first of an unbroken row of late frames [s], None when the last was in time.
        least: smallest arrival minus device clock in that row [s].
    """

    base: float | None = None
    device: float = 0.0
    arrival: float = 0.0
    delay: float = 0.0
    late_since: float | None = None
    least: float = 0.0

    @property
    def late(self) -> bool:
        """Return whether the last frame waited too long."""
        return self.delay > LATE

    def frame(self, arrival: float, device: float) -> float:
        """Return how long a frame waited [s], never less than 0.

        A queue keeps the order, so a device clock that goes back was set: the estimate begins anew. One that stands still
        (coarse, or none at all) says nothing: the last estimate stays.

        Args:
            arrival: monotonic time at which it arrived [s].
            device: the device's clock at which it was taken [s].
        """
        if self.base is not None and device == self.device:
            self.arrival = arrival
            return self.delay
        offset = arrival - device
        if self.base is None or device < self.device:
            self.base = offset
        elif self.late_since is not None and arrival - self.late_since > PATIENCE:
            # the least of the row, not the newest: a queue that still grows stays late
            self.base, self.late_since = self.least, None
        self.base = min(self.base + DRIFT * max(0.0, arrival - self.arrival), offset)
        self.device, self.arrival, self.delay = device, arrival, offset - self.base
        if not self.late:
            self.late_since = None
        elif self.late_since is None:
            self.late_since, self.least = arrival, offset
        else:
            self.least = min(self.least, offset)
        return self.delay


def _still(pose: TrackedPose) -> TrackedPose:
    return pose._replace(flags=pose.flags & _KNOWN)


def _hand(controller: Controller) -> Controller:
    return controller._replace(grip=_still(controller.grip), aim=_still(controller.aim))


def disarmed(frame: TeleopFrame) -> TeleopFrame:
    """Return a late frame as one that can only take authority away.

    Its poses are known but not tracked, so nothing follows them and no countdown starts; open grips and pressed buttons
    stay, because a release and an e-stop count however late they come.
    """
    return frame._replace(head=_still(frame.head), left=_hand(frame.left), right=_hand(frame.right))
