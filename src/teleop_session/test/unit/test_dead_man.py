"""Controllers without a squeeze: the trigger as dead-man, a button for the gripper."""

import json
from pathlib import Path

import pytest

from teleop_common import cell
from teleop_common.enums import Command, PoseFlags
from teleop_common.errors import ConfigError
from teleop_common.records import Controller, Header, Pose, TeleopFrame, TrackedPose
from teleop_session.bindings import load
from teleop_session.session import SessionCore, Settings

CONFIG = Path(__file__).parents[4] / "config"
HERE = TrackedPose(Pose((0.1, 1.0, -0.3)), int(PoseFlags.ALL))
DT = 1.0 / 90.0
PULLED, LET_GO = {"trigger": 1.0}, {"trigger": 0.0}
CLICK = {"trigger": 1.0, "menu": True}


class Rig:
    """A connected session on one provider, and a clock that only the test moves."""

    def __init__(self, provider="debug", preset="simple"):
        settings = Settings(("left", "right"), provider, False, "behind", "", 1.0, Pose((-0.4, 0.0, -0.75)), preset)
        self.core = SessionCore(settings, cell.load(CONFIG / "cell.yaml"), {}, load(CONFIG / "bindings.yaml", preset), epoch=41)
        self.provider, self.now, self.sequence = provider, 0.0, 0
        for peer in self.core.machine.peers:
            self.core.on_peer(0.0, peer)
        self.frame()
        assert self.core.command(0.0, Command.CONNECT, "")[0].success

    def frame(self, left=None, **right):
        self.now, self.sequence = self.now + DT, self.sequence + 1
        hands = [Controller(True, HERE, HERE, **fields) for fields in (left or {}, right)]
        raw = TeleopFrame(Header(10**9), self.provider, 5, self.sequence, head=HERE, left=hands[0], right=hands[1])
        return self.core.on_frame(self.now, 10**9, self.provider, raw)

    def run(self, *stretches):
        """Play (seconds, right hand) stretches; return the last frame's right hand and all actions."""
        actions = []
        for seconds, right in stretches:
            for _ in range(max(1, round(seconds / DT))):
                frame, asked = self.frame(**right)
                actions += asked
        return frame.right, actions


@pytest.fixture
def rig():
    return Rig()


@pytest.mark.parametrize("pull", [0.0, 0.3, 1.0])
def test_trigger_of_a_simple_controller_is_its_dead_man_and_moves_no_gripper(rig, pull):
    frame, actions = rig.frame(left={"trigger": 0.2}, trigger=pull, squeeze=0.9)
    assert (frame.right.squeeze, frame.right.trigger) == (pull, 0.0)
    assert (frame.left.squeeze, frame.left.trigger) == (0.2, 0.0)
    assert actions == ()


def test_other_presets_leave_squeeze_and_trigger_as_they_are():
    frame, _ = Rig(preset="default").frame(trigger=0.8, squeeze=0.3)
    assert (frame.right.squeeze, frame.right.trigger) == (0.3, 0.8)


def test_trigger_that_is_no_number_is_no_opened_grip(rig):
    assert not rig.frame(trigger=float("nan"))[0].right.connected


def test_short_click_of_menu_closes_and_opens_the_gripper_of_that_hand_alone(rig):
    closed, actions = rig.run((0.1, PULLED), (0.1, CLICK), (0.1, PULLED))
    assert (closed.trigger, actions) == (1.0, [])
    assert rig.frame(left=PULLED)[0].left.trigger == 0.0
    assert rig.run((0.1, LET_GO), (0.1, PULLED))[0].trigger == 1.0  # kept over the next squeeze
    assert rig.run((0.1, CLICK), (0.1, PULLED))[0].trigger == 0.0


def test_menu_moves_no_gripper_while_the_dead_man_is_open(rig):
    assert rig.run((0.1, LET_GO), (0.1, {"menu": True}), (0.1, LET_GO), (0.1, PULLED))[0].trigger == 0.0


def test_menu_held_stops_and_its_release_moves_no_gripper(rig):
    hand, actions = rig.run((0.1, PULLED), (0.7, CLICK), (0.1, PULLED))
    assert actions == ["estop"]
    assert hand.trigger == 0.0


def test_replay_moves_the_gripper_as_it_was_moved_and_stops_nothing():
    hand, actions = Rig("replay").run((0.1, PULLED), (0.7, CLICK), (0.1, PULLED), (0.1, CLICK), (0.1, PULLED))
    assert actions == []
    assert hand.trigger == 1.0


def test_closed_gripper_survives_a_json_round_trip(rig):
    rig.run((0.1, PULLED), (0.1, CLICK), (0.1, PULLED))
    other = Rig()
    other.core.restore(json.loads(json.dumps(rig.core.state())))
    assert other.core.state() == rig.core.state()
    other.now = rig.now
    assert other.run((0.1, PULLED))[0].trigger == 1.0


@pytest.mark.parametrize("hand", ["left", "right"])
def test_mixed_reality_controllers_stop_with_menu(hand):
    rig = Rig(preset="windows_mixed_reality")
    rig.frame()
    hands = {"left": {}, "right": {}} | {hand: {"menu": True}}
    assert rig.frame(hands["left"], **hands["right"])[1] == ("estop",)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("[{button: left/trigger, event: press, action: estop}]", "estop"),
        ("[{button: left/trigger, event: release, action: dead_man}]", "release"),
        ("[{button: left/menu, event: press, action: dead_man}]", "dead_man"),
        ("[{button: left/menu, event: press, action: gripper}]", "left/menu -> gripper"),
        (
            "[{button: left/trigger, event: press, action: dead_man}, {button: right/menu, event: press, action: gripper}]",
            "right/menu -> gripper",
        ),
    ],
)
def test_binding_of_the_trigger_that_means_nothing_is_refused(tmp_path, rows, words):
    file = tmp_path / "bindings.yaml"
    file.write_text(f"presets:\n  default: {rows}\n")
    with pytest.raises(ConfigError) as error:
        load(file, "default")
    assert words in str(error.value)
    assert str(file) in str(error.value)
