"""The frame JSON: what is accepted, what a pose is worth, what is refused and why."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common.enums import PoseFlags
from teleop_common.records import Controller, TrackedPose
from teleop_web.protocol import MAX_BYTES, FrameError, Received, parse_frame, parse_object

SCHEMA = Path(__file__).parents[2] / "schema" / "webxr_frame.schema.json"
ALL, VALID = 15, 3
AT = Received(1_000, 2_000, 7, 1)

EXAMPLE = {
    "ts_ms": 1786134696657,
    "vr_mode": "pose",
    "dead_man": True,
    "head": {"position": [0, 1.6, 0], "orientation": [0, 0, 0, 1]},
    "left": {
        "position": [-0.35, 1.40, 0.30],
        "orientation": [0, 0, 0, 1],
        "trigger": 0.0,
        "squeeze": False,
        "tracked": True,
    },
    "right": {
        "position": [0.25, 1.15, -0.30],
        "orientation": [0, 0, 0, 1],
        "trigger": 0.85,
        "squeeze": True,
        "tracked": True,
    },
}


def frame(**changes):
    return parse_frame(EXAMPLE | changes, AT).frame


def hand(**changes):
    return frame(right=EXAMPLE["right"] | changes).right


def refusal(message, last=None):
    with pytest.raises(FrameError) as caught:
        parse_frame(message, AT, last)
    return caught.value


def test_plain_frame_of_one_pose_per_hand_fills_grip_and_aim():
    got = frame()
    assert got.head.flags == ALL
    assert got.right == Controller(True, got.right.grip, got.right.grip, 0.85, 1.0)
    assert got.right.grip.pose.position == (0.25, 1.15, -0.30)
    assert got.left.squeeze == 0.0
    assert (got.header.stamp, got.monotonic_ns, got.connection, got.sequence) == (1_000, 2_000, 7, 1)
    assert got.device_clock_ns == 1786134696657 * 1_000_000


def test_extended_hand_carries_grip_aim_stick_and_buttons():
    got = hand(
        grip={"position": [1, 2, 3], "orientation": [0, 0, 1, 0], "tracked": True},
        aim={"position": [4, 5, 6], "orientation": [0, 1, 0, 0], "emulatedPosition": True},
        thumbstick=[-0.5, 1],
        buttons={"a": True, "secondary": 1, "stick": True, "menu": False},
    )
    assert got.grip.pose.position == (1, 2, 3)
    assert (got.grip.flags, got.aim.flags) == (ALL, VALID)
    assert (got.thumbstick_x, got.thumbstick_y) == (-0.5, 1.0)
    assert (got.primary, got.secondary, got.thumbstick_click, got.menu) == (True, True, True, False)


@pytest.mark.parametrize(
    ("changes", "flags"),
    [
        ({"tracked": False}, VALID),
        ({"tracked": None}, VALID),
        ({"tracked": None, "emulatedPosition": False}, ALL),
        ({"tracked": True, "emulatedPosition": True}, VALID),
        ({"position": None}, 0),
        ({"orientation": None}, 0),
        ({"position": [math.nan, 0, 0]}, 0),
        ({"position": [None, 1, 2]}, 0),
        ({"position": [math.inf, 0, 0]}, 0),
        ({"position": [0, 0, 0]}, 0),
        ({"position": [0, 1e9, 0]}, 0),
        ({"position": [10**400, 0, 0]}, 0),
        ({"orientation": [0, 0, 0, 0]}, 0),
        ({"orientation": [0, 0, 0, 1.3]}, 0),
        ({"orientation": [math.nan, 0, 0, 1]}, 0),
    ],
)
def test_pose_that_cannot_be_true_or_is_not_tracked_says_so_in_its_flags(changes, flags):
    got = hand(**changes)
    assert got.grip.flags == got.aim.flags == flags
    assert got.connected
    assert got.squeeze == 1.0
    if not flags:
        assert got.grip == TrackedPose()


def test_almost_unit_quaternion_is_normalised():
    got = hand(orientation=[0, 0, 0.6004, 0.8])
    assert got.grip.flags == ALL
    assert math.hypot(*got.grip.pose.orientation) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("absent", [None, {"connected": False, "squeeze": 1.0, "trigger": 1.0, "position": [1, 1, 1]}])
def test_absent_hand_is_all_zero(absent):
    assert frame(right=absent).right == Controller()


def test_missing_head_and_hands_are_a_frame_without_anything():
    got = parse_frame({"ts_ms": 1}, AT).frame
    assert (got.head, got.left, got.right) == (TrackedPose(), Controller(), Controller())


def test_explicit_false_dead_man_opens_both_grips():
    assert frame(dead_man=False).right.squeeze == 0.0


def test_broken_poses_are_counted():
    message = EXAMPLE | {"head": {"position": [0, 1, 0], "orientation": [0, 0, 0, 0]}}
    assert parse_frame(message, AT).broken_poses == 1


def test_recentre_announced_before_the_frame_is_carried_by_it():
    assert parse_frame(EXAMPLE, AT, recentred=True).frame.recentred
    assert frame(recentred=True).recentred


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"ts_ms": None}, "ts_ms"),
        ({"ts_ms": "now"}, "ts_ms"),
        ({"ts_ms": math.nan}, "ts_ms"),
        ({"ts_ms": -1}, "ts_ms"),
        ({"head": 3}, "head"),
        ({"right": []}, "right"),
        ({"right": {"position": [1, 2]}}, "right.position"),
        ({"right": {"position": "here"}}, "right.position"),
        ({"right": {"orientation": [0, 0, 0, "1"]}}, "right.orientation"),
        ({"right": {"trigger": 1.5}}, "right.trigger"),
        ({"right": {"trigger": math.nan}}, "right.trigger"),
        ({"right": {"squeeze": "yes"}}, "right.squeeze"),
        ({"right": {"squeeze": 10**400}}, "right.squeeze"),
        ({"right": {"thumbstick": [2, 0]}}, "right.thumbstick"),
        ({"right": {"buttons": 1}}, "right.buttons"),
        ({"right": {"buttons": {"a": "down"}}}, "right.buttons.a"),
        ({"right": {"tracked": 7}}, "right.tracked"),
        ({"dead_man": "x"}, "dead_man"),
        ({"seq": -1}, "seq"),
        ({"seq": 1.5}, "seq"),
        ({"seq": True}, "seq"),
    ],
)
def test_wrong_field_is_refused_with_its_name_and_what_is_allowed(changes, names):
    error = refusal(EXAMPLE | changes)
    assert error.kind == "value"
    assert f"'{names}" in error.reason
    assert "allowed" in error.reason


@pytest.mark.parametrize(("sequence", "kind"), [(5, "duplicate"), (4, "out_of_order")])
def test_frame_that_does_not_advance_is_refused(sequence, kind):
    assert refusal(EXAMPLE | {"seq": sequence}, 5).kind == kind


@pytest.mark.parametrize("text", ["", "{", "null", "[1]", "3", '"x"', "[" * 50_000, '{"a":' * 9000, "1" * 10_000, "\ud800"])
def test_text_that_is_no_object_is_refused(text):
    with pytest.raises(FrameError) as caught:
        parse_object(text)
    assert caught.value.kind == "malformed"
    assert "\n" not in caught.value.reason


def test_oversized_text_is_refused_before_it_is_parsed():
    with pytest.raises(FrameError) as caught:
        parse_object("{" + " " * MAX_BYTES)
    assert caught.value.kind == "oversized"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NUMBER = st.floats(-2, 2) | st.integers(-2, 2) | st.none() | JSON
POSE = {
    "position": st.lists(NUMBER, min_size=3, max_size=3) | JSON,
    "orientation": st.sampled_from([[0, 0, 0, 1], [0.6, 0, 0, 0.8]]) | st.lists(NUMBER, min_size=4, max_size=4),
    "tracked": st.booleans() | JSON,
    "emulatedPosition": st.booleans() | JSON,
}
HAND = POSE | {
    "connected": st.booleans() | JSON,
    "grip": st.fixed_dictionaries({}, optional=POSE) | JSON,
    "aim": st.fixed_dictionaries({}, optional=POSE) | JSON,
    "trigger": st.floats(0, 1) | JSON,
    "squeeze": st.booleans() | JSON,
    "thumbstick": st.lists(NUMBER, min_size=2, max_size=2) | JSON,
    "buttons": st.dictionaries(st.sampled_from(["a", "b", "primary", "stick", "menu"]), st.booleans() | JSON, max_size=3) | JSON,
}
MESSAGE = st.fixed_dictionaries(
    {"ts_ms": st.floats(0, 1e13) | JSON},
    optional={
        "seq": st.integers(0, 9) | JSON,
        "dead_man": st.booleans() | JSON,
        "head": st.fixed_dictionaries({}, optional=POSE) | JSON,
        "left": st.fixed_dictionaries({}, optional=HAND) | JSON,
        "right": st.fixed_dictionaries({}, optional=HAND) | JSON,
    },
)


@given(MESSAGE)
def test_any_message_is_refused_with_a_reason_or_gives_only_sound_values(message):
    try:
        got = parse_frame(message, AT, 4).frame
    except FrameError as error:
        refused = error
    else:
        refused = None
    if refused is not None:
        assert "allowed" in refused.reason
        return
    for pose in (got.head, got.left.grip, got.left.aim, got.right.grip, got.right.aim):
        assert pose.flags in (0, VALID, ALL)
        assert all(map(math.isfinite, pose.pose.position))
        assert math.hypot(*pose.pose.orientation) == pytest.approx(1.0)
        assert pose.flags or pose == TrackedPose()
    for each in (got.left, got.right):
        assert 0 <= each.trigger <= 1
        assert 0 <= each.squeeze <= 1
        assert each.connected or each == Controller()


@given(MESSAGE)
def test_what_the_schema_allows_is_accepted(message):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(SCHEMA.read_text())
    try:
        text = json.dumps(message, allow_nan=False)
    except ValueError:
        return  # NaN is no JSON; the parser takes it for null all the same
    if jsonschema.Draft202012Validator(schema).is_valid(json.loads(text)):
        parse_frame(parse_object(text), AT)


def test_the_example_of_the_documentation_meets_the_schema():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(EXAMPLE, schema)


def test_flag_numbers_are_those_of_the_message():
    assert int(PoseFlags.ALL) == ALL


@pytest.mark.parametrize("ts_ms", [9.3e12, 2**53 - 1])
def test_clock_beyond_what_the_message_holds_is_unknown(ts_ms):
    assert parse_frame({"ts_ms": ts_ms}, AT).frame.device_clock_ns == 0


def test_clock_is_kept_to_the_nanosecond():
    assert parse_frame({"ts_ms": 1786134696657}, AT).frame.device_clock_ns == 1786134696657_000_000
