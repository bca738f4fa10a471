"""Records of Isaac Teleop as bytes."""

import contextlib
import struct

import pytest

pytest.importorskip("flatbuffers")
from hypothesis import given
from hypothesis import strategies as st

from teleop_common.errors import ConfigError
from teleop_input.isaac import layout, wire
from teleop_input.isaac.bfbs import binary_schema
from teleop_input.isaac.files import KINDS
from teleop_input.isaac.testing import records

POSE = wire.Pose((1.0, 2.0, 3.0), (0.5, -0.5, 0.5, -0.5))
RECORD = wire.ControllerSnapshotRecord(
    wire.ControllerSnapshot(
        wire.ControllerPose(POSE, True), wire.ControllerPose(), wire.ControllerInputState(True, False, True, False, 4, 5, 6, 7)
    ),
    wire.DeviceDataTimestamp(1, 2, 3),
)


@pytest.mark.parametrize("channel", KINDS)
@given(st.data())
def test_any_record_is_read_as_it_was_written(channel, data):
    record = data.draw(records(channel))
    assert repr(wire.decode(KINDS[channel], wire.encode(record))) == repr(record)  # NaN is not equal to itself


@pytest.mark.parametrize(
    "record",
    [
        wire.ControllerSnapshotRecord(None, None),
        wire.ControllerSnapshotRecord(wire.ControllerSnapshot(None, None, None)),
        wire.HeadPoseRecord(wire.HeadPose(None, True, True)),
    ],
)
def test_absent_parts_stay_absent(record):
    assert wire.decode(type(record).__name__, wire.encode(record)) == record


def test_record_has_the_size_of_the_recorder():
    assert len(wire.encode(RECORD)) == 144
    assert len(wire.encode(wire.HeadPoseRecord(wire.HeadPose(POSE, True, True)))) == 96


def test_structs_lie_as_the_format_says():
    kinds = wire.schema().kinds
    assert {n: k.size for n, k in kinds.items() if k.is_struct} == {
        "Point": 12,
        "Quaternion": 16,
        "Pose": 28,
        "DeviceDataTimestamp": 24,
        "ControllerPose": 32,
        "ControllerInputState": 20,
    }
    assert [f.offset for f in kinds["ControllerInputState"].fields] == [0, 1, 2, 3, 4, 8, 12, 16]
    assert [f.offset for f in kinds["ControllerPose"].fields] == [0, 28]
    data = wire.encode(RECORD)
    assert struct.pack("<7f", *POSE.position, *POSE.orientation) + b"\x01\0\0\0" in data
    assert struct.pack("<4?4f", *RECORD.data.inputs) in data
    assert struct.pack("<3q", 1, 2, 3) in data


@given(st.integers(0, 143), st.binary(min_size=0, max_size=4))
def test_damaged_record_is_one_error_or_another_record(cut, patch):
    data = wire.encode(RECORD)
    for damaged in (data[:cut], data[:cut] + patch + data[cut + len(patch) :], patch):
        with contextlib.suppress(wire.RecordError):
            assert isinstance(wire.decode(wire.CONTROLLER, damaged), wire.ControllerSnapshotRecord)


@pytest.mark.parametrize("cut", [0, 3, 20, 100, 140])
def test_record_cut_off_is_refused(cut):
    with pytest.raises(wire.RecordError, match=f"{cut} bytes"):
        wire.decode(wire.CONTROLLER, wire.encode(RECORD)[:cut])


def test_number_beyond_32_bit_floats_is_refused():
    with pytest.raises(wire.RecordError, match="32-bit"):
        wire.encode(wire.HeadPoseRecord(wire.HeadPose(wire.Pose((1e300, 0.0, 0.0)))))


@pytest.mark.parametrize("kind", [wire.CONTROLLER, wire.HEAD])
def test_binary_schema_names_what_the_record_is_made_of_and_no_more(kind):
    schema = binary_schema(wire.schema(), kind)
    assert schema[4:8] == b"BFBS"
    inside = wire.schema().reachable(kind)
    for name in wire.schema().kinds:
        assert (f"core.{name}\0".encode() in schema) == (name in inside)


@pytest.mark.parametrize(
    "text",
    [
        "struct A { x:float; }",
        "namespace core; struct A { x:floaty; }",
        "namespace core; struct A { x float; }",
        "namespace core; enum E { A }",
        "namespace core; struct A { }",
        "namespace core; table T { x:float; } struct A { t:T; }",
    ],
)
def test_schema_that_is_not_understood_is_refused(text):
    with pytest.raises(ConfigError, match=r"records\.fbs"):
        layout.parse(text)
