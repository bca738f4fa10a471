"""The guard's numbers. Defaults are those of the design; each is a parameter of the node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Instant(NamedTuple):
    """One moment on both clocks, taken by the shell.

    Attributes:
        mono: CLOCK_MONOTONIC [ns]; every age runs on it.
        ros: ROS clock [ns]; only stamps are compared with it.
    """

    mono: int
    ros: int


@dataclass(frozen=True)
class Settings:
    """What the core is configured with, times in [s].

    Attributes:
        squeeze_close: a grip closes above this [0, 1].
        squeeze_open: and opens below this.
        countdown: from squeeze to driving [s].
        grace: how long lost tracking may last while driving [s].
        stale: largest age of frame, target, joint state and driver state, and largest distance of a stamp from now [s].
        session_stale: largest age of the session's state, which comes at 5 Hz [s].
        heading_age: how long after the head was last tracked its heading still counts [s].
        low_pass: time constant of the target's low-pass [s].
        credit: largest motion time of one commit [s].
        leash: largest distance of a target from the measured joints [rad].
        stall_share: share of the leash above which an error may be a stall.
        stall_speed: speed below which a joint stands [rad/s].
        stall_time: how long both must last [s].
        home_speed: largest speed of any joint on the way home [rad/s].
        home_patience: how long the way home may make no progress before it is given up [s].
        owner_wait: how long an owner may take from being given an arm to its first target [s].
        effort_load: share of a joint's torque above which it pushes hard [0, 1].
        effort_error: distance from its reference above which that may be in vain [rad].
        effort_still: how far a joint may move meanwhile and still get nowhere [rad].
        effort_time: how long all of it must last [s].
        pose: which controller pose must be tracked, ``grip`` or ``aim``.
        slide: what the collision filter cuts off is led along what blocks it.
    """

    squeeze_close: float = 0.6
    squeeze_open: float = 0.4
    countdown: float = 1.0
    grace: float = 0.7
    stale: float = 0.2
    session_stale: float = 1.0
    heading_age: float = 1.0
    low_pass: float = 0.01
    credit: float = 0.025
    leash: float = 0.25
    stall_share: float = 0.8
    stall_speed: float = 0.05
    stall_time: float = 0.5
    effort_load: float = 0.7
    effort_error: float = 0.1
    effort_still: float = 0.05
    effort_time: float = 0.3
    home_speed: float = 1.0
    home_patience: float = 2.0
    owner_wait: float = 2.0
    pose: str = "grip"
    slide: bool = True


def ns(seconds: float) -> int:
    """Return ``seconds`` [s] as whole nanoseconds."""
    return round(seconds * 1e9)
