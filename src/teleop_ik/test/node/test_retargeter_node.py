"""The retargeter as a process, the test playing session, guard and drivers."""

import json
import subprocess
import time
from contextlib import contextmanager

import pytest

pytest.importorskip("rclpy")

from std_msgs.msg import String  # noqa: E402

from teleop_common import limits, paths, qos, records  # noqa: E402
from teleop_common.enums import Authority, Convention, PoseFlags, Session, TargetStatus  # noqa: E402
from teleop_common.testing import probe, process  # noqa: E402
from teleop_ik.setup_arms import model_hash  # noqa: E402

ARMS = ("left", "right")


class Graph:
    """What the retargeter's peers send, at the pace of the test."""

    def __init__(self, node, arms=ARMS):
        self.node = node
        self.robot = limits.load(paths.config("limits/so101.yaml"))
        self.targets = node.listen(records.JointTargets, "/teleop/joint_targets")
        self.frames = node.talk(records.TeleopFrame, "/teleop/frame")
        self.authority = node.talk(records.AuthorityState, "/teleop/authority")
        self.session = node.talk(records.SessionState, "/teleop/session/state", qos.LATCHED)
        self.joints = {arm: node.talk(records.JointState, f"/{arm}/joint_states") for arm in ARMS}
        self.home = tuple(j.home for j in self.robot.all_joints)
        self.sequence = 0
        talkers = [self.frames, self.authority, self.session, *(self.joints[arm] for arm in arms)]
        node.until(lambda: all(t.publisher.get_subscription_count() for t in talkers), 15.0, "subscriptions of the retargeter")
        # a reader may match later than its writer: go on until the first answer that has heard everyone
        node.until(
            lambda: (found := self.send((0.0, 0.0, 1.0), state=Authority.IDLE, feedback=False)) and found.arms, 15.0, "answer"
        )

    def send(
        self, position, *, engage=7, state=Authority.DRIVING, flags=int(PoseFlags.ALL), age_ns=0, feedback=True, hand="right"
    ):
        """Send one instant of the graph and return the targets that answer it, or None."""
        now = self.node.now_ns()
        header = records.Header(now)
        self.sequence += 1
        arms = tuple(
            records.ArmAuthority(
                arm=arm, state=int(state), engage=engage, hand=arm, name=self.robot.arm_names(arm), reference=self.home
            )
            for arm in ARMS
        )
        self.session.publish(records.SessionState(header, int(Session.RUNNING), "debug", epoch=3, arm=ARMS, hand=ARMS))
        self.authority.publish(records.AuthorityState(header, self.sequence, arms))
        if feedback:
            for arm in ARMS:
                # any order of names is allowed
                names = tuple(reversed(self.robot.arm_names(arm)))
                self.joints[arm].publish(records.JointState(header, names, tuple(reversed(self.home))))
        time.sleep(0.02)
        pose = records.TrackedPose(records.Pose(position), flags)
        still = records.TrackedPose(records.Pose((0.1, 0.3, 1.0)), int(PoseFlags.ALL))
        hands = {side: records.Controller(True, still, still, 0.0, 1.0) for side in ARMS}
        hands[hand] = records.Controller(True, pose, pose, 0.0, 1.0)
        head = records.TrackedPose(records.Pose((0.0, 0.0, 1.6)), int(PoseFlags.ALL))
        self.frames.publish(
            records.TeleopFrame(
                records.Header(now - age_ns, "tracking_origin"),
                "debug",
                11,
                self.sequence,
                convention=int(Convention.ROS),
                head=head,
                left=hands["left"],
                right=hands["right"],
            )
        )
        wanted = self.sequence
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            for targets in self.targets:
                if targets.frame_sequence == wanted:
                    return targets
            time.sleep(0.002)
        return None


@contextmanager
def running(domain, **params):
    with process("teleop_ik", "retargeter", domain, params), probe(domain) as node:
        yield Graph(node, params.get("arms", ARMS))


def arm_of(targets, name):
    return next(arm for arm in targets.arms if arm.arm == name)


def test_hand_moves_only_its_own_arm_and_the_first_target_is_the_reference(domain):
    with running(domain) as graph:
        first = graph.send((0.1, -0.3, 1.0))
        assert first.connection == 11
        assert first.session_epoch == 3
        assert first.authority_sequence == graph.sequence
        for arm in ARMS:
            assert arm_of(first, arm).position == graph.home
            assert arm_of(first, arm).engage == 7
            assert arm_of(first, arm).name == graph.robot.arm_names(arm)
        for step in range(1, 6):
            last = graph.send((0.1, -0.3, 1.0 + 0.001 * step))
        assert arm_of(last, "left").position == pytest.approx(graph.home, abs=1e-4)
        assert max(abs(a - b) for a, b in zip(arm_of(last, "right").position, graph.home)) > 0.005
        assert arm_of(last, "right").status == TargetStatus.OK


def test_untracked_hand_holds_and_its_return_anchors_anew(domain):
    with running(domain) as graph:
        graph.send((0.1, -0.3, 1.0))
        lost = graph.send((0.4, -0.3, 1.0), flags=int(PoseFlags.POSITION_VALID))
        assert arm_of(lost, "right").status == TargetStatus.HELD
        assert arm_of(lost, "right").position == graph.home
        back = graph.send((0.35, -0.3, 1.0))
        assert arm_of(back, "right").position == graph.home
        assert arm_of(back, "right").status == TargetStatus.OK


def test_no_feedback_holds_and_old_frames_are_refused(domain):
    with running(domain) as graph:
        blind = graph.send((0.1, -0.3, 1.0), feedback=False)
        assert {arm.status for arm in blind.arms} == {int(TargetStatus.NO_FEEDBACK)}
        assert graph.send((0.1, -0.3, 1.0), age_ns=300_000_000) is None
        assert graph.send((0.1, -0.3, 1.0)) is not None


def test_configuration_and_report_are_published(domain):
    with running(domain, solver="differential", arms=("left",)) as graph:
        heard = []
        graph.node.create_subscription(String, "/teleop/config/retargeter", heard.append, qos.LATCHED)
        reports = graph.node.listen(records.ProviderReport, "/teleop/devices/retargeter")
        graph.node.until(lambda: heard and reports, 5.0, "configuration and report")
        config = json.loads(heard[0].data)
        assert config["parameters"]["solver"] == "differential"
        assert config["model_hash"] == model_hash(graph.robot)
        assert config["limits"]["joints"][0]["upper"] == graph.robot.joints[0].upper
        assert config["cell"]["mounts"]["left"]["position"]
        assert config["state"]["arms"][0]["anchor"] is None
        graph.node.until(lambda: json.loads(heard[-1].data)["steps"] > 0, 5.0, "the state after a step")
        assert reports[0].provider_id == "node/retargeter"


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"arms": ("middle",)}, "middle"),
        ({"solver": "magic"}, "one of differential, analytic"),
        ({"limits_file": "/nowhere.yaml"}, "/nowhere.yaml"),
        ({"trigger_dead_zone": 0.9}, "trigger_dead_zone"),
    ],
)
def test_bad_configuration_stops_the_start_with_one_line(domain, params, said):
    with process("teleop_ik", "retargeter", domain, params, expect=2) as child:
        output, _ = child.communicate(timeout=15.0)
    assert said in output
    assert "Traceback" not in output
    assert isinstance(child, subprocess.Popen)
