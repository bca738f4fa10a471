"""The process ``so101_driver`` on emulated servos behind a pseudo-terminal: topics, services, kill -9, a pulled port, the end."""

import itertools
import json
import math
import signal
import threading
import time
from contextlib import contextmanager

import pytest

pytest.importorskip("rclpy")

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402

from teleop_common import qos, records  # noqa: E402
from teleop_common.testing import probe, process  # noqa: E402
from teleop_hw_so101.emulator.testing import serving  # noqa: E402

HOLDS = 0.2  # [s], within which servos hold whatever ends


@pytest.fixture(scope="module")
def arms(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("arms"), "--arms", "left") as running:
        yield running


class Bench:
    """A driver, and a probe beside it."""

    def __init__(self, node, arms):
        self.node, self.arms = node, arms
        self.joints = node.listen(records.JointState, "/left/joint_states")
        self.states = node.listen(records.DriverState, "/left/driver_state")
        self.reports = node.listen(records.ProviderReport, "/teleop/devices/hw/left")
        self.commands = node.talk(records.JointCommand, "/left/joint_command", qos.COMMAND)
        self.alive()

    def alive(self):
        count = len(self.joints)
        self.node.until(lambda: len(self.joints) > count and self.states, 15.0, "joint states")
        self.node.until(self.commands.publisher.get_subscription_count, 5.0, "the driver's subscription")

    def torque(self, on):
        answer = self.node.call(SetBool, "/left/torque", data=on)
        self.node.until(lambda: self.states[-1].torque_on == on or not answer.success, 2.0, "torque as asked")
        return answer

    def send(self, position):
        stamp = self.node.now_ns()
        self.commands.publish(records.JointCommand(header=records.Header(stamp), name=self.states[-1].name, position=position))

    def drive(self, way, steps=50):
        """Move the pan by ``way`` [rad] from where it is held, the first command being to stay there."""
        held = self.states[-1].goal
        for k in range(steps + 1):
            self.send((held[0] + way * k / steps, *held[1:]))
            time.sleep(0.01)

    @contextmanager
    def driving(self):
        """Commands at 100 Hz that move the pan to and fro, from a thread of their own, until the block ends."""
        held, over = self.states[-1].goal, threading.Event()

        def go():
            for k in itertools.count():
                if over.wait(0.01):
                    return
                self.send((held[0] + 0.2 * math.sin(0.05 * k), *held[1:]))

        thread = threading.Thread(target=go)
        thread.start()
        try:
            time.sleep(0.5)
            yield
        finally:
            over.set()
            thread.join()

    def stopped(self, begun):
        """How long after ``begun`` [s] a goal still changed, half a second later; every servo must still hold."""
        time.sleep(0.5)
        return self.arms.held_after("left", begun)

    def servo(self):
        """What the emulated pan servo does now."""
        return self.arms.rows("left", 1)[-1]


@contextmanager
def bench(domain, arms, **params):
    params = {"port": arms.port("left"), "calibration": str(arms.folder / "left.json"), **params}
    expect = params.pop("expect", 0)
    with probe(domain) as node, process("teleop_hw_so101", "so101_driver", domain, params, expect=expect) as child:
        made = Bench(node, arms)
        made.child = child
        yield made


def test_arm_is_driven_held_stopped_and_left_holding(domain, arms):
    with bench(domain, arms) as b:
        config, diagnostics = [], []
        b.node.create_subscription(String, "/teleop/config/so101_driver", config.append, qos.LATCHED)
        b.node.create_subscription(DiagnosticArray, "/diagnostics", diagnostics.append, 10)
        assert not b.states[-1].torque_on
        b.drive(0.2)
        assert not b.servo().torque, "no goal reaches a limp arm"
        assert b.torque(True).success
        start = b.joints[-1].position[0]
        b.drive(0.4)
        b.node.until(lambda: abs(b.joints[-1].position[0] - start - 0.4) < 0.05, 3.0, "the pan at its goal")
        assert abs(b.node.now_ns() - b.joints[-1].header.stamp) < 0.3e9
        stamps = [joint.header.stamp for joint in b.joints]
        assert all(later > sooner for sooner, later in zip(stamps, stamps[1:]))
        b.drive(0.1)
        assert b.node.call(Trigger, "/left/estop").success
        b.node.until(lambda: b.states[-1].estop, 1.0, "the latch")
        held = b.states[-1].goal
        b.drive(-0.2)
        assert b.states[-1].goal == held
        assert "e-stop is latched" in b.torque(True).message
        assert b.node.call(Trigger, "/left/estop/reset").success
        b.node.until(lambda: b.reports and config and diagnostics, 3.0, "report, configuration and diagnostics")
        assert [d.path for d in b.reports[-1].devices][:2] == ["arm/left", "arm/left/shoulder_pan"]
        assert json.loads(config[-1].data)["calibration"]["joints"][0]["name"] == "shoulder_pan"
        assert {s.name for s in diagnostics[-1].status} >= {"so101_driver_left: bus", "so101_driver_left: gripper"}
        begun = time.monotonic()
        b.child.send_signal(signal.SIGINT)
        b.child.wait(5.0)
        assert time.monotonic() - begun < 5.0
        time.sleep(0.1)
        assert b.servo().torque, "a driver that ends leaves the arm holding"


def test_killed_driver_and_pulled_port_leave_the_servos_holding_and_the_driver_comes_back_with_their_goal(domain, arms):
    with bench(domain, arms, expect=None) as b:
        assert b.torque(True).success
        with b.driving():
            killed = time.monotonic()
            b.child.kill()
            took = b.stopped(killed)
        assert took < HOLDS, f"goals changed for {took:.3f} s after kill -9"
        goal, instance = b.servo().goal, b.states[-1].instance
    with bench(domain, arms) as b:
        assert b.states[-1].instance != instance
        assert b.states[-1].torque_on
        assert b.servo().goal == goal
        with b.driving():
            silent = time.monotonic()
        took = b.stopped(silent)
        assert took < HOLDS, f"goals changed for {took:.3f} s after the last command"
        try:
            with b.driving():
                pulled = time.monotonic()
                arms.tell("unplug left")
                took = b.stopped(pulled)
            assert took < HOLDS, f"goals changed for {took:.3f} s after the port was pulled"
            goal, count = b.servo().goal, len(b.joints)
            b.node.until(lambda: b.states[-1].error, 2.0, "an error")
            time.sleep(0.3)
            assert len(b.joints) == count, "nothing is measured"
            assert (b.servo().torque, b.servo().goal) == (True, goal)
        finally:
            arms.tell("replug left")
        b.alive()
        b.node.until(lambda: not b.states[-1].error, 3.0, "the arm back by itself")
        b.drive(0.1)
        b.node.until(lambda: b.servo().goal != goal, 2.0, "the arm moving again")


def test_driver_that_stood_still_for_a_second_comes_back_without_a_motion(domain, arms):
    with bench(domain, arms) as b:
        assert b.torque(True).success
        b.drive(0.2)
        instance, goal = b.states[-1].instance, b.states[-1].goal
        stopped = time.monotonic()
        b.child.send_signal(signal.SIGSTOP)
        try:
            time.sleep(1.0)
        finally:
            b.child.send_signal(signal.SIGCONT)
        ahead = (goal[0] + 0.05, *goal[1:])  # where the arm would be by now, as a guard has it that has heard nothing yet
        for _ in range(50):
            b.send(ahead)
            time.sleep(0.01)
        assert b.states[-1].instance != instance
        assert b.arms.held_after("left", stopped) < HOLDS
        b.drive(0.1)
        b.node.until(lambda: b.arms.held_after("left", stopped) > 1.0, 2.0, "the arm moving again")


def test_parking_driver_eases_the_arm_to_rest_and_releases_it(domain, arms):
    with bench(domain, arms, park=True) as b:
        assert b.torque(True).success
        b.drive(0.2)
        begun = time.monotonic()
        b.child.send_signal(signal.SIGINT)
        b.child.wait(5.0)
        assert time.monotonic() - begun < 5.0
        time.sleep(0.1)
        assert not b.servo().torque, b.child.stdout.read()


def test_estop_is_obeyed_while_the_arm_is_parked(domain, arms):
    with bench(domain, arms, park=True, park_speed=0.8) as b:
        assert b.torque(True).success
        b.drive(0.8, 100)
        time.sleep(0.2)
        goal = b.states[-1].goal
        b.child.send_signal(signal.SIGINT)
        b.node.until(lambda: b.states[-1].goal != goal, 2.0, "the way to rest")
        assert b.node.call(Trigger, "/left/estop").success
        b.child.wait(2.0)
        assert "parking was cut short" in b.child.stdout.read()
        assert b.servo().torque, "it holds where it was stopped"
