"""What the provider asks of an OpenXR runtime; the real one and the scripted one both answer it.

Numbers are those of the OpenXR specification, so that neither side translates.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import NamedTuple, Protocol

from teleop_common.enums import StatusReason
from teleop_common.errors import TeleopError
from teleop_common.records import ORIGIN, Quat, Vec3

HANDS = ("left", "right")


class XrState(IntEnum):
    """XrSessionState."""

    UNKNOWN = 0
    IDLE = 1
    READY = 2
    SYNCHRONIZED = 3
    VISIBLE = 4
    FOCUSED = 5
    STOPPING = 6
    LOSS_PENDING = 7
    EXITING = 8


class LocationBits(IntFlag):
    """XrSpaceLocationFlags; not in the order of TrackedPose."""

    ORIENTATION_VALID = 1
    POSITION_VALID = 2
    ORIENTATION_TRACKED = 4
    POSITION_TRACKED = 8
    ALL = 15


class Location(NamedTuple):
    """A space as the runtime locates it, unchecked.

    Attributes:
        position: in the reference space [m], OpenXR axes.
        orientation: quaternion (x, y, z, w).
        bits: LocationBits.
    """

    position: Vec3 = ORIGIN
    orientation: Quat = (0.0, 0.0, 0.0, 0.0)
    bits: int = 0


class HandSample(NamedTuple):
    """One hand's actions, unchecked; an action that is not active is zero.

    Attributes:
        active: a device is bound to the hand's poses.
        grip: grip pose.
        aim: aim pose.
        trigger: [0, 1].
        squeeze: [0, 1].
        thumbstick: (x, y), each [-1, 1].
        primary: A or X.
        secondary: B or Y.
        thumbstick_click: pressed.
        menu: pressed.
        profile: the runtime's number of the interaction profile that the poses are of; 0 for none.
    """

    active: bool = False
    grip: Location = Location()
    aim: Location = Location()
    trigger: float = 0.0
    squeeze: float = 0.0
    thumbstick: tuple[float, float] = (0.0, 0.0)
    primary: bool = False
    secondary: bool = False
    thumbstick_click: bool = False
    menu: bool = False
    profile: int = 0


class Sample(NamedTuple):
    """Everything at one time of the runtime.

    Attributes:
        xr_time: the runtime's clock [ns].
        head: the VIEW space.
        left: left hand.
        right: right hand.
    """

    xr_time: int
    head: Location = Location()
    left: HandSample = HandSample()
    right: HandSample = HandSample()


class StateChanged(NamedTuple):
    """XrEventDataSessionStateChanged."""

    state: XrState


class SpaceChange(NamedTuple):
    """XrEventDataReferenceSpaceChangePending of the poses' space; from ``xr_time`` [ns] on they are given in the new one."""

    xr_time: int


class Note(NamedTuple):
    """Something worth a line in the log, such as a changed interaction profile."""

    text: str


Event = StateChanged | SpaceChange | Note


class RuntimeFailure(TeleopError):
    """The runtime cannot go on; what there was of it is to be closed.

    Attributes:
        reason: why, as the device status names it.
    """

    def __init__(self, reason: StatusReason, text: str) -> None:
        """Remember the reason; ``text`` says what happened and what to do."""
        super().__init__(text)
        self.reason = reason


class Runtime(Protocol):
    """An OpenXR runtime, headless.

    Every method may raise RuntimeFailure. ``open`` raises it with PROVIDER_INITIALIZING while there is no runtime.
    """

    def open(self) -> str:
        """Connect to the runtime and return its name."""

    def has_headset(self) -> bool:
        """Return whether the form factor of a head-mounted display is available now."""

    def start(self) -> str:
        """Create session, spaces and actions; return the name of the reference space, e.g. ``stage``."""

    def events(self, monotonic_ns: int) -> list[Event]:
        """Return what happened since the last call, in order."""

    def begin(self) -> None:
        """Begin the session."""

    def end(self) -> None:
        """End the session that is STOPPING."""

    def sample(self, monotonic_ns: int) -> Sample | None:
        """Return poses and actions at that time [ns]; None when the session does not run (of one that others own)."""

    def vibrate(self, hand: str, amplitude: float, duration_ns: int) -> None:
        """Pulse a controller; amplitude [0, 1]."""

    def close(self) -> None:
        """Give back all that was made; never fails, and may be called at any time."""
