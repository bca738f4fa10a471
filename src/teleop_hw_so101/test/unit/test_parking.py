import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_hw_so101 import parking

JOINTS = st.lists(st.floats(-2.0, 2.0), min_size=6, max_size=6)


@given(JOINTS, JOINTS, st.floats(0.1, 4.7))
def test_way_starts_and_ends_where_asked_within_speed_and_time(start, end, speed):
    way = parking.plan(start, end, 5.0, speed, 3.0)
    farthest = max(abs(b - a) for a, b in zip(start, end))
    if way is None:
        assert 1.5 * farthest / speed > 3.0
        return
    assert way.duration <= 3.0
    points = [way.at(5.0 + way.duration * k / 100) for k in range(101)]
    assert points[0] == pytest.approx(start)
    assert points[-1] == pytest.approx(end)
    assert way.over(5.0 + way.duration + 1e-6)
    step = way.duration / 100
    assert all(abs(b - a) <= speed * step + 1e-9 for p, q in zip(points, points[1:]) for a, b in zip(p, q))


def test_arm_that_is_at_rest_is_parked_at_once():
    way = parking.plan((0.0,), (0.0,), 1.0, 2.0, 3.0)
    assert way.at(1.0) == (0.0,)
    assert way.over(1.0)
