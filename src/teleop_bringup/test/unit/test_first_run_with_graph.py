"""The judges of the first run on what session, retargeter, guard and physics say, in lockstep; a script moves the hands."""

import math
from pathlib import Path

from teleop_bringup.lockstep import Hands, Lockstep
from teleop_bringup.lockstep_cores import Options
from teleop_common import cell, limits
from teleop_common.enums import PoseFlags
from teleop_common.records import Controller, Pose, TrackedPose
from teleop_hw_so101.first_run import KEYS, Progress
from teleop_hw_so101.tools import guide as guides
from teleop_hw_so101.tools.desk import Desk
from teleop_hw_so101.tools.guide import Guide
from teleop_hw_so101.tools.testing import Person

ROOT = Path(__file__).resolve().parents[4]
ROBOT = limits.load(ROOT / "config/limits/so101.yaml")
ARMS = ("left", "right")
OUT = {"left": -1.0, "right": 1.0}  # OpenXR x is right


class Operator:
    """Two hands 0.5 m apart before somebody who looks ``yaw`` [rad] to the left."""

    def __init__(self, yaw):
        self.yaw = yaw
        self.outwards = {"left": 0.25, "right": 0.25}
        self.squeeze, self.trigger = dict.fromkeys(ARMS, 0.0), dict.fromkeys(ARMS, 0.0)

    def hands(self, now, seen):
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        turned = (0.0, math.sin(self.yaw / 2.0), 0.0, math.cos(self.yaw / 2.0))

        def hand(side):
            x, z = OUT[side] * self.outwards[side], -0.4
            pose = TrackedPose(Pose((c * x + s * z, 1.2, -s * x + c * z), turned), int(PoseFlags.ALL))
            return Controller(True, pose, pose, trigger=self.trigger[side], squeeze=self.squeeze[side])

        return Hands(TrackedPose(Pose((0.0, 1.6, 0.0), turned), int(PoseFlags.ALL)), hand("left"), hand("right"))


class Graph:
    """The topics of a lockstep, as the first run's watcher gives them."""

    def __init__(self, chain):
        self.chain, self.frame = chain, None
        plain = chain.cores.guard.on_frame

        def heard(at, frame):
            self.frame = frame
            return plain(at, frame)

        chain.cores.guard.on_frame = heard

    def get(self, topic):
        chain = self.chain
        at = chain._at()
        arm = topic.split("/")[1]
        return {
            "/teleop/guard/state": lambda: chain.cores.guard.guard_state(at),
            "/teleop/authority": lambda: chain._authority,
            "/teleop/frame": lambda: self.frame,
            "/teleop/session/state": lambda: chain.cores.session.session_state(at.ros),
            f"/{arm}/joint_states": lambda: chain.log.joints[arm][-1],
        }[topic]()

    def close(self):
        pass


def squeeze(operator, *sides):
    for side in sides:
        operator.squeeze[side] = 1.0
    for _ in range(26):  # the countdown
        yield


def release(operator):
    operator.squeeze = dict.fromkeys(ARMS, 0.0)
    for _ in range(4):
        yield


def move(operator, ways, steps):
    for _ in range(steps):
        for side, way in ways.items():
            operator.outwards[side] += way / steps
        yield


def directions(operator):
    for side in ARMS:
        yield from squeeze(operator, side)
        yield from move(operator, {side: 0.08}, 12)
        yield from move(operator, {}, 10)
        yield from release(operator)


def feels(operator):
    for side in ARMS:
        yield from squeeze(operator, side)
        for trigger in (0.0, 0.5, 1.0, 0.5, 0.0):
            operator.trigger[side] = trigger
            yield from move(operator, {}, 20)
        yield from release(operator)


def provokes(operator):
    yield from squeeze(operator, *ARMS)
    yield from move(operator, dict.fromkeys(ARMS, -0.3), 100)
    yield from move(operator, dict.fromkeys(ARMS, 0.3), 60)
    yield from release(operator)


def first_run(tmp_path, monkeypatch, yaw):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    kept = guides.progress_file()
    kept.parent.mkdir(parents=True)
    kept.write_text(Progress(dict.fromkeys(KEYS, "before")).dumps())
    operator, person = Operator(yaw), Person()
    chain = Lockstep(operator, ROBOT, cell.load(ROOT / "config/cell.yaml"), Options())
    assert chain.run_until(lambda: chain.running, 3.0)
    chain.run(0.5)

    def script():
        yield from directions(operator)
        yield from feels(operator)
        yield from provokes(operator)

    acts = script()

    def wait(seconds):
        next(acts, None)
        chain.run(seconds)

    person.hand = iter([True] * 1500)
    desk = Desk(person, ROBOT, lambda device: None, tuple, wait)
    guide = Guide(desk, ARMS, {}, ROOT / "config/cell.yaml", lambda: Graph(chain), lambda: "noon")
    return guide.run("direction")


def test_first_run_beside_the_real_cores_is_good_for_an_operator_who_looks_aside(tmp_path, monkeypatch):
    good, result = first_run(tmp_path, monkeypatch, 1.2)
    assert good, result
    assert "'left': hand" in result["seen"]["direction"]
    assert "gripper went through" in result["seen"]["feel"]
    assert "came apart again" in result["seen"]["guard"]


def test_arms_whose_mapping_is_turned_around_are_told_by_the_direction(tmp_path, monkeypatch):
    # the retargeter is told the arms faced the operator; the judge is told what the session says
    from teleop_bringup import lockstep

    plain = lockstep.make_cores

    def turned(*args, **more):
        cores = plain(*args, **more)
        step = cores.retargeter.step
        cores.retargeter.step = lambda mono, ros, frame, authority, session, feedback: step(
            mono, ros, frame, authority, session._replace(yaw=math.pi), feedback
        )
        return cores

    monkeypatch.setattr(lockstep, "make_cores", turned)
    good, result = first_run(tmp_path, monkeypatch, 0.0)
    assert not good
    assert result["stopped_at"] == "direction"
    assert "parity" in result["seen"]["direction"]
