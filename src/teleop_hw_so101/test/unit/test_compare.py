"""A calibration beside the model."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from teleop_common import limits
from teleop_common.errors import ConfigError
from teleop_hw_so101 import calibration, compare
from teleop_hw_so101.calibration import ArmCalibration, JointCalibration
from teleop_hw_so101.units import joint_scale

ROOT = Path(__file__).resolve().parents[4]
ROBOT = limits.load(ROOT / "config/limits/so101.yaml")
REAL = sorted(path for folder in ROOT.parent.glob("*/data/real/so101_calibration") for path in folder.glob("*_follower.json"))
SPANS = {"shoulder_pan": 2500, "shoulder_lift": 2300, "elbow_flex": 2200, "wrist_flex": 2150, "wrist_roll": 3850, "gripper": 1480}


def arm(**spans):
    joints = []
    for i, (name, span) in enumerate((SPANS | spans).items(), 1):
        low = 2047 - span // 2
        joints.append(JointCalibration(name, i, 0, 0, max(low, 0), min(low + span, 4095)))
    return ArmCalibration(tuple(joints))


def levels(made):
    return {f.joint: f.level for f in compare.with_model(made, ROBOT)}


@pytest.mark.skipif(not REAL, reason="no recorded calibration files beside the repository")
@pytest.mark.parametrize("path", [p for p in REAL if "old" not in p.name], ids=lambda p: p.stem)
def test_real_arm_is_good(path):
    assert set(levels(calibration.load(path)).values()) == {"good"}


def test_ordinary_ranges_are_good_and_lerobots_endless_roll_too():
    assert set(levels(arm()).values()) == {"good"}
    assert levels(arm(wrist_roll=4096))["wrist_roll"] == "good"


@pytest.mark.parametrize(
    ("joint", "span", "level"),
    [("elbow_flex", 1900, "doubtful"), ("elbow_flex", 900, "wrong"), ("elbow_flex", 4095, "wrong"), ("gripper", 2200, "wrong")],
)
def test_range_that_is_not_an_so101s_is_told(joint, span, level):
    found = {f.joint: f for f in compare.with_model(arm(**{joint: span}), ROBOT)}
    assert found[joint].level == level
    assert found[joint].text
    assert found[joint].span_deg == pytest.approx(span * 360 / 4096)


def test_limits_that_lie_beyond_a_stop_are_told():
    made = arm()
    shifted = replace(made, joints=tuple(replace(j, zero_offset=0.35) if j.name == "elbow_flex" else j for j in made.joints))
    assert levels(shifted)["elbow_flex"] == "doubtful"


def test_pose_of_the_model_gives_the_zero_offsets():
    made = arm()
    readings = {j.name: 2047 for j in made.joints} | {"elbow_flex": 2047 - 80}
    zeroed = compare.zeroed(made, readings, dict.fromkeys(ROBOT.names[:5], 0.0))
    assert zeroed.joint("elbow_flex").zero_offset == pytest.approx(math.radians(80 * 360 / 4096), abs=0.001)
    assert zeroed.joint("gripper").zero_offset == 0.0
    again = compare.zeroed(zeroed, readings, dict.fromkeys(ROBOT.names[:5], 0.0))
    assert again == zeroed


def test_pose_that_is_far_off_is_refused():
    readings = {j.name: 2047 for j in arm().joints} | {"elbow_flex": 1500}
    with pytest.raises(ConfigError, match="elbow_flex"):
        compare.zeroed(arm(), readings, {"elbow_flex": 0.0})


def test_new_sweep_of_the_same_servos_keeps_the_zero_where_it_is():
    before = arm()
    before = replace(before, joints=tuple(replace(j, zero_offset=0.05, sign=1) for j in before.joints))
    # this time the upper stop was reached 40 ticks further, so that the middle lies 20 ticks up and reads 2047 again
    wider = [replace(j, homing_offset=20, range_min=j.range_min - 20, range_max=j.range_max + 20) for j in arm().joints]
    after = compare.carried(replace(before, joints=tuple(wider)), before, ROBOT)
    for old, new in zip(before.joints[:5], after.joints[:5]):
        encoder = 1800
        was = joint_scale(old).radians(encoder - old.homing_offset)
        assert joint_scale(new).radians(encoder - new.homing_offset) == pytest.approx(was, abs=1e-5)


def test_zero_is_carried_across_the_seam_of_the_offsets_and_dropped_when_absurd():
    before = arm()
    before = replace(before, joints=tuple(replace(j, homing_offset=2040) for j in before.joints))
    across = replace(before, joints=tuple(replace(j, homing_offset=-2040) for j in before.joints))
    assert compare.carried(across, before, ROBOT).joint("elbow_flex").zero_offset == pytest.approx(16 * math.tau / 4096, abs=1e-5)
    far = replace(before, joints=tuple(replace(j, homing_offset=1000) for j in before.joints))
    assert compare.carried(far, before, ROBOT).joint("elbow_flex").zero_offset == 0.0
