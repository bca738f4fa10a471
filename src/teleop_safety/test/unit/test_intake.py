import contextlib
import math

import pytest
from guard_world import HOME, ROBOT, hand, pose
from hypothesis import given
from hypothesis import strategies as st

from teleop_common.records import Controller, DriverState, Header, JointState, JointTarget, Pose, SessionState, TrackedPose
from teleop_safety import intake
from teleop_safety.intake import Refused

NAMES = ROBOT.arm_names("left")


@pytest.mark.parametrize("off", [0.0, 0.2, -0.2, 0.1999])
def test_stamp_within_the_bound_passes(off):
    intake.check_stamp(10_000_000_000 - round(off * 1e9), 10_000_000_000, 200_000_000)


@pytest.mark.parametrize("off", [0.2001, -0.2001, 3600.0, -3600.0])
def test_stamp_off_by_more_is_refused_with_its_age(off):
    with pytest.raises(Refused, match="allowed within 0.2 s"):
        intake.check_stamp(10_000_000_000_000 - round(off * 1e9), 10_000_000_000_000, 200_000_000)


def test_joints_in_another_order_are_put_in_ours():
    assert intake.ordered("x", NAMES[::-1], HOME[::-1], NAMES) == HOME


@pytest.mark.parametrize(
    ("names", "values"),
    [
        (NAMES[:-1], HOME[:-1]),
        ((*NAMES[:-1], "left_elbow"), HOME),
        ((NAMES[0], *NAMES[:-1]), HOME),
        (NAMES, HOME[:-1]),
        ((), ()),
        (NAMES, (*HOME[:-1], math.nan)),
        (NAMES, (math.inf, *HOME[1:])),
        (NAMES, (1.7e308, *HOME[1:])),
        (NAMES, (*HOME[:-1], -1e4)),
        (tuple(n.replace("left", "right") for n in NAMES), HOME),
    ],
)
def test_other_joints_and_bad_numbers_are_refused(names, values):
    with pytest.raises(Refused):
        intake.ordered("x", names, values, NAMES)


@pytest.mark.parametrize(
    "tracked",
    [
        TrackedPose(Pose(), 7),
        TrackedPose(Pose(), 0),
        TrackedPose(Pose((0, 0, 0), (0, 0, 0, 0)), 15),
        TrackedPose(Pose((0, 0, 0), (0, 0, 0, 1.3)), 15),
        TrackedPose(Pose((0, 0, 0), (math.nan, 0, 0, 1)), 15),
        TrackedPose(Pose((math.nan, 0, 0)), 15),
        TrackedPose(Pose((0, math.inf, 0)), 15),
    ],
)
def test_pose_with_less_than_all_flags_or_bad_numbers_is_untracked(tracked):
    assert not intake.is_tracked(tracked)


def test_whole_pose_is_tracked():
    assert intake.is_tracked(pose())


@pytest.mark.parametrize("squeeze", [math.nan, -0.1, 1.1, math.inf])
def test_controller_with_a_squeeze_that_means_nothing_is_not_there(squeeze):
    assert not intake.is_present(hand()._replace(squeeze=squeeze))


def test_disconnected_controller_is_not_there_though_its_squeeze_is_zero():
    assert not intake.is_present(Controller())


def target(**changes):
    return JointTarget("left", "operator", 1, (0,) * 6, NAMES, HOME)._replace(**changes)


def test_target_of_another_owner_is_refused():
    with pytest.raises(Refused, match="policy"):
        intake.check_target(target(owner="policy"), NAMES, "operator")


def test_reasons_follow_their_joints_into_our_order():
    position, reasons = intake.check_target(
        target(name=NAMES[::-1], position=HOME[::-1], reason=(1, 2, 3, 4, 5, 6)), NAMES, "operator"
    )
    assert position == HOME
    assert reasons == (6, 5, 4, 3, 2, 1)


def test_reasons_of_another_length_count_as_none():
    assert intake.check_target(target(reason=(1,)), NAMES, "operator")[1] == (0,) * 6


def test_joint_state_not_newer_than_the_last_is_refused():
    sample = JointState(Header(100), NAMES, HOME)
    assert intake.check_joints(sample, 99, NAMES) == HOME
    for newest in (100, 101):
        with pytest.raises(Refused):
            intake.check_joints(sample, newest, NAMES)


def test_driver_goal_counts_with_torque_on_only():
    unknown = (math.nan,) * 6
    assert intake.check_driver(DriverState(Header(), 1, NAMES, False, goal=unknown), NAMES) == ()
    with pytest.raises(Refused):
        intake.check_driver(DriverState(Header(), 1, NAMES, True, goal=unknown), NAMES)
    with pytest.raises(Refused):
        intake.check_driver(DriverState(Header(), 1, NAMES[:-1], False, goal=HOME[:-1]), NAMES)


@pytest.mark.parametrize(
    ("arm", "hands", "expected"),
    [
        (("left", "right"), ("left", "right"), {"left": "left", "right": "right"}),
        (("left", "right"), ("right", "left"), {"left": "right", "right": "left"}),
        (("left", "right"), ("right", "right"), {"left": "right"}),
        (("left", "left"), ("left", "right"), {"left": "left"}),
        (("middle",), ("left",), {}),
        (("left",), ("foot",), {}),
        (("left",), (), {}),
    ],
)
def test_one_hand_drives_one_arm(arm, hands, expected):
    assert intake.pairing(SessionState(arm=arm, hand=hands), ("left", "right")) == expected


@given(st.lists(st.text(max_size=5), max_size=8), st.lists(st.floats(), max_size=8))
def test_any_names_and_values_are_taken_or_refused_never_more(names, values):
    with contextlib.suppress(Refused):
        assert len(intake.ordered("x", tuple(names), tuple(values), NAMES)) == len(NAMES)
