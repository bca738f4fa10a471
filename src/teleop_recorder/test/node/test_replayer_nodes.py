"""The replaying nodes: a take shown in a running simulation, and one played onto the arms of a probe that is guard and driver."""

import json

import h5py
import numpy as np
import pytest

pytest.importorskip("rclpy")

from teleop_common import cell, limits, paths, records  # noqa: E402
from teleop_common.enums import Authority  # noqa: E402
from teleop_common.testing import probe, process  # noqa: E402
from teleop_interfaces.srv import ArmOwner, ReplaySeek  # noqa: E402
from teleop_recorder import scene_files  # noqa: E402
from teleop_recorder.poses import ScenePoses  # noqa: E402

ARMS = ("left", "right")
ROBOT = limits.load(paths.config("limits/so101.yaml"))
HOME = np.array([joint.home for joint in ROBOT.all_joints])
ROWS = 200


def film(folder):
    """Write a session: the left arm turns about its base, the cubes where the scene has them."""
    spec, model = scene_files.compiled(ARMS, cell.load(paths.config("cell.yaml")), ROBOT)
    made, state = ScenePoses(model, ARMS), np.array(model.qpos0)
    address, rows = model.joint("left_shoulder_pan").qposadr[0], []
    for n in range(ROWS):
        state[address] = 0.005 * n
        rows.append({path: value.copy() for path, value in made.from_state(state).items()})
    with h5py.File(folder / "episodes.hdf5", "w") as file:
        file.attrs["stage_snapshot"] = scene_files.write(folder / "scene", spec, model, {})
        group = file.create_group("episodes/episode_00000")
        group.attrs["links"] = json.dumps({arm: list(links) for arm, links in made.links.items()})
        group.attrs["robot"], group.attrs["arms"] = ROBOT.robot, json.dumps(["left"])
        group.attrs["joint_names"] = json.dumps(ROBOT.names)
        group["meta/commit"], group["meta/time/episode_time"] = np.arange(ROWS), 0.01 * np.arange(ROWS)
        group["meta/time/stamp_ns"] = 10_000_000 * np.arange(ROWS)
        group["control/left/committed"] = HOME + np.outer(0.002 * np.arange(ROWS), np.eye(6)[0])
        for path in rows[0]:
            group[path] = np.array([row[path] for row in rows])
    return folder


def test_take_is_shown_by_the_simulation_which_then_goes_on_as_before(domain, tmp_path):
    session = film(tmp_path)
    with process("teleop_sim", "sim", domain), probe(domain) as node:
        joints = node.listen(records.JointState, "/left/joint_states")
        drivers = node.listen(records.DriverState, "/left/driver_state")
        states = node.listen(records.SimState, "/sim/state")
        node.until(lambda: joints and drivers, 15.0, "sim")
        before = drivers[-1]
        with process("teleop_recorder", "replay_poses", domain, {"session": str(session), "still": True}):
            node.until(lambda: not drivers[-1].torque_on, 15.0, "sleeping drivers")
            steps = states[-1].physics_step
            assert node.call(ReplaySeek, "/teleop/replayer/seek", time=1.0).success
            node.until(lambda: joints[-1].position[0] == pytest.approx(0.5, abs=1e-4), 5.0, "the frame at 1 s")
            assert states[-1].physics_step - steps <= 1
        node.until(lambda: drivers[-1].torque_on, 5.0, "drivers awake")
        node.until(lambda: joints[-1].position[0] == pytest.approx(HOME[0], abs=1e-2), 1.0, "the arm where it was")
        assert drivers[-1].goal == before.goal
        assert drivers[-1].instance != before.instance


class Arm:
    """A guard that obeys an owner, and the driver of its arm."""

    def __init__(self, node):
        self.node, self.state, self.owner, self.reference = node, Authority.IDLE, "", tuple(HOME)
        self.sequence = 0
        self.targets = node.listen(records.JointTargets, "/teleop/joint_targets_external")
        self.driver = node.talk(records.DriverState, "/left/driver_state")
        self.authority = node.talk(records.AuthorityState, "/teleop/authority")
        node.serve(ArmOwner, "/teleop/arm_owner", self.own)
        node.every(100.0, self.tick)

    def own(self, request, answer):
        self.state = Authority.REPLAY if request.acquire else Authority.IDLE
        self.owner = request.owner if request.acquire else ""
        answer.success = True
        return answer

    def tick(self):
        if self.targets:
            self.reference = self.targets[-1].arms[0].position
        self.sequence += 1
        arm = records.ArmAuthority("left", int(self.state), 9, owner=self.owner, reference=self.reference)
        self.authority.publish(records.AuthorityState(records.Header(self.node.now_ns()), self.sequence, (arm,)))


def test_arms_that_are_not_simulated_need_confirmation_and_are_led_and_given_back(domain, tmp_path):
    session = film(tmp_path)
    with probe(domain) as node:
        arm = Arm(node)
        parameters = {"session": str(session), "ease_speed": 2.0}
        with process("teleop_recorder", "replay_actions", domain, parameters, expect=2) as child:
            assert child.wait(15.0) == 2
        assert arm.owner == ""
        assert not arm.targets
        with process("teleop_recorder", "replay_actions", domain, parameters | {"real": True}) as child:
            node.until(lambda: arm.state == Authority.REPLAY, 15.0, "the arm asked for")
            assert child.wait(10.0) == 0
        assert arm.state == Authority.IDLE
        assert arm.targets[0].arms[0].engage == 9
        assert arm.targets[-1].arms[0].position[0] == pytest.approx(HOME[0] + 0.002 * (ROWS - 1))
