"""Location bits to flags, broken poses and values, bindings, and the environment file."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common.enums import PoseFlags, StatusReason
from teleop_common.records import Controller, TrackedPose
from teleop_input.openxr import bindings, environment, frames
from teleop_input.openxr.runtime import HandSample, Location, LocationBits, RuntimeFailure

NAN, INF = math.nan, math.inf
P, Q = (0.1, 1.2, -0.3), (0.0, 0.6, 0.0, 0.8)
B, F = LocationBits, PoseFlags
anything = st.floats(allow_nan=True, allow_infinity=True)


@pytest.mark.parametrize(
    ("bits", "flags"),
    [
        (B.ORIENTATION_VALID, F.ORIENTATION_VALID),
        (B.POSITION_VALID, F.POSITION_VALID),
        (B.ORIENTATION_VALID | B.ORIENTATION_TRACKED, F.ORIENTATION_VALID | F.ORIENTATION_TRACKED),
        (B.POSITION_VALID | B.POSITION_TRACKED, F.POSITION_VALID | F.POSITION_TRACKED),
        (B.ALL & ~B.POSITION_TRACKED, F.ALL & ~F.POSITION_TRACKED),
        (B.ORIENTATION_VALID | B.POSITION_VALID, F.ORIENTATION_VALID | F.POSITION_VALID),
        (B.ALL, F.ALL),
        (0, 0),
    ],
)
def test_location_bits_become_the_flags_of_the_same_meaning(bits, flags):
    assert frames.tracked_pose(Location(P, Q, bits)).flags == flags


@pytest.mark.parametrize(
    ("position", "orientation"),
    [
        (P, (0.0, 0.0, 0.0, 0.0)),
        (P, (NAN, 0.0, 0.0, 1.0)),
        (P, (0.0, INF, 0.0, 1.0)),
        (P, (0.0, 0.0, 0.0, 0.5)),
        ((NAN, 1.0, 0.0), Q),
        ((0.0, -INF, 0.0), Q),
        ((0.0, 0.0, 0.0), Q),
        ((0.0, 101.0, 0.0), Q),
    ],
)
def test_pose_that_cannot_be_true_has_no_flags_whatever_the_runtime_says(position, orientation):
    assert frames.tracked_pose(Location(position, orientation, B.ALL)) == TrackedPose()


def test_part_that_is_not_valid_is_not_passed_on():
    pose = frames.tracked_pose(Location((NAN, 9.0, 9.0), Q, B.ORIENTATION_VALID | B.ORIENTATION_TRACKED)).pose
    assert pose.position == (0.0, 0.0, 0.0)
    assert pose.orientation == pytest.approx(Q)


@given(st.tuples(*[anything] * 3), st.tuples(*[anything] * 4), st.integers(0, 15), st.tuples(*[anything] * 4))
def test_any_numbers_give_finite_values_within_range(position, orientation, bits, values):
    seen = Location(position, orientation, bits)
    hand = frames.controller(HandSample(True, seen, seen, values[0], values[1], values[2:]))
    assert all(map(math.isfinite, (*hand.grip.pose.position, *hand.grip.pose.orientation)))
    assert math.hypot(*hand.grip.pose.orientation) == pytest.approx(1.0)
    assert 0.0 <= hand.trigger <= 1.0
    assert 0.0 <= hand.squeeze <= 1.0
    assert -1.0 <= hand.thumbstick_x <= 1.0
    assert -1.0 <= hand.thumbstick_y <= 1.0


def test_hand_without_a_device_is_the_zero_controller():
    seen = Location(P, Q, B.ALL)
    assert frames.controller(HandSample(False, seen, seen, 1.0, 1.0, (1.0, 1.0), True, True, True, True)) == Controller()


def test_every_profile_binds_known_actions_and_both_poses_of_both_hands():
    assert len({profile.path for profile in bindings.PROFILES}) == len(bindings.PROFILES)
    for profile in bindings.PROFILES:
        rows = profile.rows()
        assert {action for action, _ in rows} <= set(bindings.ACTIONS)
        for hand in ("left", "right"):
            bound = {action for action, path in rows if path.startswith(f"/user/hand/{hand}/")}
            assert {"grip", "aim", "trigger"} <= bound, profile.path


def test_environment_file_is_read_like_a_shell_would():
    text = "# made by the runtime\nexport XR_RUNTIME_JSON='/opt/a b/runtime.json'\nEMPTY=\nNV_CXR=\"1\" # on\n\n"
    assert environment.parse(text, "f") == {"XR_RUNTIME_JSON": "/opt/a b/runtime.json", "EMPTY": "", "NV_CXR": "1"}


@pytest.mark.parametrize("line", ["rm -rf /", "1A=2", "A = 2", "A='", "=3"])
def test_line_that_is_no_assignment_is_refused_with_its_number(line):
    with pytest.raises(RuntimeFailure, match="line 2") as raised:
        environment.parse(f"A=1\n{line}\n", "f")
    assert raised.value.reason == StatusReason.STARTUP_FAILED


def test_environment_file_that_is_not_there_yet_is_waited_for(tmp_path):
    with pytest.raises(RuntimeFailure, match="start the runtime") as raised:
        environment.read(str(tmp_path / "none.env"))
    assert raised.value.reason == StatusReason.PROVIDER_INITIALIZING
