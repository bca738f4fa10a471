"""The ``sim`` process: what it publishes, which commands move it, services, and how it ends."""

import json
import signal
import time

import pytest

pytest.importorskip("rclpy")

from std_msgs.msg import String  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402

from teleop_common import qos, records  # noqa: E402
from teleop_common.testing import probe, process  # noqa: E402
from teleop_interfaces.srv import SimCubes  # noqa: E402


class Bench:
    """A running sim with a probe beside it."""

    def __init__(self, node):
        self.node = node
        self.joints = node.listen(records.JointState, "/left/joint_states")
        self.other = node.listen(records.JointState, "/right/joint_states")
        self.state = node.listen(records.DriverState, "/left/driver_state")
        self.sim = node.listen(records.SimState, "/sim/state")
        self.command_publisher = node.talk(records.JointCommand, "/left/joint_command", qos.COMMAND)
        node.until(lambda: self.joints and self.other and self.state and self.sim, 15.0, "first samples of sim")
        node.until(lambda: self.command_publisher.publisher.get_subscription_count(), 5.0, "sim's subscription")

    def send(self, position, age=0.0, names=None):
        stamp = self.node.now_ns() - round(age * 1e9)
        names = self.joints[-1].name if names is None else names
        self.command_publisher.publish(records.JointCommand(header=records.Header(stamp), name=names, position=tuple(position)))

    def pan(self):
        return self.joints[-1].position[0]

    def drive_pan(self, target, steps=40):
        home = self.state[-1].goal
        for k in range(1, steps + 1):
            self.send((home[0] + (target - home[0]) * k / steps, *home[1:]))
            time.sleep(0.01)


@pytest.fixture
def bench(domain):
    with process("teleop_sim", "sim", domain), probe(domain) as node:
        yield Bench(node)


def test_streams_have_prefixed_names_measured_stamps_and_the_rates_asked_for(bench):
    start, before = time.monotonic(), len(bench.joints)
    bench.node.until(lambda: len(bench.joints) >= before + 100, 5.0, "100 joint states")
    assert 0.8 < time.monotonic() - start < 2.0
    sample = bench.joints[-1]
    assert sample.name[0] == "left_shoulder_pan"
    assert len(sample.name) == len(sample.position) == len(sample.velocity) == len(sample.effort) == 6
    assert abs(bench.node.now_ns() - sample.header.stamp) < 0.2e9
    both = bench.node.listen(records.JointState, "/joint_states")
    bench.node.until(lambda: {s.name[0] for s in both} >= {"left_shoulder_pan", "right_shoulder_pan"}, 2.0, "joints of both arms")
    assert bench.sim[-1].physics_step > 100
    assert len(bench.sim[-1].model_hash) == 16


def test_command_moves_its_arm_and_only_it(bench):
    before = bench.other[-1].position
    bench.drive_pan(0.3)
    bench.node.until(lambda: abs(bench.pan() - 0.3) < 0.01, 2.0, "left arm at its goal")
    assert max(abs(a - b) for a, b in zip(bench.other[-1].position, before, strict=True)) < 1e-3
    assert bench.node.until(lambda: bench.state[-1].goal[0] == pytest.approx(0.3), 1.0, "goal in the driver state")


def test_stale_malformed_and_far_first_commands_are_refused_and_shown(bench):
    home = bench.state[-1].goal
    reports = bench.node.listen(records.ProviderReport, "/teleop/devices/sim")
    bad = [
        {"position": (home[0] + 0.05, *home[1:]), "age": 0.3},
        {"position": (float("nan"), *home[1:])},
        {"position": home, "names": ("right_shoulder_pan", *bench.joints[-1].name[1:])},
        {"position": (1.0, *home[1:])},
    ]
    for command in bad * 5:
        bench.send(**command)
        # the command topic keeps the newest only
        time.sleep(0.01)

    def told():
        return " ".join(device.error for report in reports for device in report.devices)

    bench.node.until(lambda: all(kind in told() for kind in ("stale", "malformed", "first_step")), 3.0, "refusals in the report")
    assert abs(bench.pan() - home[0]) < 1e-3
    assert bench.state[-1].command_age == -1.0


def test_estop_holds_and_refuses_until_reset(bench):
    assert bench.node.call(Trigger, "/left/estop").success
    bench.node.until(lambda: bench.state[-1].estop, 1.0, "latched driver state")
    bench.drive_pan(0.3, 20)
    assert abs(bench.pan()) < 0.002
    assert bench.state[-1].torque_on
    assert bench.node.call(Trigger, "/left/estop/reset").success
    bench.node.until(lambda: not bench.state[-1].estop, 1.0, "released driver state")
    bench.drive_pan(0.2)
    bench.node.until(lambda: abs(bench.pan() - 0.2) < 0.01, 2.0, "left arm at its goal")


def test_torque_off_drops_commands_and_on_holds_where_the_arm_is(bench):
    assert bench.node.call(SetBool, "/left/torque", data=False).success
    bench.node.until(lambda: not bench.state[-1].torque_on, 1.0, "limp driver state")
    bench.drive_pan(0.3, 20)
    assert abs(bench.pan()) < 0.1
    assert bench.node.call(SetBool, "/left/torque", data=True).success
    bench.node.until(lambda: bench.state[-1].torque_on, 1.0, "driver state with torque")
    goal = bench.state[-1].goal
    time.sleep(0.3)
    assert bench.state[-1].goal == goal
    assert max(abs(a - b) for a, b in zip(bench.joints[-1].position, goal, strict=True)) < 0.05


def test_reset_cubes_and_play_answer_and_act(bench):
    instance = bench.state[-1].instance
    bench.drive_pan(0.3)
    cubes_before = bench.sim[-1].qpos[:35]
    assert bench.node.call(SimCubes, "/sim/cubes", seed=7).success
    bench.node.until(lambda: abs(bench.sim[-1].qpos[0] - cubes_before[0]) > 1e-4, 1.0, "moved cubes")
    assert bench.node.call(Trigger, "/sim/reset").success
    bench.node.until(lambda: abs(bench.pan()) < 1e-3 and bench.state[-1].instance != instance, 1.0, "arm at home, new instance")
    assert bench.node.call(SetBool, "/sim/play", data=False).success
    time.sleep(0.1)
    step = bench.sim[-1].physics_step
    time.sleep(0.2)
    assert bench.sim[-1].physics_step == step
    assert bench.node.call(SetBool, "/sim/play", data=True).success
    bench.node.until(lambda: bench.sim[-1].physics_step > step, 1.0, "running physics")


def test_configuration_is_latched_for_late_joiners(bench):
    heard = []
    bench.node.create_subscription(String, "/teleop/config/sim", heard.append, qos.LATCHED)
    bench.node.until(lambda: heard, 2.0, "latched configuration")
    content = json.loads(heard[0].data)
    assert content["model_hash"] == bench.sim[-1].model_hash
    assert content["params"]["physics_hz"] == 500.0
    assert content["drivers"]["left"]["torque_on"] is True


def test_single_arm_with_start_pose_and_clock(domain):
    from rosgraph_msgs.msg import Clock

    params = {"arms": ["right"], "publish_clock": True, "start_positions": [0.1, -0.8, 0.7, 0.9, 0.0, 0.2]}
    with process("teleop_sim", "sim", domain, params), probe(domain) as node:
        joints, clocks = node.listen(records.JointState, "/right/joint_states"), []
        node.create_subscription(Clock, "/clock", clocks.append, qos.NEWEST)
        node.until(lambda: joints and clocks, 15.0, "joints and clock")
        assert joints[-1].position == pytest.approx(params["start_positions"], abs=0.005)
        first = clocks[-1].clock
        later = node.until(lambda: clocks[-1].clock if clocks[-1].clock != first else None, 1.0, "running clock")
        assert (later.sec, later.nanosec) > (first.sec, first.nanosec)


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"arms": ["left", "third"]}, "third"),
        ({"limits_file": "/nowhere/limits.yaml"}, "/nowhere/limits.yaml"),
        ({"start_positions": [0.0, 0.0]}, "start_positions"),
        ({"physics_hz": 5.0}, "physics_hz"),
    ],
)
def test_bad_configuration_stops_the_start_with_one_line(domain, params, named):
    with process("teleop_sim", "sim", domain, params, expect=2) as child:
        output = child.stdout.read()
        child.wait(10.0)
    lines = [line for line in output.splitlines() if line.strip()]
    assert len(lines) == 1
    assert named in lines[0]


@pytest.mark.parametrize("executable", ["sim", "sim_cameras"])
def test_sigint_ends_quietly_within_five_seconds(domain, executable):
    with process("teleop_sim", executable, domain) as child, probe(domain) as node:
        topic = {"sim": "/teleop/devices/sim", "sim_cameras": "/teleop/devices/camera/overhead"}[executable]
        reports = node.listen(records.ProviderReport, topic)
        node.until(lambda: reports, 20.0, "first report")
        child.send_signal(signal.SIGINT)
        assert child.wait(5.0) == 0
        assert "Traceback" not in child.stdout.read()
