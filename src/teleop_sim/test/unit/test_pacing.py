"""Pacing: real time where possible, bounded work where not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_sim.pacing import Pacer


def test_regular_calls_give_every_step_once():
    pacer = Pacer(0.002)
    assert sum(pacer.due(10.0 + k * 0.005) for k in range(2001)) == 5000
    assert pacer.dropped == 0.0
    assert pacer.real_time_factor == pytest.approx(1.0, abs=0.01)


def test_long_stall_is_dropped_and_counted():
    pacer = Pacer(0.002, max_behind=0.05)
    pacer.due(0.0)
    assert pacer.due(1.0) == 25
    assert pacer.dropped == pytest.approx(0.95)
    assert pacer.due(1.002) == 1


def test_machine_of_half_speed_never_spirals_and_says_its_factor():
    pacer, now, steps = Pacer(0.002, max_behind=0.05), 0.0, 0
    while now < 10.0:
        count = pacer.due(now)
        steps += count
        assert count <= 25
        now += max(0.005, count * 0.004)
    assert pacer.real_time_factor == pytest.approx(0.5, abs=0.05)
    assert steps * 0.002 + pacer.dropped == pytest.approx(10.0, abs=0.15)


def test_restart_forgets_the_pause():
    pacer = Pacer(0.002)
    pacer.due(0.0)
    pacer.restart(60.0)
    assert pacer.due(60.004) == 2
    assert pacer.dropped == 0.0


@given(st.lists(st.floats(-0.01, 0.3), max_size=100))
def test_steps_and_dropped_time_account_for_all_time(gaps):
    pacer, now, start = Pacer(0.002, max_behind=0.05), 5.0, 5.0
    steps = pacer.due(now)
    for gap in gaps:
        now += max(gap, 0.0)
        steps += pacer.due(now)
    assert steps * 0.002 + pacer.dropped == pytest.approx(now - start, abs=0.0021)
