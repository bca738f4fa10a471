"""Which joint a hand moved and which way; what one servo does at low torque."""

from pathlib import Path

import pytest

from teleop_common import limits
from teleop_hw_so101 import wiggle
from teleop_hw_so101.calibration import JointCalibration
from teleop_hw_so101.sweep import Track

ROBOT = limits.load(Path(__file__).resolve().parents[4] / "config/limits/so101.yaml")


def moved(*readings):
    move = wiggle.HandMove()
    for values in readings:
        if found := move.feed(dict(zip(ROBOT.names, values))):
            return found
    return None


def line(joint, to, start=2000, others=0):
    index = ROBOT.names.index(joint)
    steps = range(0, abs(to) + 1, 40)
    way = 1 if to > 0 else -1
    return [[(start + way * s) % 4096 if i == index else 1500 + others * s // 100 for i in range(6)] for s in steps]


@pytest.mark.parametrize("way", [200, -200])
def test_joint_moved_by_hand_is_named_with_its_direction(way):
    found = moved(*line("elbow_flex", way))
    assert found.joint == "elbow_flex"
    assert found.clear
    assert wiggle.sign_of(found, "elbow_flex") == ((1 if way > 0 else -1), "")


def test_direction_is_right_across_the_seam():
    assert moved(*line("wrist_roll", 200, start=4030)).ticks > 0
    assert moved(*line("wrist_roll", -200, start=60)).ticks < 0


def test_trembling_is_no_move():
    assert moved(*([2000 + i % 3 * 20] * 6 for i in range(50))) is None


def test_another_joint_than_asked_gives_no_sign():
    sign, why = wiggle.sign_of(moved(*line("wrist_flex", 200)), "elbow_flex")
    assert sign == 0
    assert "wrist_flex" in why
    assert "elbow_flex" in why


def test_whole_arm_moving_gives_no_sign():
    found = moved(*line("elbow_flex", 200, others=80))
    assert wiggle.sign_of(found, "elbow_flex")[0] == 0


def test_lost_readings_do_not_end_a_move():
    rows = [[None if i == 2 and n % 2 else v for i, v in enumerate(row)] for n, row in enumerate(line("elbow_flex", 300))]
    assert moved(*rows).joint == "elbow_flex"


def test_wiggle_begins_and_ends_where_it_stood_and_stays_in_the_range():
    joint = JointCalibration("wrist_roll", 5, 0, 0, 100, 2010)
    way = [wiggle.goal(joint, 2000, t / 100) for t in range(int(100 * wiggle.PERIOD * wiggle.CYCLES) + 50)]
    assert way[0] == way[-1] == 2000
    assert max(way) == 2010
    assert min(way) == 2000 - wiggle.AMPLITUDE
    assert wiggle.done(wiggle.PERIOD * wiggle.CYCLES)
    assert not wiggle.done(0.0)


@pytest.mark.parametrize(("reach", "good"), [(50, True), (5, False)])
def test_servo_that_does_not_follow_its_wiggle_is_noticed(reach, good):
    track = Track(0)
    for reading in (2000, 2000 + reach, 2000 - reach, 2000):
        track.feed(reading)
    assert wiggle.followed(track) is good


def test_words_for_upwards_are_true_of_the_model():
    pin = pytest.importorskip("pinocchio")
    models = pytest.importorskip("teleop_description.models")
    import numpy as np

    model = models.arm_models(ROBOT)[0]
    data = model.createData()
    tip = model.getFrameId(ROBOT.tip_link)

    def place(name=None, angle=0.0):
        q = pin.neutral(model)
        if name:
            q[model.joints[model.getJointId(name)].idx_q] = angle
        pin.framesForwardKinematics(model, data, q)
        return data.oMf[tip].copy()

    zero = place()
    assert place("shoulder_pan", 0.3).translation[1] < -0.05  # x is where the arm reaches, y its left
    for name in ("shoulder_lift", "elbow_flex", "wrist_flex"):
        assert place(name, 0.3).translation[2] < zero.translation[2] - 0.01, name
    assert place("shoulder_lift", 0.3).translation[0] > zero.translation[0]
    # looking along the reach, y is left and z is up: anticlockwise turns left to down, up to left
    before, after = zero.rotation, place("wrist_roll", 0.3).rotation
    turned = after @ before.T
    assert (turned @ np.array([0.0, 0.0, 1.0]))[1] > 0.2
    assert set(wiggle.UPWARDS) == set(ROBOT.names)
