import math

import pytest

from teleop_hw_so101.health import HealthRules, JointHealth, Settling, Trend, warnings


def test_droop_and_backlash_come_from_where_a_joint_rests_after_either_way():
    settling = Settling()
    now = 0.0
    for goal, rest in ((1000, 0), (1100, -20), (1000, -8), (1100, -20), (1000, -8)):
        for k in range(100):
            now += 0.01
            moving = k < 20
            settling.take(goal, goal + (50 if moving else rest), 300 if moving else 0, now)
    assert settling.up == pytest.approx(-20)
    assert settling.down == pytest.approx(-8)
    assert settling.droop == pytest.approx(-14)
    assert settling.backlash == pytest.approx(12)


def test_joint_that_never_rests_or_was_limp_has_no_droop():
    settling = Settling()
    for k in range(300):
        settling.take(1000 + k, 900, 500, k * 0.01)
    settling.forget()
    for k in range(300, 600):
        settling.take(2000, 1000, 0, k * 0.01)
    assert math.isnan(settling.droop)


@pytest.mark.parametrize("slope", [0.1, 0.5])
def test_temperature_is_forecast_along_its_slope(slope):
    joint = JointHealth()
    told = None
    for k in range(600):
        celsius = 38.0 + slope * k
        if celsius >= 70.0:
            break
        joint.temperature.take(math.floor(celsius), float(k))  # the servo gives whole degrees
        if told is None and warnings(joint, HealthRules()):
            told = celsius
    # two minutes before, or as soon as there is a slope
    assert told is not None
    assert told <= max(38.0 + slope * 22.0, 70.0 - slope * 90.0)
    assert joint.temperature.slope == pytest.approx(slope, rel=0.1)


def test_steady_or_cooling_joint_reaches_no_limit():
    trend = Trend()
    for k in range(100):
        trend.take(60.0 - 0.05 * k, float(k))
    assert trend.reaches(70.0) == math.inf
    assert trend.reaches(40.0) == 0.0


def test_dip_of_the_supply_is_told_for_a_minute():
    joint = JointHealth()
    joint.voltage.take(5.2, 0.0)
    for k in range(1, 70):
        joint.voltage.take(12.0, float(k))
        assert bool(warnings(joint, HealthRules())) == (k <= 60)
    assert joint.voltage.least == 12.0
