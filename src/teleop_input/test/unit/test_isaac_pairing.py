"""Joining channels by time."""

import pytest

pytest.importorskip("flatbuffers")
pytest.importorskip("mcap")
from hypothesis import given
from hypothesis import strategies as st

from teleop_input.isaac.files import Timed
from teleop_input.isaac.pairing import pair
from teleop_input.isaac.wire import ControllerSnapshotRecord, DeviceDataTimestamp, HeadPoseRecord

FRAME = 10_000_000


def rows(channel, numbers, lag=0):
    """Records that carry the number of their moment as the device's time."""
    kind = HeadPoseRecord if channel == "head" else ControllerSnapshotRecord
    return [Timed(FRAME * (n + 1) + lag, kind(None, DeviceDataTimestamp(device=n))) for n in numbers]


def numbers(pairing):
    return [{c: timed.record.timestamp.device for c, timed in step.items()} for step in pairing.steps]


def test_side_that_dropped_records_does_not_shift_the_others():
    left = [n for n in range(100) if not 30 <= n < 40]
    got = pair({"left": rows("left", left), "right": rows("right", range(100)), "head": rows("head", range(100))})
    assert len(got.steps) == 100
    assert all(set(step.values()) == {n} for n, step in enumerate(numbers(got)))
    assert got.missing == {"left": list(range(30, 40)), "right": [], "head": []}
    assert "left: 90 records, 90 of them empty; 10 of 100 moments have none (number 30, 31, 32, ...)" in got.lines()[0]


@given(st.lists(st.tuples(*(st.booleans(),) * 3), min_size=8, max_size=40), st.tuples(*(st.integers(0, FRAME // 8),) * 3))
def test_any_drops_and_lags_below_half_a_frame_are_paired(kept, lags):
    kept = [(True, True, True)] * 40 + kept  # a recording that tells its rate
    channels = dict(zip(("left", "right", "head"), zip(*kept)))
    numbered = {c: [n for n, there in enumerate(flags) if there] for c, flags in channels.items()}
    got = pair({c: rows(c, numbered[c], lag) for c, lag in zip(channels, lags)})
    want = [{c: n for c in channels if n in numbered[c]} for n in range(len(kept))]
    assert numbers(got) == [step for step in want if step]


@given(
    st.dictionaries(
        st.sampled_from(["left", "right", "head"]), st.lists(st.integers(0, 2**62), min_size=1, max_size=30), min_size=1
    )
)
def test_whatever_the_times_each_record_is_used_once_and_in_order(times):
    records = {c: [Timed(t, rows(c, [n])[0].record) for n, t in enumerate(row)] for c, row in times.items()}
    got = pair(records)
    for channel, row in records.items():
        assert [step[channel] for step in got.steps if channel in step] == row
    assert all(got.steps)
    assert got.worst_ns <= got.tolerance_ns
    for channel, row in records.items():
        assert len(got.missing[channel]) == len(got.steps) - len(row)


def test_single_records_are_paired_within_half_a_usual_frame():
    assert len(pair({"left": rows("left", [0]), "head": rows("head", [0], 2_000_000)}).steps) == 1
    assert len(pair({"left": rows("left", [0]), "head": rows("head", [0], 6_000_000)}).steps) == 2


def test_record_belongs_to_the_nearer_of_two_close_ones():
    # the left one stuttered: 1 ms between two records; the right one lacks the first
    left = [Timed(t, r.record) for t, r in zip((10_000_000, 11_000_000, 21_000_000, 31_000_000), rows("left", range(4)))]
    right = [Timed(t, r.record) for t, r in zip((11_000_000, 21_000_000, 31_000_000), rows("right", range(1, 4)))]
    assert numbers(pair({"left": left, "right": right})) == [{"left": 0}, *({"left": n, "right": n} for n in (1, 2, 3))]
