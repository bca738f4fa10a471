"""Scripted paths: the file, interpolation, the operator that walks them."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common import spatial
from teleop_common.enums import Convention, PoseFlags
from teleop_common.errors import ConfigError
from teleop_common.records import Controller
from teleop_input.path import load
from teleop_input.scripted import ScriptedOperator

SHIPPED = sorted((Path(__file__).parents[4] / "config" / "debug_paths").glob("*.yaml"))
BY_NAME = {p.stem: p for p in SHIPPED}
REST = """
rest:
  head: {position: [0, 1.6, 0]}
  left: {position: [-0.2, 1.1, -0.35]}
  right: {position: [0.2, 1.1, -0.35], turn: [0, 90, 0]}
"""


def written(tmp_path, text, rest=REST):
    file = tmp_path / "some.yaml"
    file.write_text(rest + text)
    return file


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
def test_every_shipped_path_is_smooth_and_slow_enough_to_follow(path):
    """No tracked hand jumps or outruns 0.3 m/s: a path shows the arms, not their limits."""
    loaded = load(path)
    before = loaded.at(0.0)
    end = loaded.duration + (1.0 if loaded.loop else 0.0)
    for i in range(1, int(end * 90) + 1):
        now = loaded.at(i / 90.0)
        for a, b in zip(before[1:], now[1:], strict=True):
            if a.grip.flags == b.grip.flags == int(PoseFlags.ALL):
                assert math.dist(a.grip.pose.position, b.grip.pose.position) * 90.0 < 0.3
        before = now


def test_the_issues_paths_are_shipped():
    assert {"idle", "wave", "axes", "both", "tracking_loss"} <= set(BY_NAME)


@pytest.mark.parametrize("name", ["wave", "both"])
def test_demonstrations_move_both_hands_within_four_seconds_and_for_ever(name):
    path = load(BY_NAME[name])
    assert path.loop
    for t in (3.0, 3.0 + 1000 * path.duration):
        for controller, rest in zip(path.at(t)[1:], path.at(0.0)[1:], strict=True):
            assert controller.squeeze == 1.0
            assert math.dist(controller.grip.pose.position, rest.grip.pose.position) > 0.03


@pytest.mark.parametrize(("t", "delta"), [(4.0, (0, 0, -0.1)), (9.0, (-0.1, 0, 0)), (14.0, (0, 0.1, 0))])
def test_axes_moves_the_right_hand_100_mm_along_each_axis(t, delta):
    path = load(BY_NAME["axes"])
    (_, left0, right0), (_, left, right) = path.at(1.0), path.at(t)
    moved = [b - a for a, b in zip(right0.grip.pose.position, right.grip.pose.position, strict=True)]
    assert moved == pytest.approx(delta, abs=1e-12)
    assert left == left0
    assert left.squeeze == 0.0


def test_tracking_loss_is_40_frames_and_returns_a_quarter_metre_away():
    path = load(BY_NAME["tracking_loss"])
    lost = [i for i in range(int(4.5 * 90)) if path.at(i / 90)[2].grip.flags != int(PoseFlags.ALL)]
    assert len(lost) == 40
    a, b = path.at((lost[0] - 1) / 90)[2].grip, path.at((lost[-1] + 1) / 90)[2].grip
    assert math.dist(a.pose.position, b.pose.position) == pytest.approx(0.25, abs=0.001)


def test_what_a_keyframe_leaves_out_stays(tmp_path):
    keys = "{t: 0}, {t: 1, offset: [0, 0, -0.1], trigger: 1, squeeze: 0.7, primary: true}, {t: 2}, {t: 3, trigger: 0}"
    path = load(written(tmp_path, f"tracks: {{right: [{keys}]}}"))
    right = path.at(2.5)[2]
    assert right.grip.pose.position == pytest.approx((0.2, 1.1, -0.45))
    assert (right.trigger, right.squeeze, right.primary) == (0.5, 0.7, True)
    # half way of a minimum-jerk motion is half of it; squeeze waits for its keyframe
    right = path.at(0.5)[2]
    assert right.grip.pose.position == pytest.approx((0.2, 1.1, -0.40))
    assert (right.trigger, right.squeeze, right.primary) == (0.5, 0.0, False)


def test_turn_is_applied_to_the_rest_attitude(tmp_path):
    path = load(written(tmp_path, "tracks: {right: [{t: 0}, {t: 1, turn: [90, 0, 0]}]}"))
    want = spatial.quat_multiply(
        spatial.quat_from_axis_angle((1, 0, 0), math.pi / 2), spatial.quat_from_axis_angle((0, 1, 0), math.pi / 2)
    )
    assert spatial.quat_angle(path.at(1.0)[2].grip.pose.orientation, want) < 1e-6


def test_untracked_keeps_an_estimate_and_disconnected_is_empty(tmp_path):
    keys = "{t: 0}, {t: 1, tracked: false}, {t: 2, connected: false}"
    path = load(written(tmp_path, f"tracks: {{both: [{keys}]}}"))
    assert path.at(0.5)[1].grip.flags == int(PoseFlags.ALL)
    assert path.at(1.5)[1].grip.flags == int(PoseFlags.POSITION_VALID | PoseFlags.ORIENTATION_VALID)
    assert path.at(2.0)[1] == Controller()


def test_path_stays_at_its_end_unless_it_loops(tmp_path):
    keys = "tracks: {left: [{t: 0}, {t: 1, offset: [0.1, 0, 0]}]}"
    assert load(written(tmp_path, keys)).at(50.0) == load(written(tmp_path, keys)).at(1.0)
    assert load(written(tmp_path, keys + "\nloop: true")).at(50.25) == load(written(tmp_path, keys)).at(0.25)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tracks: {tail: []}", "tail"),
        ("tracks: {left: [{t: 1}, {t: 1}]}", "more than 1"),
        ("tracks: {left: [{t: 0, speed: 3}]}", "speed"),
        ("tracks: {left: [{t: 0, squeeze: 2}]}", "0 to 1"),
        ("tracks: {left: [{t: 0, offset: [0, 0]}]}", "list of 3"),
        ("tracks: {left: [{offset: [0, 0, 0]}]}", "tracks.left[0].t"),
        ("tracks: {left: [{t: 0}], both: [{t: 0}]}", "both"),
        ("tracks: {}\nloop: true", "loop"),
        ("tracks: {}\nspeed: 2", "speed"),
        ("", "tracks"),
    ],
)
def test_wrong_path_is_refused_with_file_and_key(tmp_path, text, words):
    file = written(tmp_path, text)
    with pytest.raises(ConfigError) as error:
        load(file)
    assert words in str(error.value)
    assert str(file) in str(error.value)


@given(st.floats(-10.0, 1e6))
def test_path_is_defined_at_every_time(t):
    for controller in load(BY_NAME["wave"]).at(t)[1:]:
        assert controller.grip.flags == int(PoseFlags.ALL)
        assert math.hypot(*controller.grip.pose.orientation) == pytest.approx(1.0)


def test_operator_waits_at_the_beginning_until_it_is_let():
    path = load(BY_NAME["axes"])
    operator = ScriptedOperator(path, 5)
    rest = operator.frame(100.0, 1, 2)
    assert rest.right == path.at(0.0)[2]
    operator.let(200.0, 7)
    operator.let(201.0, 7)
    assert operator.frame(204.0, 1, 2).right == path.at(4.0)[2]
    assert operator.frame(204.0, 1, 2).connection == rest.connection
    operator.let(205.0, None)
    assert operator.frame(205.0, 1, 2).right == path.at(0.0)[2]


def test_new_run_starts_over_as_a_new_connection():
    path = load(BY_NAME["axes"])
    operator = ScriptedOperator(path, 5)
    operator.let(0.0, 7)
    operator.let(10.0, 8)
    frame = operator.frame(14.0, 1, 2)
    assert (frame.connection, frame.sequence) == (6, 0)
    assert frame.right == path.at(4.0)[2]


def test_operators_frames_are_a_headsets():
    frame = ScriptedOperator(load(BY_NAME["idle"]), 5).frame(1.0, 11, 22)
    assert (frame.provider, frame.convention, frame.header.stamp, frame.monotonic_ns) == ("debug", Convention.OPENXR, 11, 22)
    assert frame.left.connected
    assert frame.right.connected


def test_change_of_path_is_a_new_connection_from_its_beginning():
    operator = ScriptedOperator(load(BY_NAME["axes"]), 2**32 - 1)
    operator.let(0.0, 7)
    assert [operator.frame(1.0, 0, 0).sequence for _ in range(3)] == [0, 1, 2]
    operator.take(10.0, load(BY_NAME["wave"]))
    frame = operator.frame(10.0, 0, 0)
    assert (frame.connection, frame.sequence) == (0, 0)
    assert frame.right == load(BY_NAME["wave"]).at(0.0)[2]
