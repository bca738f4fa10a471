"""The compiled codec against rclpy's own serialisation, for every record."""

import random
import re
import struct

import pytest

pytest.importorskip("rclpy")

from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402

from teleop_common import enums, records, transport  # noqa: E402
from teleop_common.cdr import Codec, WireError  # noqa: E402

MESSAGES = [
    r
    for r in vars(records).values()
    if isinstance(r, type) and hasattr(r, "_fields") and r.__name__ not in ("Header", "Pose", "Transform")
]


def a_value(kind, rng):
    if m := re.fullmatch(r"sequence<(.+?)(, \d+)?>", kind):
        return [a_value(m[1], rng) for _ in range(rng.randint(0, 3))]
    if m := re.fullmatch(r"(.+)\[(\d+)\]", kind):
        return [a_value(m[1], rng) for _ in range(int(m[2]))]
    if kind == "boolean":
        return rng.random() < 0.5
    if kind.startswith("string"):
        return "".join(rng.choice("abcé ") for _ in range(rng.randint(0, 9)))
    if kind == "double":
        return rng.uniform(-9, 9)
    if kind == "float":
        return struct.unpack("f", struct.pack("f", rng.uniform(-9, 9)))[0]
    if kind in ("uint8", "octet", "byte"):
        return rng.randint(0, 255)
    if kind.startswith("uint"):
        return rng.randint(0, 2 ** min(int(kind[4:]), 31) - 1)
    if kind.startswith("int"):
        return rng.randint(-(2 ** (int(kind[3:]) - 1)), 2 ** (int(kind[3:]) - 1) - 1)
    return a_message(transport._message(kind), rng)


def a_message(cls, rng):
    message = cls()
    if cls.__name__ == "Time":
        message.sec, message.nanosec = rng.randint(-(2**31), 2**31 - 1), rng.randint(0, 999_999_999)
        return message
    for field, kind in cls.get_fields_and_field_types().items():
        setattr(message, field, a_value(kind, rng))
    return message


@pytest.mark.parametrize("record", MESSAGES, ids=lambda r: r.__name__)
def test_random_messages_survive_both_directions(record):
    codec, rng = transport.codec(record), random.Random(7)
    for _ in range(100):
        message = a_message(codec.msg_class, rng)
        decoded = codec.decode(bytes(serialize_message(message)))
        assert deserialize_message(codec.encode(decoded), codec.msg_class) == message
        assert codec.decode(codec.encode(decoded)) == decoded


@pytest.mark.parametrize("record", MESSAGES, ids=lambda r: r.__name__)
def test_default_record_decodes_to_itself(record):
    codec = transport.codec(record)
    if record is records.ClearancePair or "header" in record._fields or record._field_defaults:
        assert codec.decode(codec.encode(record())) == record()


@pytest.mark.parametrize("cut", [0, 3, 4, 11, 40, 200])
def test_truncated_bytes_are_refused(cut):
    codec = transport.codec(records.JointTargets)
    whole = codec.encode(records.JointTargets(arms=(records.JointTarget(arm="left", name=("a", "b"), position=(1.0, 2.0)),)))
    with pytest.raises(WireError, match="check the sender"):
        codec.decode(whole[:cut])


def test_big_endian_is_refused_with_its_header():
    with pytest.raises(WireError, match="encapsulation"):
        transport.codec(records.Haptics).decode(b"\x00\x00\x00\x00" + bytes(40))


def test_record_of_other_fields_is_refused():
    with pytest.raises(TypeError, match="EstopState.*amplitude"):
        Codec(transport.message_class(records.Haptics), records.EstopState, {}, transport._message)


@pytest.mark.parametrize(
    ("enum", "message", "prefix"),
    [
        (enums.PoseFlags, "TrackedPose", ""),
        (enums.Convention, "TeleopFrame", ""),
        (enums.TargetStatus, "JointTarget", ""),
        (enums.Reason, "JointCommand", ""),
        (enums.Authority, "ArmAuthority", ""),
        (enums.Counter, "ArmAuthority", "COUNTER_"),
        (enums.Session, "SessionState", ""),
        (enums.Provider, "ProviderReport", ""),
        (enums.Device, "DeviceReport", ""),
        (enums.DeviceReason, "DeviceReport", "REASON_"),
        (enums.ProviderType, "ProviderStatus", ""),
        (enums.DeviceState, "DeviceStatus", ""),
        (enums.StatusReason, "DeviceStatus", "REASON_"),
    ],
)
def test_enumerations_equal_the_messages_constants(enum, message, prefix):
    cls = transport._message(f"teleop_interfaces/{message}")
    for member in enum:
        assert getattr(cls, prefix + member.name) == member.value
