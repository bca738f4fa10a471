"""The waiting time of frames, against queues, clocks that drift, jump, stand still."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common.enums import PoseFlags
from teleop_common.records import Controller, Pose, TeleopFrame, TrackedPose
from teleop_web import waiting
from teleop_web.waiting import LATE, Waiting, disarmed

PERIOD = 1 / 90


def stream(count, start=0.0, delay=lambda t: 0.0, clock=lambda t: t - 500.0):
    """Yield (arrival, device clock) of frames taken at 90 Hz; a queue never overtakes."""
    last = 0.0
    for i in range(count):
        taken = start + i * PERIOD
        last = max(last, taken + 0.004 + delay(taken))
        yield last, clock(taken)


def test_steady_way_however_long_is_no_waiting():
    estimate = Waiting()
    assert max(estimate.frame(*sample) for sample in stream(900, delay=lambda t: 0.3)) < 1e-9


@given(st.lists(st.floats(0.0, 0.1), min_size=20, max_size=100))
def test_estimate_is_the_waiting_above_the_least_so_far(delays):
    estimate, seen = Waiting(), []
    for i, delay in enumerate(delays):
        arrival = i * 0.2 + delay  # far enough apart that none overtakes
        got = estimate.frame(arrival, i * 0.2 - 77.0)
        seen.append(delay)
        assert got >= 0.0
        # a base that follows drifting clocks is off by what a clock may have lost since
        assert got == pytest.approx(delay - min(seen), abs=waiting.DRIFT * (arrival + 0.1))


def test_frames_that_come_in_a_burst_after_a_stall_are_late_until_the_queue_is_empty():
    estimate = Waiting()
    stalled = [*stream(300, delay=lambda t: max(0.0, 2.0 - t) if 1.0 <= t < 2.0 else 0.0)]
    late = [device + 500.0 for arrival, device in stalled if estimate.frame(arrival, device) > LATE]
    assert late[0] == pytest.approx(1.0, abs=PERIOD)
    assert late[-1] == pytest.approx(2.0 - LATE, abs=1.5 * PERIOD)


@pytest.mark.parametrize("rate", [1 - 500e-6, 1 + 500e-6])
def test_clock_that_drifts_for_an_hour_makes_no_frame_late(rate):
    estimate = Waiting()
    delays = [estimate.frame(float(t), t * rate) for t in range(3600)]
    assert max(delays) < 0.01


def test_queue_that_grows_is_late_for_as_long_as_it_grows():
    estimate = Waiting()
    [estimate.frame(*s) for s in stream(90)]
    growing = [estimate.frame(*s) for s in stream(5400, start=1.0, delay=lambda t: 0.25 + 0.1 * (t - 1.0))]
    assert min(growing) > LATE


@pytest.mark.parametrize("step", [-3.0, 3.0])
def test_clock_that_is_set_makes_no_frame_late(step):
    estimate = Waiting()
    for sample in stream(900, clock=lambda t: t + (step if t > 5.0 else 0.0)):
        estimate.frame(*sample)
        assert not estimate.late


def test_clock_that_stood_still_while_the_device_slept_is_believed_after_a_while():
    estimate = Waiting()
    [estimate.frame(*s) for s in stream(90)]
    awake = [*stream(3000, start=6.0, clock=lambda t: t - 505.0)]
    late = [arrival for arrival, device in awake if estimate.frame(arrival, device) > LATE]
    assert late[0] < 6.01
    assert late[-1] - late[0] <= waiting.PATIENCE
    assert not estimate.late


def test_clock_that_does_not_run_says_nothing():
    estimate = Waiting()
    assert max(estimate.frame(i * PERIOD, 1786134696.657) for i in range(1000)) == 0.0


def test_coarse_clock_still_tells_a_stall():
    estimate = Waiting()
    coarse = [*stream(300, delay=lambda t: max(0.0, 2.0 - t) if t >= 1.0 else 0.0, clock=lambda t: round(t * 60) / 60)]
    assert any(estimate.frame(*s) > LATE for s in coarse)


def test_late_frame_keeps_releases_and_buttons_and_tracks_nothing():
    pose = TrackedPose(Pose((0.1, 1.2, -0.3)), int(PoseFlags.ALL))
    hand = Controller(True, pose, pose, 0.7, 0.0, secondary=True)
    frame = disarmed(TeleopFrame(head=pose, left=hand, right=hand._replace(squeeze=1.0)))
    assert frame.left == hand._replace(grip=frame.left.grip, aim=frame.left.aim)
    assert frame.right.squeeze == 1.0
    for late in (frame.head, frame.left.grip, frame.left.aim, frame.right.grip, frame.right.aim):
        assert late.flags == int(PoseFlags.POSITION_VALID | PoseFlags.ORIENTATION_VALID)
        assert late.pose == pose.pose


def test_pose_that_was_unknown_stays_unknown():
    assert disarmed(TeleopFrame()) == TeleopFrame()
