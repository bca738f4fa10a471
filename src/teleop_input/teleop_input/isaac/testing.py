"""Records of any content, for tests by property (hypothesis)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from teleop_input.isaac import wire
from teleop_input.isaac.files import CHANNELS, Timed

_number = st.floats(width=32)  # NaN and infinities, too: files hold what a device said
_time = st.integers(-(2**63), 2**63 - 1)
_point = st.tuples(_number, _number, _number)
_quaternion = st.tuples(_number, _number, _number, _number)
_pose = st.builds(wire.Pose, _point, _quaternion)
_tracked = st.builds(wire.ControllerPose, _pose, st.booleans())
_inputs = st.builds(wire.ControllerInputState, *(st.booleans() for _ in range(4)), *(_number for _ in range(4)))
timestamps = st.builds(wire.DeviceDataTimestamp, _time, _time, _time)
snapshots = st.builds(wire.ControllerSnapshot, _tracked, _tracked, _inputs)
heads = st.builds(wire.HeadPose, _pose, st.booleans(), st.booleans())


def records(channel: str) -> st.SearchStrategy[wire.Record]:
    """Return records of a channel, with and without data."""
    if channel == "head":
        return st.builds(wire.HeadPoseRecord, st.none() | heads, timestamps)
    return st.builds(wire.ControllerSnapshotRecord, st.none() | snapshots, timestamps)


@st.composite
def recordings(draw: st.DrawFn, channels: Sequence[str] = CHANNELS) -> list[dict[str, Timed]]:
    """Draw complete moments, 10 ms apart, as the recorder writes them: logged when they became available."""
    steps = []
    for i in range(draw(st.integers(1, 3))):
        step = {}
        for channel in channels:
            at = 1_000_000_000 + i * 10_000_000 + draw(st.integers(0, 1000))
            record: Any = draw(records(channel))
            step[channel] = Timed(at, record._replace(timestamp=record.timestamp._replace(available=at)))
        steps.append(step)
    return steps
