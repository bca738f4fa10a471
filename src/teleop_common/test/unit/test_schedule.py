import pytest

from teleop_common.schedule import Rate, Schedule


def test_schedule_keeps_its_rate_between_unaligned_ticks():
    schedule = Schedule(60.0)
    assert sum(schedule.due(k * 0.005) for k in range(2000)) == pytest.approx(600, abs=1)


def test_schedule_makes_no_burst_after_a_stall():
    schedule = Schedule(100.0)
    assert schedule.due(0.0)
    assert schedule.due(5.0)
    assert not schedule.due(5.001)


def test_schedule_of_the_ticks_own_rate_loses_no_turn_to_jitter():
    schedule = Schedule(100.0, tolerance=0.005)
    jitter = [0.0, 0.004, -0.004, 0.001, -0.002]
    assert all(schedule.due(1.0 + k * 0.01 + jitter[k % 5]) for k in range(500))
    half = Schedule(50.0, tolerance=0.005)
    assert sum(half.due(1.0 + k * 0.01 + jitter[k % 5]) for k in range(500)) == 250


def test_rate_is_that_of_the_last_full_second():
    rate = Rate()
    for k in range(201):
        rate.update(k, k * 0.02)
    assert rate.hz == pytest.approx(50.0, rel=0.02)
    assert rate.update(200, 7.0) == 0.0
