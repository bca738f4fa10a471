"""The way home and an external owner through the whole chain in lockstep, physics and collision filter included."""

import math
from pathlib import Path

import pytest

from teleop_bringup.lockstep import Hands, Lockstep
from teleop_bringup.lockstep_cores import Options
from teleop_common import cell, limits
from teleop_common.enums import Authority, PoseFlags
from teleop_common.records import Controller, Header, JointTarget, JointTargets, Pose, TrackedPose

ROOT = Path(__file__).resolve().parents[4]
ROBOT = limits.load(ROOT / "config/limits/so101.yaml")
CELL = cell.load(ROOT / "config/cell.yaml")
HOME = tuple(j.home for j in ROBOT.all_joints)
# both arms reach inwards, their tools some centimetres apart above the bench
INWARDS = (0.0, 0.2, -0.1, 0.3, 0.4, 0.6)


class Still:
    """Two hands that do not move, and their grips."""

    def __init__(self):
        self.squeeze = {"left": 0.0, "right": 0.0}

    def hands(self, now, seen):
        def at(x, y, z):
            return TrackedPose(Pose((x, y, z)), int(PoseFlags.ALL))

        def hand(side, x):
            return Controller(True, at(x, 1.2, -0.4), at(x, 1.2, -0.4), squeeze=self.squeeze[side])

        return Hands(at(0.0, 1.6, 0.0), hand("left", -0.25), hand("right", 0.25))


def begin(**options):
    operator = Still()
    chain = Lockstep(operator, ROBOT, CELL, Options(**options))
    assert chain.run_until(lambda: chain.running, 3.0)
    return chain, operator


def go_home(chain, *arms):
    answers = []

    def ask(guard, at):
        answers.append(guard.home(at, arms))
        return answers[0].out

    chain.put(ask)
    return answers[0]


def own(chain, arm, name="policy", acquire=True):
    answers = []

    def ask(guard, at):
        answers.append(guard.own(at, arm, name, acquire))
        return answers[0].out

    chain.put(ask)
    return answers[0]


def test_both_arms_go_home_from_where_they_reach_for_each_other():
    chain, _ = begin(start=INWARDS)
    assert go_home(chain).success
    assert chain.run_until(lambda: all(chain.authority(arm) == Authority.IDLE for arm in chain.options.arms), 5.0)
    chain.run(0.5)
    for arm in chain.options.arms:
        assert chain.log.commands[arm][-1].position == pytest.approx(HOME, abs=2e-4)
        assert chain.measured(arm)[:5] == pytest.approx(HOME[:5], abs=math.radians(3.0))
        for before, now in zip(chain.log.commands[arm], chain.log.commands[arm][1:]):
            assert max(abs(b - a) for a, b in zip(before.position, now.position)) <= 1.0 * now.dt + 1e-12
    assert not [event for event in chain.log.events if "fault" in event.lower()]


def test_squeeze_takes_an_arm_over_on_its_way_home_and_the_other_goes_on():
    chain, operator = begin(start=INWARDS)
    go_home(chain)
    chain.run(0.3)
    operator.squeeze["right"] = 1.0
    chain.run(0.05)
    assert chain.authority("right") == Authority.COUNTDOWN
    held = chain.log.commands["right"][-1].position
    assert chain.run_until(lambda: chain.authority("right") == Authority.DRIVING, 2.0)
    chain.run(2.0)
    assert chain.log.commands["right"][-1].position == pytest.approx(held, abs=1e-6)
    assert chain.log.commands["left"][-1].position == pytest.approx(HOME, abs=2e-4)


def test_external_owner_leads_one_arm_while_a_hand_drives_the_other():
    chain, operator = begin()
    assert own(chain, "left").success
    operator.squeeze["right"] = 1.0
    names = ROBOT.arm_names("left")
    worst = 0.0
    for step in range(150):
        time = step / 50.0
        goal = (HOME[0] + 0.3 * math.sin(2.0 * time), *HOME[1:])

        def send(guard, at, goal=goal):
            target = JointTarget("left", "policy", guard.arms["left"].engage, (), names, goal)
            return guard.on_external(at, JointTargets(Header(at.ros), arms=(target,)))

        chain.put(send)
        chain.run(0.02)
        worst = max(worst, abs(chain.log.commands["left"][-1].position[0] - goal[0]))
    assert chain.authority("left") == Authority.EXTERNAL
    assert chain.authority("right") == Authority.DRIVING
    assert worst < 0.05
    chain.run(0.3)
    assert chain.authority("left") == Authority.IDLE
    assert chain.authority("right") == Authority.DRIVING
