"""The guard as a process: the test plays session, retargeter and drivers."""

import threading
import time

import pytest

pytest.importorskip("rclpy")

from guard_world import HOME, ROBOT  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from teleop_common import qos, records  # noqa: E402
from teleop_common.enums import Authority, PoseFlags, Reason, Session  # noqa: E402
from teleop_common.testing import probe, process  # noqa: E402
from teleop_interfaces.srv import ArmOwner, Home  # noqa: E402

ARM = "right"
NAMES = ROBOT.arm_names(ARM)
ALL = int(PoseFlags.ALL)


class Player:
    """Plays everything around the guard at 90 Hz, in a thread, until told to stop."""

    def __init__(self, node):
        self.node = node
        self.squeeze, self.tracked, self.goal, self.offset = 0.0, True, HOME, 0.0
        self.estop, self.resettable, self.frames = False, True, True
        self.engage, self.reference, self.sequence = 0, HOME, 0
        self.commands = node.listen(records.JointCommand, f"/{ARM}/joint_command", qos.COMMAND)
        self.authority = node.listen(records.AuthorityState, "/teleop/authority")
        self.events = node.listen(records.GuardEvent, "/teleop/guard/events", qos.EVENTS)
        self.estops = node.listen(records.EstopState, "/teleop/estop_state", qos.LATCHED)
        self.states = node.listen(records.GuardState, "/teleop/guard/state")
        self._session = node.talk(records.SessionState, "/teleop/session/state", qos.LATCHED)
        self._frame = node.talk(records.TeleopFrame, "/teleop/frame")
        self._targets = node.talk(records.JointTargets, "/teleop/joint_targets")
        self._joints = node.talk(records.JointState, f"/{ARM}/joint_states")
        self._driver = node.talk(records.DriverState, f"/{ARM}/driver_state")
        node.serve(Trigger, f"/{ARM}/estop", self._on_estop)
        node.serve(Trigger, f"/{ARM}/estop/reset", self._on_reset)
        self.going = True
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _on_estop(self, _request, answer):
        self.estop, answer.success = True, True
        return answer

    def _on_reset(self, _request, answer):
        if self.resettable:
            self.estop = False
        answer.success = self.resettable
        return answer

    def stop(self):
        self.going = False
        self.thread.join(2.0)

    def state(self):
        return self.authority[-1].arms[0].state if self.authority else None

    def _run(self):
        beat = 0
        while self.going:
            now = self.node.now_ns()
            stamp = records.Header(now)
            if self.commands:
                self.goal = self.commands[-1].position
            if self.authority:
                self.engage, self.reference = self.authority[-1].arms[0].engage, self.authority[-1].arms[0].reference
            if beat % 9 == 0:
                self._driver.publish(records.DriverState(stamp, 1, NAMES, True, self.estop, self.goal))
            if beat % 18 == 0:
                self._session.publish(
                    records.SessionState(stamp, int(Session.RUNNING), "debug", epoch=3, arm=(ARM,), hand=(ARM,))
                )
            self._joints.publish(records.JointState(stamp, NAMES, self.goal, (0.0,) * len(NAMES)))
            if self.frames:
                self.sequence += 1
                tracked = records.TrackedPose(records.Pose(), ALL if self.tracked else 0)
                hand = records.Controller(True, tracked, tracked, squeeze=self.squeeze)
                head = records.TrackedPose(records.Pose(), ALL)
                self._frame.publish(records.TeleopFrame(stamp, "debug", 9, self.sequence, head=head, right=hand))
                if self.reference:
                    asked = (HOME[0] + self.offset, *self.reference[1:])
                    target = records.JointTarget(ARM, "operator", self.engage, (0,) * len(NAMES), NAMES, asked)
                    self._targets.publish(records.JointTargets(stamp, now, 9, self.sequence, 0, 3, arms=(target,)))
            beat += 1
            time.sleep(1 / 90)


@pytest.fixture
def play(domain):
    with probe(domain) as node, process("teleop_safety", "guard", domain, {"arms": (ARM,), "countdown": 0.3}):
        player = Player(node)
        try:
            node.until(lambda: player.commands and player.state() == Authority.IDLE, 15.0, "the guard's first command")
            yield player
        finally:
            player.stop()


def drive(player):
    """Squeeze until the arm is driven; a stall of a busy machine may end a countdown, as it should, and asks for another."""
    for _attempt in range(4):
        player.squeeze = 0.0
        player.node.until(lambda: player.authority[-1].arms[0].reason == "ready", 5.0, "ready")
        player.squeeze = 1.0
        try:
            player.node.until(lambda: player.state() == Authority.DRIVING, 2.0, "DRIVING")
        except TimeoutError:
            continue
        return
    raise AssertionError(f"never DRIVING: {player.authority[-1].arms[0]}")


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
    assert any(event.kind == "estop" for event in play.events)


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
