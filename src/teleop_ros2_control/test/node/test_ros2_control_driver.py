"""The driver as a process before a controller that the test plays on the wire: alone, and as the last link of the graph."""

import math
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from std_msgs.msg import Float64MultiArray  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402
from trajectory_msgs.msg import JointTrajectory  # noqa: E402

from teleop_common import limits, qos, records  # noqa: E402
from teleop_common.enums import Authority, Convention, PoseFlags, Reason, Session  # noqa: E402
from teleop_common.testing import probe, process  # noqa: E402
from teleop_description.assets import urdf_path  # noqa: E402
from teleop_description.testing import installed  # noqa: E402
from teleop_ik.kinematics import forward  # noqa: E402
from teleop_ik.setup_arms import read_chain  # noqa: E402
from teleop_ros2_control.testing import Controller  # noqa: E402

ROOT = Path(__file__).resolve().parents[4]
ARM = "left"
ALL = int(PoseFlags.ALL)


pytestmark = pytest.mark.skipif(not installed(), reason="example-robot-data is not installed")


def load(name):
    return limits.load(ROOT / f"config/limits/{name}.yaml")


def homes(robot):
    return {joint.name: joint.home for joint in robot.all_joints}


class Alone:
    """The driver with one arm before its controller, the test as the guard."""

    def __init__(self, node, robot, topics):
        self.node, self.robot = node, robot
        self.controller = Controller(node, homes(robot), topics)
        self.states = node.listen(records.DriverState, f"/{ARM}/driver_state", qos.COMMAND)
        self.joints = node.listen(records.JointState, f"/{ARM}/joint_states")
        self.shared = node.listen(records.JointState, "/joint_states")
        self.command = node.talk(records.JointCommand, f"/{ARM}/joint_command", qos.COMMAND)
        self.home = tuple(j.home for j in robot.all_joints)
        node.until(lambda: self.states and self.joints, 15.0, "the driver's first state")

    def send(self, positions):
        header = records.Header(self.node.now_ns())
        self.command.publish(records.JointCommand(header, name=self.robot.arm_names(ARM), position=tuple(positions)))

    def sent(self):
        return sum(map(len, self.controller.heard.values()))

    def send_until_heard(self, positions):
        before = self.sent()

        def heard():
            self.send(positions)
            time.sleep(0.02)
            return self.sent() > before

        self.node.until(heard, 5.0, "a command at the controller")

    def silent(self, positions):
        """Return whether commands for half a second reach no controller."""
        before = self.sent()
        for _ in range(25):
            self.send(positions)
            time.sleep(0.02)
        return self.sent() == before


@pytest.fixture
def panda(domain):
    robot = load("panda")
    parameters = {
        "arms": (ARM,), "limits_file": robot.source, "joint_prefix": "", "gripper_topic": "/hand_controller/commands",
        "stop_service": "/{arm}_robot/stop",
    }  # fmt: skip
    topics = {
        f"/{ARM}_arm_controller/joint_trajectory": (JointTrajectory, ()),
        "/hand_controller/commands": (Float64MultiArray, robot.names[7:]),
    }
    with probe(domain) as node, process("teleop_ros2_control", "ros2_control_driver", domain, parameters):
        alone = Alone(node, robot, topics)
        try:
            yield alone
        finally:
            alone.controller.stop()


def test_command_reaches_arm_and_gripper_controller_in_their_own_names(panda):
    asked = (0.02, *panda.home[1:7], 0.036)
    panda.send_until_heard(asked)
    arm, hand = (messages for messages in panda.controller.heard.values())
    assert tuple(arm[-1].joint_names) == panda.robot.names[:7]
    assert tuple(arm[-1].points[0].positions) == asked[:7]
    assert arm[-1].points[0].time_from_start.nanosec == 30_000_000
    assert arm[-1].header.stamp.sec == 0
    assert tuple(hand[-1].data) == (0.036,)
    panda.node.until(lambda: abs(panda.joints[-1].position[0] - 0.02) < 1e-6, 3.0, "the measured arm at its goal")


def test_joint_states_are_ours_in_name_order_and_stamp_and_the_shared_topic_has_them(panda):
    sample = panda.joints[-1]
    assert sample.name == panda.robot.arm_names(ARM)
    assert sample.position == pytest.approx(panda.home)
    assert abs(panda.node.now_ns() - sample.header.stamp) < 2e8
    panda.node.until(lambda: any(s.name == sample.name for s in panda.shared), 3.0, "prefixed names on /joint_states")
    assert panda.states[-1].goal == pytest.approx(panda.home)


def test_estop_stops_every_command_and_reset_lets_them_through_again(panda):
    panda.send_until_heard(panda.home)
    assert panda.node.call(Trigger, f"/{ARM}/estop").success
    panda.node.until(lambda: panda.states[-1].estop, 2.0, "the latch told")
    assert panda.silent(panda.home)
    assert panda.node.call(Trigger, f"/{ARM}/estop/reset").success
    panda.send_until_heard(panda.home)


def test_estop_calls_the_robots_own_stop_as_well(panda):
    called = []

    def on_stop(_request, answer):
        called.append(True)
        answer.success = True
        return answer

    panda.node.serve(Trigger, f"/{ARM}_robot/stop", on_stop)
    # without a server the e-stop works all the same; the driver finds it once discovery has
    panda.node.until(lambda: panda.node.call(Trigger, f"/{ARM}/estop").success and called, 5.0, "the robot's stop called")


def test_torque_off_drops_commands(panda):
    assert panda.node.call(SetBool, f"/{ARM}/torque", data=False).success
    assert panda.silent(panda.home)
    assert panda.node.call(SetBool, f"/{ARM}/torque", data=True).success
    panda.send_until_heard(panda.home)


def test_controller_that_falls_silent_gets_no_commands_and_comes_back_as_a_new_instance(panda):
    panda.send_until_heard(panda.home)
    before = panda.states[-1].instance
    panda.controller.talking = False
    panda.node.until(lambda: "no joint states" in panda.states[-1].error, 2.0, "the silence told")
    assert panda.silent(panda.home)
    panda.controller.put(panda_joint1=0.4)
    panda.controller.talking = True
    panda.node.until(lambda: panda.states[-1].instance != before, 2.0, "a new instance")
    assert panda.states[-1].goal[0] == pytest.approx(0.4)
    assert panda.silent(panda.home)


def test_ur5_takes_arrays_and_has_no_gripper(domain):
    robot = load("ur5")
    topic = "/forward_position_controller/commands"
    parameters = {
        "arms": (ARM,), "limits_file": robot.source, "joint_prefix": "", "command": "array", "command_topic": topic,
    }  # fmt: skip
    with probe(domain) as node, process("teleop_ros2_control", "ros2_control_driver", domain, parameters):
        alone = Alone(node, robot, {topic: (Float64MultiArray, robot.names)})
        try:
            asked = (0.03, *alone.home[1:])
            alone.send_until_heard(asked)
            assert tuple(alone.controller.heard[topic][-1].data) == asked
        finally:
            alone.controller.stop()


@pytest.mark.parametrize(
    ("parameters", "word"),
    [({"joint_prefix": ""}, "joint_prefix"), ({"command": "velocity"}, "command"), ({"limits_file": "/nowhere.yaml"}, "nowhere")],
)
def test_bad_configuration_ends_the_start_with_its_line(domain, parameters, word):
    with process("teleop_ros2_control", "ros2_control_driver", domain, parameters, expect=2) as child:
        child.wait(15.0)
        assert word in child.stdout.read()


# ---- the whole chain
class Operator(threading.Thread):
    """The session's topics at 90 Hz: one hand that holds still unless moved."""

    def __init__(self, node):
        super().__init__(daemon=True)
        self.node, self.going = node, True
        self.hand, self.squeeze, self.sequence = (0.4, 0.2, 1.1), 0.0, 0
        self.frames = node.talk(records.TeleopFrame, "/teleop/frame")
        self.session = node.talk(records.SessionState, "/teleop/session/state", qos.LATCHED)

    def run(self):
        head = records.TrackedPose(records.Pose((0.0, 0.0, 1.6)), ALL)
        while self.going:
            header = records.Header(self.node.now_ns(), "tracking_origin")
            if self.sequence % 18 == 0:
                running = records.SessionState(header, int(Session.RUNNING), "debug", epoch=3, scale=1.0, arm=(ARM,), hand=(ARM,))
                self.session.publish(running)
            self.sequence += 1
            pose = records.TrackedPose(records.Pose(self.hand), ALL)
            hand = records.Controller(True, pose, pose, 0.0, self.squeeze)
            self.frames.publish(
                records.TeleopFrame(
                    header, "debug", 9, self.sequence, convention=int(Convention.ROS), head=head, left=hand,
                    world_from_tracking=records.Transform(),
                )
            )  # fmt: skip
            time.sleep(1.0 / 90.0)


@pytest.mark.parametrize(("name", "kind"), [("panda", "trajectory"), ("ur5", "array")])
def test_hand_moves_the_tool_through_retargeter_guard_and_controller(domain, name, kind):
    robot = load(name)
    chain = read_chain(urdf_path(robot.urdf), robot)
    count = len(robot.joints)
    topic = "/the_controller/commands"
    message = JointTrajectory if kind == "trajectory" else Float64MultiArray
    common = {"arms": (ARM,), "limits_file": robot.source}
    driver = {**common, "joint_prefix": "", "command": kind, "command_topic": topic}
    with (
        probe(domain) as node,
        process("teleop_ik", "retargeter", domain, {**common, "solver": "differential", "leash": "hardware"}),
        process("teleop_safety", "guard", domain, {**common, "countdown": 0.3, "leash": "hardware"}),
        process("teleop_ros2_control", "ros2_control_driver", domain, driver),
    ):
        controller = Controller(node, homes(robot), {topic: (message, robot.names)})
        authority = node.listen(records.AuthorityState, "/teleop/authority")
        commands = node.listen(records.JointCommand, f"/{ARM}/joint_command", qos.STREAM)
        operator = Operator(node)
        operator.start()

        def tool():
            return forward(chain, controller.joints(robot.names[:count])).position

        try:
            for _attempt in range(4):
                operator.squeeze = 0.0
                node.until(lambda: authority and authority[-1].arms[0].reason == "ready", 20.0, "ready")
                operator.squeeze = 1.0
                try:
                    node.until(lambda: authority[-1].arms[0].state == Authority.DRIVING, 2.0, "DRIVING")
                    break
                except TimeoutError:
                    continue
            start, moved = tool(), (0.06, 0.05, 0.04)
            home = tuple(j.home for j in robot.all_joints)
            assert controller.joints(robot.names) == pytest.approx(home, abs=1e-6), "engaging moved the arm"
            for _ in range(90):
                operator.hand = tuple(h + m / 90 for h, m in zip(operator.hand, moved))
                time.sleep(1 / 90)
            wanted = tuple(s + m for s, m in zip(start, moved))
            node.until(lambda: math.dist(tool(), wanted) < 1e-3, 4.0, f"tool at {wanted}, it is at {tool()}")
            assert all(r in (Reason.NONE, Reason.TAKE_OVER) for r in commands[-1].reason)
            for then, now in zip(commands, commands[1:]):
                for a, b, joint in zip(then.position, now.position, robot.all_joints):
                    assert abs(b - a) <= joint.velocity * 0.025 + 1e-9, f"{joint.name} leapt"
            assert node.call(Trigger, "/teleop/estop").success
            node.until(lambda: authority[-1].arms[0].state == Authority.ESTOP, 2.0, "ESTOP")
            time.sleep(0.2)
            held, before = tool(), len(controller.heard[topic])
            operator.hand = (0.3, 0.0, 1.0)
            time.sleep(0.5)
            assert len(controller.heard[topic]) == before
            assert math.dist(tool(), held) < 1e-6
        finally:
            operator.going = False
            operator.join(2.0)
            controller.stop()
