"""Bindings: the file and its evaluation."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common.errors import ConfigError
from teleop_common.records import Controller, TeleopFrame
from teleop_session.bindings import Evaluator, load

INSTALLED = Path(__file__).parents[4] / "config" / "bindings.yaml"
DT = 1.0 / 90.0


def frame(connection=1, *, connected=True, **buttons):
    left = Controller(connected, **{k[5:]: v for k, v in buttons.items() if k.startswith("left_")})
    right = Controller(connected, **{k[6:]: v for k, v in buttons.items() if k.startswith("right_")})
    return TeleopFrame(connection=connection, left=left, right=right)


def run(evaluator, *stretches, start=10.0):
    """Feed (seconds, frame) stretches at 90 Hz and return [(time, action)]."""
    now, heard = start, []
    for seconds, sample in stretches:
        for _ in range(max(1, round(seconds / DT))):
            heard += [(now - start, action) for action in evaluator.step(now, sample)]
            now += DT
    return heard


@pytest.fixture
def default():
    return Evaluator(load(INSTALLED, "default"))


UP, A, B, STICK = frame(), frame(right_primary=True), frame(right_secondary=True), frame(left_thumbstick_click=True)


@pytest.mark.parametrize("side", ["left", "right"])
def test_secondary_press_stops_with_the_frame_that_carries_it(default, side):
    assert default.step(1.0, UP) == ()
    assert default.step(1.011, frame(**{f"{side}_secondary": True})) == ("estop",)
    assert default.step(1.022, frame(**{f"{side}_secondary": True})) == ()


def test_second_press_stops_again(default):
    assert [a for _, a in run(default, (0.1, UP), (0.2, B), (0.2, UP), (0.2, B))] == ["estop", "estop"]


def test_hold_of_half_a_second_toggles_recording_once(default):
    ((when, action),) = run(default, (0.1, UP), (2.0, A), (0.1, UP))
    assert action == "record_toggle"
    assert when == pytest.approx(0.1 + 0.5, abs=2 * DT)


def test_short_press_of_a_hold_button_does_nothing(default):
    assert run(default, (0.1, UP), (0.45, A), (0.5, UP)) == []


def test_stick_held_goes_home_and_its_release_is_left_to_the_page(default):
    assert [a for _, a in run(default, (0.1, UP), (1.0, STICK), (0.3, UP))] == ["home"]
    assert run(default, (0.3, STICK), (0.3, UP), start=20.0) == []


@pytest.mark.parametrize("button", [A, B, STICK])
def test_button_down_in_the_first_frame_triggers_nothing(default, button):
    assert run(default, (2.0, button), (0.1, UP)) == []


def test_button_held_across_a_gap_triggers_nothing(default):
    assert run(default, (0.1, UP), (0.2, A)) == []
    assert run(default, (2.0, A), start=11.0) == []
    assert run(default, (0.1, UP), (0.1, B), start=13.0 + DT) == [(pytest.approx(0.1, abs=DT), "estop")]


def test_button_held_across_a_change_of_connection_triggers_nothing(default):
    assert run(default, (0.1, UP), (2.0, frame(2, right_primary=True))) == []


def test_an_estop_pressed_in_a_gap_or_a_reconnection_counts_once(default):
    assert run(default, (0.1, UP)) == []
    assert [a for _, a in run(default, (2.0, B), start=11.0)] == ["estop"]
    assert run(default, (0.1, UP), start=13.0 + DT) == []
    assert [a for _, a in run(default, (2.0, frame(2, right_secondary=True)), start=13.2 + DT)] == ["estop"]


def test_an_estop_held_from_before_a_gap_counts_once(default):
    assert [a for _, a in run(default, (0.1, UP), (0.2, B))] == ["estop"]
    assert run(default, (2.0, B), start=11.0) == []


def test_button_held_while_its_controller_comes_back_triggers_nothing(default):
    assert run(default, (0.1, UP), (0.1, frame(connected=False)), (1.0, B)) == []


def test_isaac_preset_records_with_left_secondary_and_stops_with_right():
    evaluator = Evaluator(load(INSTALLED, "isaac"))
    heard = run(evaluator, (0.1, UP), (0.1, frame(left_secondary=True)), (0.1, UP), (0.1, B))
    assert [a for _, a in heard] == ["record_toggle", "estop"]


@given(st.lists(st.tuples(st.floats(0.001, 0.5), st.integers(0, 1), st.booleans(), st.booleans(), st.booleans()), max_size=60))
def test_no_action_without_a_press_seen(rows):
    """Each estop follows an up frame and a down frame of a controller that stayed connected, whatever lay between."""
    evaluator = Evaluator(load(INSTALLED, "default"))
    now, before = 0.0, None
    for dt, connection, connected, down, primary in rows:
        now += dt
        actions = evaluator.step(now, frame(connection, connected=connected, right_secondary=down, right_primary=primary))
        pressed = before is not None and before[1] and connected and down and not before[2]
        assert actions.count("estop") == int(pressed)
        before = (connection, connected, down)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            "[{button: left/primary, event: press, action: home}, {button: left/primary, event: press, action: estop}]",
            "left/primary press -> home and estop",
        ),
        ("[{button: left/foo, event: press, action: home}]", "left/foo"),
        ("[{button: left/primary, event: twice, action: home}]", "twice"),
        ("[{button: left/primary, event: press, action: dance}]", "dance"),
        ("[{button: left/primary, event: hold, action: home}]", "seconds"),
        ("[{button: left/primary, event: press, action: home, seconds: 1}]", "seconds"),
        ("[{button: left/primary, event: press}]", "action"),
    ],
)
def test_wrong_binding_is_refused_with_file_and_value(tmp_path, rows, words):
    file = tmp_path / "bindings.yaml"
    file.write_text(f"presets:\n  default: {rows}\n")
    with pytest.raises(ConfigError) as error:
        load(file, "default")
    assert words in str(error.value)
    assert str(file) in str(error.value)


def test_unknown_preset_names_the_known_ones():
    with pytest.raises(ConfigError, match="'other'.*one of default, isaac"):
        load(INSTALLED, "other")
