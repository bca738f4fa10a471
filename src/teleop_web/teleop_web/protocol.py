"""The socket's frame JSON as a TeleopFrame: everything a client may send is checked here, once.

The format is described by ``schema/webxr_frame.schema.json`` and explained in ``docs/webxr_protocol.md``. Poses stay in the
device's axes (OpenXR: +y up, -z forward); what a pose is worth is carried by its flags. Two kinds of wrong are told apart:
a frame of the wrong shape is refused with a reason, a pose that cannot be true (null, not finite, zero, not a rotation)
arrives with flags 0, because the rest of the frame (the other hand's dead-man) still has to be obeyed.
"""

from __future__ import annotations

import json
import math
import reprlib
from typing import Any, NamedTuple

from teleop_common import plausible
from teleop_common.enums import Convention, PoseFlags
from teleop_common.errors import TeleopError
from teleop_common.records import Controller, Header, Pose, TeleopFrame, TrackedPose

FRAME_ID = "webxr_local_floor"
PROVIDER = "webxr"
MAX_BYTES = 65536
VALUE_TOLERANCE = 1e-3  # by which an analogue value may leave its range before the frame is refused
_TRACKED = int(PoseFlags.ALL)
_VALID = int(PoseFlags.POSITION_VALID | PoseFlags.ORIENTATION_VALID)
_UNKNOWN = TrackedPose()
_ABSENT = Controller()


class FrameError(TeleopError, ValueError):
    """A message that is refused.

    Attributes:
        kind: short name under which it is counted.
        reason: what is wrong, what is allowed and what to do; sent back to the client.
    """

    def __init__(self, kind: str, reason: str) -> None:
        """Remember both."""
        self.kind, self.reason = kind, reason
        super().__init__(reason)


class Received(NamedTuple):
    """When a message arrived and on which connection.

    Attributes:
        stamp_ns: ROS clock [ns].
        monotonic_ns: CLOCK_MONOTONIC [ns].
        connection: the operator's connection number.
        sequence: number that the frame gets if it is accepted.
    """

    stamp_ns: int
    monotonic_ns: int
    connection: int
    sequence: int


class ParsedFrame(NamedTuple):
    """An accepted frame.

    Attributes:
        frame: the record.
        client_sequence: the client's own number, or None when it sends none.
        broken_poses: how many poses were there but could not be true.
    """

    frame: TeleopFrame
    client_sequence: int | None
    broken_poses: int


def parse_object(text: str) -> dict[str, Any]:
    """Return the JSON object that ``text`` holds.

    Raises:
        FrameError: it is too long, not JSON, or not an object.
    """
    if len(text) > MAX_BYTES:
        raise FrameError(
            "oversized", f"message: got {len(text)} characters, allowed up to {MAX_BYTES}; send one sample per message"
        )
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FrameError(
            "malformed", f"message: got text that is not JSON ({str(error)[:80]}), allowed one JSON object"
        ) from None
    if not isinstance(value, dict):
        raise FrameError("malformed", f"message: got JSON {type(value).__name__}, allowed one JSON object")
    return value


def _number(name: str, value: Any, low: float, high: float) -> float:
    """Return a number within [low, high], forgiving rounding at the ends."""
    if value is True or value is False:
        return 1.0 if value else 0.0
    try:
        number = float(value) if isinstance(value, float | int) else math.nan
    except OverflowError:
        number = math.inf
    if low <= number <= high:
        return number
    if low - VALUE_TOLERANCE <= number <= high + VALUE_TOLERANCE:
        return low if number < low else high
    raise FrameError("value", f"frame '{name}': got {short(value)}, allowed a number from {low:g} to {high:g}")


def _flag(name: str, value: Any) -> bool:
    if value is None or value is False:
        return False
    if value is True or value in (0, 1):
        return bool(value)
    raise FrameError("value", f"frame '{name}': got {short(value)}, allowed true or false")


def _object(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise FrameError("value", f"frame '{name}': got {short(value)}, allowed an object or null")


def short(value: Any) -> str:
    """Return a value of a message as an error shows it: short, and whatever it is (``repr`` gives up on deep nesting)."""
    text = reprlib.repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def text_of(value: Any, most: int) -> str:
    """Return at most ``most`` characters of what ought to be a text; nothing of null."""
    return (value if isinstance(value, str) else "" if value is None else short(value))[:most]


def _vector(name: str, value: Any, length: int) -> tuple[float, ...] | None:
    """Return the numbers of a vector; None when it is missing or one of them is null or not finite."""
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != length:
        raise FrameError("value", f"frame '{name}': got {short(value)}, allowed {length} numbers or null")
    finite = True
    for item in value:
        if item is None:
            finite = False
        elif isinstance(item, bool) or not isinstance(item, float | int):
            raise FrameError("value", f"frame '{name}': got {short(item)} in it, allowed {length} numbers or null")
        else:
            finite = finite and -1e300 < item < 1e300
    return tuple(map(float, value)) if finite else None


def _pose(name: str, source: dict[str, Any], tracked: bool) -> TrackedPose:
    """Return the pose that ``source`` holds, with flags; identity with flags 0 when it cannot be true."""
    position: Any = _vector(f"{name}.position", source.get("position"), 3)
    orientation: Any = _vector(f"{name}.orientation", source.get("orientation"), 4)
    if position is None or orientation is None or not plausible.in_play_space(position):
        return _UNKNOWN
    unit = plausible.attitude(orientation)
    return _UNKNOWN if unit is None else TrackedPose(Pose(position, unit), _TRACKED if tracked else _VALID)


def _is_tracked(name: str, source: dict[str, Any], default: bool) -> bool:
    """Return whether the device tracks the pose: ``emulatedPosition`` true or ``tracked`` false says no, silence the default."""
    if _flag(f"{name}.emulatedPosition", source.get("emulatedPosition")):
        return False
    if source.get("tracked") is not None:
        return _flag(f"{name}.tracked", source["tracked"])
    return default or source.get("emulatedPosition") is not None


def _controller(name: str, value: Any, allow_squeeze: bool) -> Controller:
    """Return one hand; a hand that is missing, null or not connected is the zero Controller."""
    if value is None:
        return _ABSENT
    hand = _object(name, value)
    if not _flag(f"{name}.connected", hand.get("connected", True)):
        return _ABSENT
    tracked = _is_tracked(name, hand, default=False)
    poses = []
    for kind in ("grip", "aim"):
        own = hand.get(kind)
        if own is None:
            poses.append(_pose(name, hand, tracked))
        else:
            own = _object(f"{name}.{kind}", own)
            poses.append(_pose(f"{name}.{kind}", own, tracked and _is_tracked(f"{name}.{kind}", own, default=True)))
    stick = _vector(f"{name}.thumbstick", hand.get("thumbstick"), 2) or (0.0, 0.0)
    given = hand.get("buttons")
    buttons = {} if given is None else _object(f"{name}.buttons", given)
    squeeze = _number(f"{name}.squeeze", hand.get("squeeze", 0.0), 0.0, 1.0)

    def pressed(*keys: str) -> bool:
        return any(_flag(f"{name}.buttons.{key}", buttons.get(key)) for key in keys)

    return Controller(
        connected=True,
        grip=poses[0],
        aim=poses[1],
        trigger=_number(f"{name}.trigger", hand.get("trigger", 0.0), 0.0, 1.0),
        squeeze=squeeze if allow_squeeze else 0.0,
        thumbstick_x=_number(f"{name}.thumbstick[0]", stick[0], -1.0, 1.0),
        thumbstick_y=_number(f"{name}.thumbstick[1]", stick[1], -1.0, 1.0),
        primary=pressed("primary", "a", "x"),
        secondary=pressed("secondary", "b", "y"),
        thumbstick_click=pressed("stick"),
        menu=pressed("menu"),
    )


def _sequence(message: dict[str, Any], last: int | None) -> int | None:
    value = message.get("seq")
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # some languages have no other number
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise FrameError("value", f"frame 'seq': got {short(value)}, allowed an integer from 0 to 2^53 - 1")
    if last is not None and value == last:
        raise FrameError("duplicate", f"frame 'seq': got {value} again, allowed above {last}; number every sample anew")
    if last is not None and value < last:
        raise FrameError("out_of_order", f"frame 'seq': got {value}, allowed above {last}; drop samples that were overtaken")
    return value


def _claimed(source: Any) -> int:
    """Return how many poses an object of the message claims to hold."""
    return int(isinstance(source, dict) and source.get("position") is not None and source.get("orientation") is not None)


def parse_frame(
    message: dict[str, Any], received: Received, last_sequence: int | None = None, recentred: bool = False
) -> ParsedFrame:
    """Return the frame that a message holds.

    Args:
        message: the parsed JSON object.
        received: arrival and numbering.
        last_sequence: the client's number of the last accepted frame, None before the first.
        recentred: a recentre event arrived since the last accepted frame.

    Raises:
        FrameError: a field has the wrong type or range, or the frame is out of order.
    """
    ts_ms = message.get("ts_ms")
    if isinstance(ts_ms, bool) or not isinstance(ts_ms, float | int) or not 0 <= ts_ms < 2**53:
        raise FrameError(
            "value", f"frame 'ts_ms': got {short(ts_ms)}, allowed milliseconds since 1970 as a number from 0 to 2^53 - 1"
        )
    sequence = _sequence(message, last_sequence)
    head_object = message.get("head")
    head = _UNKNOWN
    if head_object is not None:
        source = _object("head", head_object)
        head = _pose("head", source, _is_tracked("head", source, default=True))
    # an explicit false is the operator's word that no grip is held: it can only take authority away
    allow_squeeze = message.get("dead_man") is None or _flag("dead_man", message["dead_man"])
    left = _controller("left", message.get("left"), allow_squeeze)
    right = _controller("right", message.get("right"), allow_squeeze)
    broken = int(_claimed(head_object) and not head.flags)
    for name, hand in (("left", left), ("right", right)):
        if hand.connected:
            broken += int(_claimed(message[name].get("grip") or message[name]) and not hand.grip.flags)
    clock_ns = int(ts_ms * 1_000_000)
    frame = TeleopFrame(
        header=Header(received.stamp_ns, FRAME_ID),
        provider=PROVIDER,
        connection=received.connection,
        sequence=received.sequence,
        monotonic_ns=received.monotonic_ns,
        device_clock_ns=clock_ns if clock_ns < 2**63 else 0,  # what the message cannot hold is unknown
        convention=int(Convention.OPENXR),
        head=head,
        left=left,
        right=right,
        recentred=recentred or _flag("recentred", message.get("recentred")),
    )
    return ParsedFrame(frame, sequence, broken)
