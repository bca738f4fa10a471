"""The whole chain in lockstep under controllers that have one trigger and a menu button."""

from pathlib import Path

import pytest

from teleop_bringup.lockstep import Hands, Lockstep
from teleop_bringup.lockstep_cores import Options
from teleop_common import cell, limits
from teleop_common.enums import Authority, PoseFlags
from teleop_common.records import Controller, Pose, TrackedPose
from teleop_session.bindings import load

CONFIG = Path(__file__).resolve().parents[4] / "config"
ROBOT = limits.load(CONFIG / "limits/so101.yaml")
CELL = cell.load(CONFIG / "cell.yaml")


class Simple:
    """A right hand with a simple controller; the left one has none."""

    def __init__(self):
        self.height, self.trigger, self.menu = 1.2, 0.0, False

    def hands(self, now, seen):
        at = TrackedPose(Pose((0.25, self.height, -0.4)), int(PoseFlags.ALL))
        head = TrackedPose(Pose((0.0, 1.6, 0.0)), int(PoseFlags.ALL))
        return Hands(head, Controller(), Controller(True, at, at, self.trigger, menu=self.menu))


@pytest.fixture
def driving():
    operator = Simple()
    chain = Lockstep(operator, ROBOT, CELL, Options(bindings=load(CONFIG / "bindings.yaml", "simple")))
    assert chain.run_until(lambda: chain.running, 3.0)
    chain.run(0.2)
    operator.trigger = 1.0
    assert chain.run_until(lambda: chain.authority("right") == Authority.DRIVING, 3.0)
    return chain, operator


def click(chain, operator):
    """Press menu shortly and return how far the gripper went [rad]."""
    before = chain.measured("right")[-1]
    operator.menu = True
    chain.run(0.1)
    operator.menu = False
    chain.run(1.5)
    return chain.measured("right")[-1] - before


def test_trigger_drives_and_lets_go_and_menu_moves_the_gripper_to_and_fro(driving):
    chain, operator = driving
    fingers, start = ROBOT.gripper, chain.measured("right")
    for _ in range(90):
        operator.height += 0.05 / 90
        chain.run(1 / 90)
    arm = chain.measured("right")
    assert max(abs(a - b) for a, b in zip(arm[:-1], start[:-1])) > 0.1
    assert arm[-1] == pytest.approx(start[-1], abs=0.02)
    # the first click may ask for what is; of two in a row one closes, one opens
    click(chain, operator)
    ways = [click(chain, operator), click(chain, operator)]
    full = abs(fingers.open - fingers.closed)
    assert sorted(ways) == pytest.approx([-full, full], abs=0.1 * full)
    operator.trigger = 0.0
    chain.run(0.5)
    assert chain.authority("right") == Authority.IDLE
    held = chain.log.commands["right"][-1].position
    operator.height -= 0.05
    assert click(chain, operator) == pytest.approx(0.0, abs=0.01)
    assert chain.log.commands["right"][-1].position == held
