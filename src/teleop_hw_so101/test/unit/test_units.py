"""Ticks, radians, degrees and percent: each way and back."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common import limits
from teleop_common.errors import ConfigError
from teleop_hw_so101 import units
from teleop_hw_so101.calibration import ArmCalibration, JointCalibration

ROBOT = limits.load(Path(__file__).resolve().parents[4] / "config/limits/so101.yaml")
NUMBERS = st.floats(-7.0, 7.0)
JOINTS = st.builds(
    JointCalibration,
    name=st.just("elbow_flex"),
    id=st.just(3),
    drive_mode=st.integers(0, 1),
    homing_offset=st.integers(-2047, 2047),
    range_min=st.integers(0, 2000),
    range_max=st.integers(2100, 4095),
    sign=st.sampled_from([-1, 1]),
    zero_offset=st.floats(-0.5, 0.5),
)
MODES = st.sampled_from(["degrees", "range_m100_100", "range_0_100"])


def arm(low=1000, high=3094, **gripper):
    names = ROBOT.names[:-1]
    joints = [JointCalibration(name, i, 0, 0, low, high) for i, name in enumerate(names, 1)]
    return ArmCalibration((*joints, replace(JointCalibration("gripper", 6, 0, 0, 1500, 2900), **gripper)))


@given(JOINTS, NUMBERS)
def test_radians_survive_ticks_and_goals_stay_within_half_a_tick_or_the_range(joint, radians):
    scale = units.joint_scale(joint)
    assert scale.radians(scale.ticks(radians)) == pytest.approx(radians, abs=1e-12)
    goal = scale.goal(radians)
    assert joint.range_min <= goal <= joint.range_max
    if joint.range_min <= scale.ticks(radians) <= joint.range_max:
        assert abs(scale.radians(goal) - radians) <= units.RADIANS_PER_TICK / 2 + 1e-12


@given(JOINTS, st.integers(0, 4095))
def test_a_goal_at_what_was_measured_is_the_very_tick(joint, ticks):
    for scale in (units.joint_scale(joint), units.gripper_scale(joint, -0.17, 1.75)):
        inside = min(max(ticks, joint.range_min), joint.range_max)
        assert scale.goal(scale.radians(inside)) == inside


@given(JOINTS, MODES, st.integers(0, 4095))
def test_lerobots_values_come_back_as_the_ticks_they_were(joint, mode, ticks):
    value = units.lerobot_value(ticks, joint, mode)
    expected = ticks if mode == "degrees" else min(max(ticks, joint.range_min), joint.range_max)
    assert units.lerobot_ticks(value, joint, mode) == pytest.approx(expected, abs=1e-9)


def test_lerobots_degrees_are_counted_from_mid_range_with_4095_ticks_a_turn():
    joint = JointCalibration("shoulder_pan", 1, 1, 1550, 813, 3337)
    assert units.lerobot_value(2075, joint, "degrees") == 0.0
    assert units.lerobot_value(3337, joint, "degrees") == pytest.approx(1262 * 360 / 4095)
    assert units.lerobot_value(813, joint, "range_m100_100") == 100.0  # drive_mode mirrors this one, not the degrees
    assert units.lerobot_value(0, joint, "range_0_100") == 100.0


@given(JOINTS, st.floats(-1.9, 1.8), st.floats(0.01, 2.0))
def test_no_tick_of_an_interval_lies_outside_the_limits_or_the_mechanical_range(joint, lower, width):
    scale = units.joint_scale(joint)
    try:
        least, most = scale.interval(lower, lower + width)
    except ConfigError:
        return
    assert joint.range_min <= least <= most <= joint.range_max
    for tick in (least, most):
        assert lower - 1e-9 <= scale.radians(tick) <= lower + width + 1e-9


def test_limits_beyond_every_tick_are_refused():
    with pytest.raises(ConfigError, match="calibrate"):
        units.joint_scale(JointCalibration("elbow_flex", 3, 0, 0, 2000, 2100)).interval(1.0, 1.5)


@pytest.mark.parametrize(("mode", "closed_tick", "open_tick"), [(0, 1500, 2900), (1, 2900, 1500)])
def test_gripper_goes_by_percentage_of_its_own_sweep(mode, closed_tick, open_tick):
    scale = units.arm_scales(arm(drive_mode=mode), ROBOT)[-1]
    assert scale.radians(closed_tick) == pytest.approx(ROBOT.gripper.closed)
    assert scale.radians(open_tick) == pytest.approx(ROBOT.gripper.open)
    assert scale.radians(2200) == pytest.approx((ROBOT.gripper.closed + ROBOT.gripper.open) / 2)


def test_middle_of_the_range_is_the_models_zero_plus_the_units_offset():
    calibration = arm()
    joints = tuple(replace(j, zero_offset=0.1, sign=-1) if j.name == "wrist_flex" else j for j in calibration.joints)
    scales = units.arm_scales(replace(calibration, joints=joints), ROBOT)
    assert [s.radians(2047) for s in scales[:5]] == pytest.approx([0, 0, 0, 0.1, 0])
    assert scales[3].radians(2047 + 1024) == pytest.approx(0.1 - math.pi / 2)
    assert scales[3].speed(1024) == pytest.approx(-math.pi / 2)


@given(st.lists(st.floats(-1.6, 1.6), min_size=6, max_size=6), st.booleans())
def test_lerobots_state_of_an_arm_comes_back_as_the_angles_it_was(positions, with_unit):
    calibration = arm() if with_unit else None
    if calibration:
        joints = tuple(replace(j, zero_offset=0.05 * j.id, sign=(-1) ** j.id) for j in calibration.joints)
        calibration = replace(calibration, joints=joints)
    values = units.lerobot_from_radians(positions, ROBOT, calibration)
    assert units.radians_from_lerobot(values, ROBOT, calibration) == pytest.approx(positions, abs=1e-12)


@given(st.lists(st.integers(1000, 3094), min_size=5, max_size=5), st.integers(1500, 2900))
def test_lerobots_state_is_the_same_through_ticks_and_through_radians(ticks, gripper):
    joints = tuple(replace(j, zero_offset=0.03, sign=1) if j.id < 6 else j for j in arm().joints)
    calibration = ArmCalibration(joints)
    everything = [*ticks, gripper]
    through = [s.radians(t) for s, t in zip(units.arm_scales(calibration, ROBOT), everything)]
    direct = [units.lerobot_value(t, j, "range_0_100" if j.name == "gripper" else "degrees") for t, j in zip(everything, joints)]
    assert units.lerobot_from_radians(through, ROBOT, calibration) == pytest.approx(direct, abs=1e-9)


def test_calibration_without_a_joint_of_the_robot_is_refused():
    with pytest.raises(ConfigError, match="gripper"):
        units.arm_scales(ArmCalibration(arm().joints[:-1]), ROBOT)


def test_a_thousand_poses_through_ticks_are_within_a_millimetre_and_half_a_degree():
    np, pin = pytest.importorskip("numpy"), pytest.importorskip("pinocchio")
    model = pytest.importorskip("teleop_description.models").arm_models(ROBOT)[0]
    data, tip = model.createData(), model.getFrameId(ROBOT.tip_link)
    scales = units.arm_scales(arm(low=60, high=4035), ROBOT)
    generator = np.random.default_rng(1)

    def place(joints):
        pin.framesForwardKinematics(model, data, np.asarray(joints))
        return data.oMf[tip].copy()

    for _ in range(1000):
        joints = [generator.uniform(joint.lower, joint.upper) for joint in ROBOT.all_joints]
        meant = place(joints)
        stands = place([scale.radians(scale.goal(q)) for scale, q in zip(scales, joints)])
        assert np.linalg.norm(meant.translation - stands.translation) < 1e-3
        assert np.degrees(np.linalg.norm(pin.log3(meant.rotation.T @ stands.rotation))) < 0.5
