"""A real retargeter, recorded by real recorders, and its targets computed again from the bags."""

import math
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

pytest.importorskip("rclpy")

from teleop_common import limits, paths, qos, records  # noqa: E402
from teleop_common.enums import Authority, Convention, PoseFlags, Session  # noqa: E402
from teleop_common.testing import probe, process  # noqa: E402
from teleop_ik import testing  # noqa: E402
from teleop_ik.resim import bag  # noqa: E402

ARMS = ("left", "right")
ROBOT = limits.load(paths.config("limits/so101.yaml"))
HOME = tuple(j.home for j in ROBOT.all_joints)
ALL = int(PoseFlags.ALL)


class Peers:
    """Session, guard, drivers and operator around the retargeter: the guard commits what it is asked, servos obey at once."""

    def __init__(self, node):
        self.node, self.sequence = node, 0
        self.frames = node.talk(records.TeleopFrame, "/teleop/frame")
        self.authority = node.talk(records.AuthorityState, "/teleop/authority")
        self.session = node.talk(records.SessionState, "/teleop/session/state", qos.LATCHED)
        self.joints = {arm: node.talk(records.JointState, f"/{arm}/joint_states") for arm in ARMS}
        self.targets = node.listen(records.JointTargets, "/teleop/joint_targets")

    def drive(self, seconds, hz=60.0):
        began, due = time.monotonic(), time.monotonic()
        while (t := time.monotonic() - began) < seconds:
            self.step(t)
            due += 1.0 / hz
            time.sleep(max(0.0, due - time.monotonic()))

    def step(self, t):
        header = records.Header(self.node.now_ns())
        self.sequence += 1
        reference = {arm.arm: arm.position for arm in self.targets[-1].arms} if self.targets else {}
        words = tuple(
            records.ArmAuthority(arm, int(Authority.DRIVING), 7, arm, "", False, ROBOT.arm_names(arm), reference.get(arm, HOME))
            for arm in ARMS
        )
        for arm in ARMS:
            state = records.JointState(header, ROBOT.arm_names(arm), reference.get(arm, HOME))
            self.joints[arm].publish(state)
        self.authority.publish(records.AuthorityState(header, self.sequence, words))
        self.session.publish(records.SessionState(header, int(Session.RUNNING), "debug", epoch=3, arm=ARMS, hand=ARMS))
        hands = []
        for i in range(2):
            place = (0.3 + 0.05 * math.sin(2.0 * t), 0.25 - 0.5 * i, 1.1 - 0.2 * abs(math.sin(t)))
            pose = records.TrackedPose(records.Pose(place), ALL)
            hands.append(records.Controller(True, pose, pose, 0.5 + 0.5 * math.sin(3.0 * t), 1.0))
        head = records.TrackedPose(records.Pose((0.0, 0.0, 1.6)), ALL)
        self.frames.publish(
            records.TeleopFrame(
                header, "debug", 11, self.sequence, convention=int(Convention.ROS), head=head, left=hands[0], right=hands[1]
            )
        )


@contextmanager
def recorder(path):
    """Record what a re-simulation needs, as a person would."""
    child = subprocess.Popen(
        ["ros2", "bag", "record", "-o", str(path), "-e", bag.TOPICS], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        yield
    finally:
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate(timeout=15.0)
        assert child.returncode == 0, output


def resim(path, *options):
    command = [sys.executable, "-m", "teleop_ik.resim.cli", str(path), *options]
    return subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), check=False)


def recorded(path):
    return list(path.glob("*.mcap"))


@pytest.mark.parametrize("solver", ["differential", "analytic"])
def test_a_recorded_drive_comes_out_equal_also_where_the_bag_began_in_its_middle(domain, tmp_path, solver):
    with process("teleop_ik", "retargeter", domain, {"solver": solver}), probe(domain) as node:
        peers = Peers(node)
        with recorder(tmp_path / "whole"):
            node.until(lambda: recorded(tmp_path / "whole"), 15.0, "recorder")
            node.until(lambda: peers.step(0.0) or (peers.targets and peers.targets[-1].arms), 15.0, "first targets")
            peers.drive(1.5)
            with recorder(tmp_path / "late"):
                peers.drive(4.0)
    for name, least in (("whole", 200), ("late", 60)):
        done = resim(tmp_path / name)
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
        recording = bag.read(tmp_path / name)
        judged = int(done.stdout.split(" computed again")[0].rsplit(" ", 1)[1])
        assert judged > least, done.stdout
        assert "0 differences" in done.stdout
        assert any(max(abs(p - h) for p, h in zip(arm.position, HOME)) > 0.02 for t in recording.targets for arm in t.arms)


@pytest.fixture
def rows():
    """A drive of a second and a half, as rows of a bag."""
    from dataclasses import asdict

    from teleop_common import cell
    from teleop_ik.params import RetargeterParams

    return testing.Drive(asdict(RetargeterParams()), ROBOT, cell.load(paths.config("cell.yaml")), seed=3).play(1.5).rows


def test_a_tampered_bag_names_the_first_difference_and_its_inputs(rows, tmp_path):
    at = [k for k, (topic, _, _) in enumerate(rows) if topic == "/teleop/joint_targets"][40]
    topic, targets, received = rows[at]
    arm = targets.arms[0]
    wrong = targets._replace(arms=(arm._replace(position=(arm.position[0] + 1e-12, *arm.position[1:])), *targets.arms[1:]))
    rows[at] = (topic, wrong, received)
    testing.write(tmp_path / "b", rows)
    done = resim(tmp_path / "b")
    assert done.returncode == 1
    assert "first difference: target 40" in done.stdout
    assert "arms[left].position[0]" in done.stdout
    assert f'"sequence": {targets.frame_sequence}' in done.stdout
    assert resim(tmp_path / "b", "--tolerance", "1e-9").returncode == 0


def test_bags_that_cannot_be_re_simulated_are_refused_in_one_line(rows, tmp_path):
    config = "/teleop/config/retargeter"
    cases = {
        "recorded model": [(t, {**v, "model_hash": "0123"} if t == config else v, r) for t, v, r in rows],
        "state": [(t, {**v, "state": {"arms": []}} if t == config else v, r) for t, v, r in rows],
        "at_ns": [(t, {"state": {}} if t == config else v, r) for t, v, r in rows],
        "/teleop/joint_targets": [row for row in rows if row[0] != "/teleop/joint_targets"],
        config: [row for row in rows if row[0] != config],
    }
    for k, (said, changed) in enumerate(cases.items()):
        testing.write(tmp_path / str(k), changed)
        done = resim(tmp_path / str(k))
        assert done.returncode == 2, f"{said}: {done.stdout}{done.stderr}"
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
        assert not done.stdout


def test_a_bag_that_lost_messages_says_which_and_is_no_difference(rows, tmp_path):
    topics = [k for k, (topic, _, _) in enumerate(rows) if topic == "/left/joint_states"]
    testing.write(tmp_path / "b", [row for k, row in enumerate(rows) if k not in topics[30:33]])
    done = resim(tmp_path / "b")
    assert done.returncode == 3, done.stdout
    assert "missing on /left/joint_states: 1 (stamp " in done.stdout
    assert "0 differences" in done.stdout
