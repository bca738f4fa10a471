"""The guard as a process: the test plays session, retargeter and drivers."""

import time

import pytest

pytest.importorskip("rclpy")

from guard_player import ARM, NAMES, Player, drive  # noqa: E402
from guard_world import HOME  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from teleop_common import qos, records  # noqa: E402
from teleop_common.enums import Authority, Reason  # noqa: E402
from teleop_common.testing import probe, process  # noqa: E402
from teleop_interfaces.srv import ArmOwner, Home  # noqa: E402


@pytest.fixture
def play(domain):
    with probe(domain) as node, process("teleop_safety", "guard", domain, {"arms": (ARM,), "countdown": 0.3}):
        player = Player(node)
        try:
            node.until(lambda: player.commands and player.state() == Authority.IDLE, 15.0, "the guard's first command")
            yield player
        finally:
            player.stop()


def test_squeeze_then_targets_moves_arm_and_stop_of_frames_ends_it(play):
    drive(play)
    assert {command.position for command in play.commands} == {HOME}
    assert set(play.commands[0].reason) <= {int(Reason.FIRST_COMMAND), int(Reason.STALE), int(Reason.DEAD_MAN)}
    play.offset = 0.2
    play.node.until(lambda: abs(play.commands[-1].position[0] - HOME[0] - 0.2) < 1e-3, 3.0, "arm at its target")
    play.frames = False
    before = time.monotonic()
    play.node.until(lambda: play.state() == Authority.IDLE, 1.0, "IDLE")
    assert time.monotonic() - before < 0.35
    assert play.authority[-1].arms[0].must_open
    assert play.states, "guard state is published"


def test_estop_latches_calls_driver_and_resets_only_when_driver_has(play):
    drive(play)
    answer = play.node.call(Trigger, "/teleop/estop")
    assert answer.success
    play.node.until(lambda: play.estop, 2.0, "the driver's e-stop called")
    play.node.until(
        lambda: play.estops and play.estops[-1].latched and play.estops[-1].latched_drivers == (ARM,), 2.0, "latch shown"
    )
    assert play.state() == Authority.ESTOP
    play.resettable = False
    answer = play.node.call(Trigger, "/teleop/estop/reset")
    assert not answer.success
    assert ARM in answer.message
    play.resettable = True
    assert play.node.call(Trigger, "/teleop/estop/reset").success
    play.node.until(lambda: play.state() == Authority.IDLE, 2.0, "IDLE")
    assert play.authority[-1].arms[0].must_open


def test_home_brings_a_driven_arm_back_and_a_driving_one_is_skipped(play):
    drive(play)
    play.offset = 0.2
    play.node.until(lambda: abs(play.commands[-1].position[0] - HOME[0] - 0.2) < 1e-3, 3.0, "arm away from home")
    skipped = play.node.call(Home, "/teleop/home", arms=[])
    assert not skipped.success
    assert ARM in skipped.message
    assert "operator" in skipped.message
    play.squeeze = 0.0
    play.node.until(lambda: play.state() == Authority.IDLE, 2.0, "IDLE")
    assert play.node.call(Home, "/teleop/home", arms=[ARM]).success
    play.node.until(lambda: play.state() == Authority.HOMING, 2.0, "HOMING")
    play.node.until(lambda: play.state() == Authority.IDLE, 5.0, "IDLE at home")
    assert play.commands[-1].position == pytest.approx(HOME, abs=2e-4)
    unknown = play.node.call(Home, "/teleop/home", arms=["middle"])
    assert not unknown.success
    assert "middle" in unknown.message


@pytest.mark.parametrize(("name", "state"), [("policy", Authority.EXTERNAL), ("replay", Authority.REPLAY)])
def test_owner_moves_the_arm_it_asked_for_until_it_falls_silent(play, name, state):
    publisher = play.node.talk(records.JointTargets, "/teleop/joint_targets_external")
    goal = (HOME[0] - 0.2, *HOME[1:])

    def send():
        target = records.JointTarget(ARM, name, play.engage, (0,) * len(NAMES), NAMES, goal)
        publisher.publish(records.JointTargets(records.Header(play.node.now_ns()), arms=(target,)))
        return abs(play.commands[-1].position[0] - goal[0]) < 1e-3

    play.node.until(lambda: play.authority[-1].arms[0].reason == "ready", 5.0, "ready")
    answer = play.node.call(ArmOwner, "/teleop/arm_owner", arm=ARM, owner=name, acquire=True)
    assert answer.success, answer.message
    assert answer.current_owner == name
    play.node.until(lambda: play.state() == state, 2.0, "the owner's state")
    assert play.commands[-1].position == HOME
    play.node.until(send, 3.0, "arm at the owner's goal")
    refused = play.node.call(ArmOwner, "/teleop/arm_owner", arm=ARM, owner="other", acquire=True)
    assert not refused.success
    assert refused.current_owner == name
    play.node.until(lambda: play.state() == Authority.IDLE, 1.0, "IDLE after its silence")
    assert play.authority[-1].arms[0].owner == ""
    stood = play.commands[-1].position
    assert not play.node.call(ArmOwner, "/teleop/arm_owner", arm="middle", owner=name, acquire=True).success
    assert play.commands[-1].position == stood


def test_unknown_arm_stops_the_start_with_one_line(domain):
    with process("teleop_safety", "guard", domain, {"arms": ("middle",)}, expect=2) as child:
        child.wait(15.0)
        assert "middle" in child.stdout.read()


def test_estop_of_a_driver_latches_the_guard(play):
    drive(play)
    play.estop = True
    play.node.until(lambda: play.state() == Authority.ESTOP, 2.0, "ESTOP")
    play.node.until(lambda: play.estops[-1].latched and ARM in play.estops[-1].source, 2.0, "latch shown")
    play.node.until(lambda: any(event.kind == "estop" for event in play.events), 2.0, "the event")


def test_bytes_that_are_no_message_change_nothing(play):
    before = play.commands[-1].position
    from teleop_interfaces.msg import JointTargets, TeleopFrame

    for kind, topic in ((TeleopFrame, "/teleop/frame"), (JointTargets, "/teleop/joint_targets")):
        publisher = play.node.create_publisher(kind, topic, qos.STREAM)
        play.node.until(publisher.get_subscription_count, 3.0, "the guard listens")
        for junk in (b"", b"\x00\x01", b"\x00\x01\x00\x00" + b"\xff" * 60):
            publisher.publish(junk)
    count = len(play.commands)
    play.node.until(lambda: len(play.commands) > count + 50, 3.0, "commits go on")
    assert play.commands[-1].position == before


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"arms": ("left", "left")}, "arms"),
        ({"squeeze_open": 0.7}, "squeeze_open"),
        ({"countdwn": 1.0}, "countdwn"),
        ({"limits_file": "/nowhere.yaml"}, "nowhere"),
        ({"geometry": "balls"}, "geometry"),
    ],
)
def test_bad_configuration_stops_the_start_with_one_line_that_names_it(domain, parameters, word):
    with process("teleop_safety", "guard", domain, parameters, expect=2) as child:
        child.wait(15.0)
        lines = child.stdout.read().strip().splitlines()
    assert len(lines) == 1, lines
    assert word in lines[0]
