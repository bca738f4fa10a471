"""Hours of work through the whole chain on its virtual clock: nothing grows, nothing drifts; a day nightly, a minute in CI."""

import gc
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest

from teleop_bringup.lockstep import Hands, Lockstep
from teleop_bringup.lockstep_cores import Options
from teleop_common import cell, limits
from teleop_common.enums import Authority, Counter, PoseFlags
from teleop_common.records import Controller, Pose, TrackedPose

ROOT = Path(__file__).resolve().parents[4]
ROBOT = limits.load(ROOT / "config/limits/so101.yaml")
CELL = cell.load(ROOT / "config/cell.yaml")
ARMS = ("left", "right")
NIGHTLY = bool(os.environ.get("TELEOP_NIGHTLY"))
HOURS = float(os.environ.get("TELEOP_SOAK_HOURS") or (24.0 if NIGHTLY else 0.016))
# half of the live graph's rates: a day then takes some three hours
RATES = {"physics_hz": 200.0, "tick_hz": 100.0, "joint_state_hz": 50.0, "sim_state_hz": 10.0, "frame_hz": 60.0}
LOOP = 2.0  # [s] of a hand's way there and back
PAGE = 4096


class Worker:
    """Both hands go along a loop while their grips are closed; at times the operator is gone."""

    def __init__(self):
        self.begun, self.squeeze, self.there = math.inf, 0.0, True

    def hands(self, now, seen):
        if not self.there:
            return Hands(TrackedPose(), Controller(), Controller())
        turn = 2.0 * math.pi * min(max((now - self.begun) / LOOP, 0.0), 1.0)
        x, y, z = 0.04 * math.sin(turn), 0.03 * math.sin(2.0 * turn), 0.04 * (1.0 - math.cos(turn))

        def hand(side):
            pose = TrackedPose(Pose((side + x, 1.2 + y, -0.4 + z)), int(PoseFlags.ALL))
            return Controller(True, pose, pose, squeeze=self.squeeze, trigger=abs(math.sin(turn / 2.0)))

        return Hands(TrackedPose(Pose((0.0, 1.6, 0.0)), int(PoseFlags.ALL)), hand(-0.25), hand(0.25))


def begin(**options):
    operator = Worker()
    chain = Lockstep(operator, ROBOT, CELL, Options(countdown=0.2, **options))
    assert chain.run_until(lambda: chain.running, 3.0)
    return chain, operator


def work(chain, operator, gone):
    """Squeeze, go along the loop and let go; with ``gone`` the operator vanishes at the end with closed grips."""
    operator.squeeze = 1.0
    chain.run(0.4)
    assert {chain.authority(arm) for arm in ARMS} == {Authority.DRIVING}
    operator.begun = chain.now
    chain.run(LOOP + 0.4)
    assert {chain.authority(arm) for arm in ARMS} == {Authority.DRIVING}
    if gone:
        operator.there = False
        chain.run(0.5)
        assert {chain.authority(arm) for arm in ARMS} == {Authority.IDLE}
        operator.there = True
        chain.run(0.3)  # back with a grip that is still closed: it must open first
        assert {chain.authority(arm) for arm in ARMS} == {Authority.IDLE}
    operator.squeeze, operator.begun = 0.0, math.inf
    chain.run(0.3)
    return np.array([chain.log.commands[arm][-1].position for arm in ARMS])


def resident():
    """Return the memory of this process [bytes]."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


@pytest.mark.timeout(300 + 1800 * HOURS)
def test_day_of_work_leaves_no_trace():
    chain, operator = begin(**RATES)
    rounds, ends, grown, kept, states = 0, [], [], [], []
    while chain.now < 3600.0 * HOURS:
        ends.append(work(chain, operator, gone=rounds % 5 == 4))
        rounds += 1
        chain.forget()
        if rounds % 5 == 0:
            gc.collect()
            grown.append(len(gc.get_objects()))
            kept.append(resident())
            states.append(len(json.dumps(chain.cores.guard.state())))
    assert rounds >= 15
    # each loop ends where the first one did, by the commands and by the motors
    assert np.abs(np.array(ends) - ends[1]).max() < 1e-4
    for arm in ARMS:
        assert np.allclose(chain.measured(arm)[:5], ends[0][ARMS.index(arm)][:5], atol=0.02)
        counters = chain.cores.guard.arms[arm].counters
        # one target a squeeze is older than the squeeze; nothing else was out of order
        assert counters[Counter.STALE] == rounds
        assert counters[Counter.DUPLICATE] == counters[Counter.REFUSED] == counters[Counter.UNTRACKED] == 0
    assert max(grown[1:]) - min(grown[1:]) < 200, "objects"
    assert kept[-1] - kept[0] < 8e6, "bytes"
    assert max(states) < 1.05 * min(states)
    # a tick and a frame commit each, and the clocks of all cores still agree
    assert chain.cores.guard.shared.sequence == pytest.approx(RATES["frame_hz"] * chain.now, abs=2.0)
    assert chain.cores.simulation.physics.data.time == pytest.approx(chain.now, abs=0.02)


@pytest.mark.parametrize("uptime", [86_400.0, 300 * 86_400.0])
def test_time_since_boot_changes_nothing(uptime):
    def play(since):
        chain, operator = begin(uptime=since, **RATES)
        work(chain, operator, gone=False)
        return [np.array([c.position for c in chain.log.commands[arm]]) for arm in ARMS]

    for early, late in zip(play(1000.0), play(uptime)):
        assert early.shape == late.shape
        assert np.abs(early - late).max() < 1e-3
