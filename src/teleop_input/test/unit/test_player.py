"""Replay's core: pacing, seek, loop, end."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common.records import Header, TeleopFrame
from teleop_input.player import LEAD, STALL, Playback, Player, pace, renew

TIMES = tuple(i * 0.01 for i in range(101))


def player(times=TIMES, loop=False, connections=None):
    return Player(times, connections or (3,) * len(times), loop, connection=2**32 - 2)


def play(p, start, end, dt=0.001):
    """Return [(time of sending, number, connection)] of polling every ``dt``."""
    sent, steps = [], round((end - start) / dt)
    for i in range(steps + 1):
        now = start + i * dt
        sent += [(now, d.number, d.connection) for d in p.due(now)]
    return sent


def test_waiting_sends_nothing_until_started():
    p = player()
    assert play(p, 0.0, 5.0) == []
    p.start(5.0)
    assert p.due(5.0 + LEAD)[0].number == 0


def test_every_frame_is_sent_once_in_order_at_its_time():
    p = player()
    p.start(10.0)
    sent = play(p, 10.0, 12.0)
    assert [n for _, n, _ in sent] == list(range(101))
    for now, n, _ in sent:
        assert 0.0 <= now - (10.0 + LEAD + TIMES[n]) < 0.0011
    assert p.state == Playback.ENDED
    assert math.isinf(p.wait(20.0))


def test_start_of_a_playing_replay_changes_nothing():
    p = player()
    p.start(0.0)
    play(p, 0.0, 0.5)
    p.start(0.5)
    assert play(p, 0.5, 0.6)[0][1] in (48, 49)


def test_wait_is_the_time_to_the_next_frame():
    p = player()
    p.start(0.0)
    p.due(LEAD)
    assert p.wait(LEAD + 0.004) == pytest.approx(0.006)


def test_seek_goes_on_from_there_as_a_new_connection():
    p = player()
    p.start(0.0)
    play(p, 0.0, 0.2)
    before = p.connection
    assert p.seek(0.2, 0.905) == ""
    sent = play(p, 0.2, 1.0)
    assert [n for _, n, _ in sent] == list(range(91, 101))
    assert {c for _, _, c in sent} == {(before + 1) % 2**32}


def test_seek_plays_an_ended_replay_again():
    p = player()
    p.start(0.0)
    play(p, 0.0, 2.0)
    assert p.seek(5.0, 0.0) == ""
    assert len(play(p, 5.0, 7.0)) == 101


def test_seek_of_a_waiting_replay_keeps_waiting_there():
    p = player()
    p.seek(0.0, 0.5)
    assert play(p, 0.0, 1.0) == []
    p.start(1.0)
    assert p.due(1.0 + LEAD)[0].number == 50


@pytest.mark.parametrize("time", [-0.1, 1.01, math.nan, math.inf])
def test_seek_outside_the_recording_is_refused_with_the_range(time):
    p = player()
    assert "0 to 1.000 s" in p.seek(0.0, time)
    assert p.index == 0


def test_loop_begins_again_as_a_new_connection_without_a_pause():
    p = player(loop=True)
    p.start(0.0)
    sent = play(p, 0.0, 2.5)
    connections = [c for _, _, c in sent]
    assert [n for _, n, _ in sent[:202]] == [*range(101), *range(101)]
    assert connections[0] == connections[100]
    assert connections[101] == (connections[100] + 1) % 2**32
    assert sent[101][0] - sent[100][0] == pytest.approx(0.01, abs=0.0021)


def test_recorded_change_of_connection_is_one_in_the_replay():
    p = player(connections=(7,) * 50 + (8,) * 51)
    p.start(0.0)
    connections = [c for _, _, c in play(p, 0.0, 2.0)]
    assert connections == [2**32 - 2] * 50 + [2**32 - 1] * 51


def test_stalled_process_does_not_burst():
    p = player()
    p.start(0.0)
    play(p, 0.0, 0.2)
    assert len(p.due(0.2 + STALL + 0.3)) <= 2
    assert p.stalls == 1
    assert len(play(p, 0.6, 2.5)) > 75


def test_one_frame_recording_loops_without_spinning():
    p = player(times=(0.0,), loop=True)
    p.start(0.0)
    assert len(play(p, 0.0, 0.1)) <= 101


def test_stamps_become_times_that_never_run_back():
    assert pace((5_000_000_000, 5_010_000_000, 4_000_000_000, 4_020_000_000)) == pytest.approx((0.0, 0.01, 0.01, 0.03))


def test_renewed_frame_keeps_sequence_and_device_clocks():
    recorded = TeleopFrame(Header(1, "webxr_local_floor"), "webxr", 3, 4, 5, 6, 7, 8)
    got = renew(recorded, 9, 100, 200)
    assert got == TeleopFrame(Header(100, "webxr_local_floor"), "replay", 9, 4, 200, 6, 7, 8)


@given(
    st.lists(st.floats(0.0, 0.05), min_size=1, max_size=40),
    st.booleans(),
    st.lists(
        st.tuples(st.floats(0.0, 0.3), st.sampled_from(["poll", "seek", "start", "loop"]), st.floats(-0.5, 3.0)), max_size=60
    ),
)
def test_any_history_sends_frames_in_order_within_a_connection(gaps, loop, history):
    times = [0.0]
    for gap in gaps:
        times.append(times[-1] + gap)
    p, now, last = player(tuple(times), loop), 0.0, (-1, -1)
    for dt, kind, value in history:
        now += dt
        if kind == "seek":
            p.seek(now, value)
        elif kind == "start":
            p.start(now)
        elif kind == "loop":
            p.loop = value > 0.0
        for number, connection, _at in p.due(now):
            assert 0 <= number < len(times)
            if connection == last[0]:
                assert number == last[1] + 1
            last = (connection, number)
        assert p.wait(now) >= 0.0
        assert 0.0 <= p.time <= p.duration
