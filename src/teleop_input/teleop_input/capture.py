"""WebXR captures of the Immersive Web Emulation Runtime as operator frames.

A capture is a JSON object: ``schema``, a list of [index, {handedness, hasGrip, hasHand, hasGamepad, ...}], and
``frames``, a list of rows ``[t_ms, head x y z, head qx qy qz qw, source, source, ...]``. A source is ``[index,
target-ray position (3) and quaternion (4), grip [p, q] when hasGrip, 25 joints when hasHand, buttons and axes]``, the last
a list ``[[pressed, touched, value] x buttons, axes...]``. One space for all: metres, right-handed, y up, -z forward;
quaternions x, y, z, w. Buttons as xr-standard: 0 trigger, 1 squeeze, 3 thumbstick, 4 A/X, 5 B/Y; axes 2, 3 thumbstick.
Sources come and go, and their order means nothing: the handedness of the schema alone says whose they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from teleop_common.enums import Convention, PoseFlags
from teleop_common.records import Controller, Header, Pose, TeleopFrame, TrackedPose

FRAME_ID = "webxr_local_floor"
_FULL_GAMEPAD = 6
_ALL = int(PoseFlags.ALL)


@dataclass(frozen=True)
class Override:
    """A value put in place of the captured one for some time.

    Attributes:
        field: field of ``Controller``, e.g. ``squeeze`` or ``secondary``.
        value: what it reads instead.
        start: from this time on [s from the first frame].
        end: before this time [s].
        hands: whose.
    """

    field: str
    value: float | bool
    start: float = 0.0
    end: float = float("inf")
    hands: tuple[str, ...] = ("left", "right")


def without_button(field: str) -> Override:
    """Return the override that drops a button, e.g. ``secondary`` (B and Y)."""
    return Override(field, False)


def frames(
    capture: dict[str, Any], *, start_ns: int = 1_000_000_000, connection: int = 1, overrides: Sequence[Override] = ()
) -> Iterator[TeleopFrame]:
    """Yield the capture as raw frames of the provider ``webxr``.

    A present controller is tracked: the capture has no flag that says otherwise. An absent source, and a hand without
    a controller's buttons, is a disconnected controller.

    Args:
        capture: the parsed JSON.
        start_ns: header stamp of the first frame [ns]; monotonic_ns counts from the same.
        connection: the connection of all frames.
        overrides: applied to present controllers, in order.

    Raises:
        KeyError, ValueError, IndexError, TypeError: not a capture of this format.
    """
    schema = {int(index): fields for index, fields in capture["schema"]}
    first_ms = capture["frames"][0][0]
    for sequence, row in enumerate(capture["frames"]):
        device_ns = round(row[0] * 1e6)
        at = device_ns - round(first_ms * 1e6)
        hands = {"left": Controller(), "right": Controller()}
        for source in row[8:]:
            fields = schema[int(source[0])]
            hand = str(fields["handedness"])
            if hand in hands and not fields["hasHand"]:
                hands[hand] = _overridden(_controller(source, fields), hand, at * 1e-9, overrides)
        yield TeleopFrame(
            header=Header(start_ns + at, FRAME_ID),
            provider="webxr",
            connection=connection,
            sequence=sequence,
            monotonic_ns=start_ns + at,
            sample_ns=start_ns + at,
            available_ns=start_ns + at,
            device_clock_ns=device_ns,
            convention=Convention.OPENXR,
            head=_pose(row[1:8]),
            left=hands["left"],
            right=hands["right"],
        )


def _controller(source: list[Any], fields: dict[str, Any]) -> Controller:
    aim = _pose(source[1:8])
    grip = _pose(source[8]) if fields["hasGrip"] else aim
    pad = source[-1] if fields["hasGamepad"] else []
    count = int(fields["numButtons"]) if pad else 0
    buttons, axes = pad[:count], pad[count:]
    if count < _FULL_GAMEPAD:
        return Controller()
    return Controller(
        connected=True,
        grip=grip,
        aim=aim,
        trigger=float(buttons[0][2]),
        squeeze=float(buttons[1][2]),
        thumbstick_x=float(axes[2]) if len(axes) > 3 else 0.0,
        thumbstick_y=float(axes[3]) if len(axes) > 3 else 0.0,
        primary=bool(buttons[4][0]),
        secondary=bool(buttons[5][0]),
        thumbstick_click=bool(buttons[3][0]),
    )


def _overridden(controller: Controller, hand: str, t: float, overrides: Sequence[Override]) -> Controller:
    if controller.connected:
        for o in overrides:
            if hand in o.hands and o.start <= t < o.end:
                value: Any = o.value
                controller = controller._replace(**{o.field: value})
    return controller


def _pose(values: Sequence[float]) -> TrackedPose:
    x, y, z, qx, qy, qz, qw = (float(v) for v in values)
    return TrackedPose(Pose((x, y, z), (qx, qy, qz, qw)), _ALL)
