import math

import pytest

pytest.importorskip("rclpy")

from hypothesis import given
from hypothesis import strategies as st
from tf2_ros.exceptions import ConnectivityException, ExtrapolationException, InvalidArgumentException, LookupException
from tf2_ros.graph import Sample, TransformGraph, compose, invert, rotate

NONE = (0.0, 0.0, 0.0, 1.0)
S = 1_000_000_000


def yaw(angle):
    return (0.0, 0.0, math.sin(angle / 2), math.cos(angle / 2))


def graph(*edges, static=()):
    made = TransformGraph()
    for parent, child, stamp, translation, rotation in edges:
        made.add(child, Sample(stamp, parent, translation, rotation), child in static)
    return made


def test_chain_is_composed_from_source_to_target():
    made = graph(("world", "base", S, (1, 0, 0), yaw(math.pi / 2)), ("base", "tool", S, (1, 0, 0), NONE))
    stamp, translation, rotation = made.lookup("world", "tool")
    assert stamp == S
    assert translation == pytest.approx((1, 1, 0))
    assert rotation == pytest.approx(yaw(math.pi / 2))
    assert made.lookup("tool", "world")[1] == pytest.approx((-1, 1, 0))


def test_siblings_meet_in_their_parent():
    made = graph(("world", "a", S, (1, 0, 0), NONE), ("world", "b", S, (0, 2, 0), NONE))
    assert made.lookup("a", "b")[1] == pytest.approx((-1, 2, 0))


def test_a_frame_in_itself_is_nowhere_else():
    assert graph(("world", "a", S, (1, 0, 0), NONE)).lookup("a", "a")[1:] == ((0, 0, 0), NONE)


def test_between_two_samples_is_interpolated():
    made = graph(("w", "a", S, (0, 0, 0), NONE), ("w", "a", 3 * S, (2, 0, 0), yaw(1.0)))
    _, translation, rotation = made.lookup("w", "a", 2 * S)
    assert translation == pytest.approx((1, 0, 0))
    assert rotation == pytest.approx(yaw(0.5))


def test_latest_common_time_is_used_when_no_time_is_asked():
    made = graph(("w", "a", 1 * S, (0, 0, 0), NONE), ("w", "a", 3 * S, (2, 0, 0), NONE), ("a", "b", 2 * S, (0, 0, 0), NONE))
    stamp, translation, _ = made.lookup("w", "b")
    assert (stamp, translation) == (2 * S, pytest.approx((1, 0, 0)))


def test_static_transform_holds_at_every_time():
    made = graph(("w", "a", 5 * S, (1, 0, 0), NONE), ("a", "b", 7 * S, (0, 0, 1), NONE), static=("a",))
    assert made.lookup("w", "b", 7 * S)[1] == pytest.approx((1, 0, 1))
    assert made.lookup("w", "a", 1)[1] == pytest.approx((1, 0, 0))


def test_times_outside_the_samples_are_refused():
    made = graph(("w", "a", S, (0, 0, 0), NONE), ("w", "a", 2 * S, (0, 0, 0), NONE))
    with pytest.raises(ExtrapolationException, match="future"):
        made.lookup("w", "a", 3 * S)
    with pytest.raises(ExtrapolationException, match="past"):
        made.lookup("w", "a", S // 2)


def test_samples_older_than_the_cache_are_dropped():
    made = graph(*[("w", "a", number * S, (number, 0, 0), NONE) for number in range(1, 21)])
    with pytest.raises(ExtrapolationException):
        made.lookup("w", "a", 9 * S)
    assert made.lookup("w", "a", 10 * S)[1] == pytest.approx((10, 0, 0))
    assert not made.add("a", Sample(5 * S, "w", (0, 0, 0), NONE), False)


def test_late_sample_finds_its_place():
    made = graph(("w", "a", S, (1, 0, 0), NONE), ("w", "a", 3 * S, (3, 0, 0), NONE), ("w", "a", 2 * S, (9, 0, 0), NONE))
    assert made.lookup("w", "a", 2 * S)[1] == pytest.approx((9, 0, 0))
    assert made.lookup("w", "a")[1] == pytest.approx((3, 0, 0))


def test_unknown_unconnected_and_impossible_are_told_apart():
    made = graph(("w", "a", S, (0, 0, 0), NONE), ("x", "b", S, (0, 0, 0), NONE))
    with pytest.raises(LookupException, match='"nope"'):
        made.lookup("w", "nope")
    with pytest.raises(ConnectivityException):
        made.lookup("a", "b")
    with pytest.raises(InvalidArgumentException):
        made.lookup("/w", "a")


@pytest.mark.parametrize(
    ("child", "translation", "rotation"),
    [("w", (0, 0, 0), NONE), ("", (0, 0, 0), NONE), ("a", (0, 0, 0), (0, 0, 0, 0)), ("a", (math.nan, 0, 0), NONE)],
)
def test_samples_that_cannot_be_are_refused(child, translation, rotation):
    with pytest.raises(InvalidArgumentException):
        TransformGraph().add(child, Sample(S, "w", translation, rotation), False)


def test_loop_is_reported_not_followed():
    made = graph(("a", "b", S, (0, 0, 0), NONE), ("b", "a", S, (0, 0, 0), NONE), ("w", "c", S, (0, 0, 0), NONE))
    with pytest.raises(ConnectivityException, match="loop"):
        made.lookup("a", "c")


small = st.floats(-10, 10)
unit = (
    st.tuples(small, small, small, small)
    .filter(lambda q: math.hypot(*q) > 0.1)
    .map(lambda q: tuple(v / math.hypot(*q) for v in q))
)
pose = st.tuples(st.tuples(small, small, small), unit)


@given(pose, pose)
def test_poses_form_a_group(a, b):
    back = compose(invert(a), compose(a, b))
    assert back[0] == pytest.approx(b[0], abs=1e-9)
    assert rotate(back[1], (1, 2, 3)) == pytest.approx(rotate(b[1], (1, 2, 3)), abs=1e-9)


@given(pose, pose, pose)
def test_there_and_back_are_inverse(a, b, c):
    made = graph(("w", "a", S, *a), ("a", "b", S, *b), ("w", "c", S, *c))
    there, back = made.lookup("c", "b")[1:], made.lookup("b", "c")[1:]
    assert compose(there, back)[0] == pytest.approx((0, 0, 0), abs=1e-9)
