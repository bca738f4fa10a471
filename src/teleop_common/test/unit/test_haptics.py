"""What hands feel of the recorder."""

import pytest

from teleop_common.haptics import of_take
from teleop_common.records import RecorderState

READY, TAKING = RecorderState(), RecorderState(recording=True, frames=7)


@pytest.mark.parametrize(("before", "now", "duration"), [(READY, TAKING, 0.25), (TAKING, READY, 0.08)])
def test_start_of_a_take_is_a_long_pulse_in_both_hands_and_its_end_a_short_one(before, now, duration):
    pulses = of_take(before, now)
    assert [(p.hand, p.duration) for p in pulses] == [("left", duration), ("right", duration)]
    assert all(0.0 < p.amplitude <= 1.0 for p in pulses)


@pytest.mark.parametrize(("before", "now"), [(None, TAKING), (None, READY), (TAKING, TAKING._replace(frames=9)), (READY, READY)])
def test_nothing_is_felt_of_what_was_so_before_it_was_heard_of_or_goes_on(before, now):
    assert of_take(before, now) == ()
