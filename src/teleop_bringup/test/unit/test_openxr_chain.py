"""The whole chain in lockstep behind the OpenXR provider: what no real runtime can be made to do on demand."""

from pathlib import Path

import pytest

from teleop_bringup.lockstep import Hands, Lockstep
from teleop_common import cell, limits
from teleop_common.enums import Authority
from teleop_common.records import Controller, TrackedPose
from teleop_input.openxr.provider import OpenXrProvider
from teleop_input.openxr.runtime import HandSample, Location, LocationBits, Sample, SpaceChange, XrState
from teleop_input.openxr.scripted_runtime import ScriptedRuntime

CONFIG = Path(__file__).resolve().parents[4] / "config"
ROBOT = limits.load(CONFIG / "limits/so101.yaml")
CELL = cell.load(CONFIG / "cell.yaml")
LEVEL = (0.0, 0.0, 0.0, 1.0)
TURNED = (-0.34, 0.0, 0.0, 0.94)  # as a fist has its grip against that of a controller: 40 degrees
VALID = LocationBits.ORIENTATION_VALID | LocationBits.POSITION_VALID

OF_EITHER = pytest.mark.parametrize("driving", [False, True], ids=["own session", "session of others"], indirect=True)


class Wearer:
    """Whose right hand a scripted runtime sees."""

    def __init__(self, external=False):
        self.height, self.depth, self.turn = 1.2, -0.4, LEVEL
        self.squeeze, self.bits, self.profile = 0.0, LocationBits.ALL, 3
        self.runtime = ScriptedRuntime()
        self.provider = OpenXrProvider(self.runtime, connection=7, external=external)
        if external:
            self.provider.step(0.0, 0, 0)
            self.runtime.running, self.runtime.state = True, XrState.FOCUSED

    def hands(self, now, seen):
        at = Location((0.25, self.height, self.depth), self.turn, self.bits)
        head = Location((0.0, 1.6, 0.0), LEVEL, LocationBits.ALL)
        hand = HandSample(True, at, at, squeeze=self.squeeze, profile=self.profile)
        self.runtime.sample_now = Sample(0, head, HandSample(), hand)
        frame = self.provider.step(now, round(now * 1e9), round(now * 1e9))
        if frame is None:
            return Hands(TrackedPose(), Controller(), Controller())
        return Hands(frame.head, frame.left, frame.right, frame.recentred, frame.connection)


@pytest.fixture
def driving(request):
    wearer = Wearer(external=getattr(request, "param", False))
    chain = Lockstep(wearer, ROBOT, CELL)
    assert chain.run_until(lambda: chain.running, 3.0)
    chain.run(0.5)
    wearer.squeeze = 1.0
    assert chain.run_until(lambda: chain.authority("right") == Authority.DRIVING, 3.0)
    return chain, wearer


def stands(chain, wearer):
    """Whether the arm's commands stand still while the hand goes on moving for a second."""
    held = {c.position for c in chain.log.commands["right"][-1:]}
    chain.log.commands["right"].clear()
    for _ in range(90):
        wearer.height += 0.1 / 90
        chain.run(1 / 90)
    return {c.position for c in chain.log.commands["right"]} <= held


def test_driven_hand_moves_its_arm(driving):
    assert not stands(*driving)


def test_lost_focus_holds_the_arm_until_a_new_squeeze(driving):
    chain, wearer = driving
    wearer.runtime.change(XrState.VISIBLE)
    chain.run(0.05)
    assert stands(chain, wearer)
    wearer.runtime.change(XrState.FOCUSED)  # the grip is still closed, and elsewhere
    chain.run(0.05)
    assert stands(chain, wearer)
    assert chain.authority("right") == Authority.IDLE
    wearer.squeeze = 0.0
    chain.run(0.1)
    wearer.squeeze = 1.0
    assert chain.run_until(lambda: chain.authority("right") == Authority.DRIVING, 3.0)


@pytest.mark.parametrize("bits", [VALID, LocationBits.ALL & ~LocationBits.POSITION_TRACKED, VALID & ~LocationBits.POSITION_VALID])
def test_pose_that_is_valid_and_not_tracked_holds_the_arm_and_a_short_loss_is_regained(driving, bits):
    chain, wearer = driving
    wearer.bits = bits
    chain.run(0.05)
    held = chain.log.commands["right"][-1].position
    wearer.height += 0.1
    chain.run(0.3)
    assert chain.log.commands["right"][-1].position == held
    wearer.bits = LocationBits.ALL
    chain.run(0.1)
    assert chain.authority("right") == Authority.DRIVING
    assert chain.log.commands["right"][-1].position == pytest.approx(held, abs=1e-6)  # anchored anew where the hand is now
    wearer.bits = bits
    chain.run(0.05)
    assert stands(chain, wearer)
    assert chain.authority("right") == Authority.IDLE


@OF_EITHER
def test_moved_play_space_moves_no_arm(driving):
    chain, wearer = driving
    held = chain.log.commands["right"][-1].position
    if wearer.provider.external:
        wearer.provider.recentred()
    else:
        wearer.runtime.pending.append(SpaceChange(0))
    wearer.depth -= 0.15
    chain.run(0.5)
    assert all(c.position == pytest.approx(held, abs=1e-6) for c in chain.log.commands["right"][-50:])
    assert chain.authority("right") == Authority.DRIVING  # anchored anew where the hand is now


@OF_EITHER
def test_hand_that_becomes_another_device_holds_the_arm_until_a_new_squeeze(driving):
    chain, wearer = driving
    # the controller is laid down: the runtime goes over to the hand, a fist, whose grip pose lies elsewhere
    wearer.profile, wearer.depth, wearer.turn = 4, -0.48, TURNED
    assert stands(chain, wearer)
    assert chain.authority("right") == Authority.IDLE
    wearer.squeeze = 0.0
    chain.run(0.1)
    wearer.squeeze = 1.0
    assert chain.run_until(lambda: chain.authority("right") == Authority.DRIVING, 3.0)


@OF_EITHER
def test_session_that_stops_and_begins_again_needs_a_new_squeeze(driving):
    chain, wearer = driving
    if wearer.provider.external:
        wearer.runtime.running = False
    else:
        wearer.runtime.change(XrState.SYNCHRONIZED, XrState.STOPPING)
    chain.run(0.02)
    assert stands(chain, wearer)
    if wearer.provider.external:
        wearer.runtime.running = True
    else:
        wearer.runtime.change(XrState.READY)
    chain.run(0.1)
    assert stands(chain, wearer)
    assert chain.authority("right") == Authority.IDLE
