"""WebXR captures as frames."""

import pytest

from teleop_common.enums import PoseFlags
from teleop_common.records import Controller
from teleop_input.capture import Override, frames, without_button

LEFT, RIGHT, BARE = 0, 4, 2
FULL = {"hasGrip": True, "hasHand": False, "hasGamepad": True, "numButtons": 12, "numAxes": 4}
SCHEMA = [
    [LEFT, {"handedness": "left", **FULL}],
    [RIGHT, {"handedness": "right", **FULL}],
    [BARE, {"handedness": "left", "hasGrip": True, "hasHand": True, "hasGamepad": True, "numButtons": 1, "numAxes": 0}],
]
HEAD = [0.0, 1.6, 0.0, 0, 0, 0, 1]


def source(index, x=0.0, **values):
    """A controller at x whose buttons read ``values`` by number (b1=0.7)."""
    buttons = [[0, 0, 0] for _ in range(12)]
    for key, value in values.items():
        buttons[int(key[1:])] = [int(value > 0.1), 1, value]
    return [index, x, 1.0, -0.4, 0, 0, 0, 1, [x, 1.0, -0.3, 0, 0, 0, 1], [*buttons, 0, 0, 0.25, -0.5]]


def bare_hand():
    return [BARE, 0.1, 1.0, -0.3, 0, 0, 0, 1, [0.1, 1.0, -0.3, 0, 0, 0, 1], [0.0] * 200, [[0, 0, 0]]]


def capture(*rows, dt=11.0):
    return {"schema": SCHEMA, "frames": [[9800.0 + i * dt, *HEAD, *row] for i, row in enumerate(rows)]}


def test_sources_belong_to_their_hand_whatever_their_order():
    a, b = frames(capture((source(LEFT, -0.2), source(RIGHT, 0.2)), (source(RIGHT, 0.2), source(LEFT, -0.2))))
    for frame in (a, b):
        assert frame.left.grip.pose.position[0] == -0.2
        assert frame.right.grip.pose.position[0] == 0.2


def test_grip_aim_buttons_and_stick_are_read():
    (frame,) = frames(capture((source(RIGHT, b0=0.3, b1=0.7, b4=1.0, b5=1.0, b3=1.0),)))
    right = frame.right
    assert (right.trigger, right.squeeze) == (0.3, 0.7)
    assert right.primary
    assert right.secondary
    assert right.thumbstick_click
    assert (right.thumbstick_x, right.thumbstick_y) == (0.25, -0.5)
    assert right.grip.pose.position == (0.0, 1.0, -0.3)
    assert right.aim.pose.position == (0.0, 1.0, -0.4)
    assert right.grip.flags == int(PoseFlags.ALL)


def test_touch_sensor_without_press_is_no_button():
    (frame,) = frames(capture((source(RIGHT, b7=1.0),)))
    assert not frame.right.primary
    assert not frame.right.secondary


def test_absent_source_and_bare_hand_are_disconnected():
    first, second = frames(capture((), (bare_hand(),)))
    assert first.left == first.right == second.left == Controller()


def test_time_starts_at_the_given_stamp_and_the_device_clock_is_kept():
    a, b = frames(capture((), ()), start_ns=5_000, connection=9)
    assert (a.header.stamp, b.header.stamp - a.header.stamp) == (5_000, 11_000_000)
    assert (a.device_clock_ns, a.sequence, b.sequence, b.connection) == (9_800_000_000, 0, 1, 9)


def test_overrides_hold_in_their_time_and_for_present_controllers_only():
    rows = [(source(RIGHT, b5=1.0),)] * 10 + [()]
    squeeze = Override("squeeze", 1.0, start=0.022, end=0.055)
    got = list(frames(capture(*rows), overrides=(squeeze, without_button("secondary"))))
    assert [f.right.squeeze for f in got[:6]] == [0.0, 0.0, 1.0, 1.0, 1.0, 0.0]
    assert not any(f.right.secondary for f in got)
    assert got[-1].right == got[3].left == Controller()


@pytest.mark.parametrize(
    "broken", [{}, {"schema": SCHEMA}, {"schema": SCHEMA, "frames": [[1.0, 2.0]]}, {"schema": [], "frames": []}]
)
def test_what_is_no_capture_raises(broken):
    with pytest.raises((KeyError, ValueError, IndexError)):
        list(frames(broken))
