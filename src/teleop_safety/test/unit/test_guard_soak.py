"""Hours of driving, holding and gaps in virtual time: nothing grows, nothing drifts; a day in the nightly run, minutes in CI."""

import json
import os

import pytest
from guard_world import ROBOT

from teleop_common.enums import Authority as A
from teleop_safety.fuzz import steps
from teleop_safety.fuzz.world import ARMS, FRAME_NS, Setup, World

HOURS = float(os.environ.get("TELEOP_SOAK_HOURS") or (24.0 if os.environ.get("TELEOP_NIGHTLY") else 0.03))
HOME = [0.0, -0.87, 0.7, 0.955, 0.0, 0.0]
ROUND = [
    ["drive", {"targets": {"left": [0.3, -0.6, 0.5, 0.6, 0.3, 0.5], "right": [-0.3, -0.6, 0.5, 0.6, 0.3, 0.5]}, "speed": 1.0}],
    ["flow", {"periods": 300}],
    [
        "drive",
        {"targets": {"left": HOME, "right": HOME}, "speed": 2.0},
    ],
    ["silence", {"what": "frames", "arm": "left", "alive": False}],
    ["flow", {"periods": 40}],
    ["silence", {"what": "frames", "arm": "left", "alive": True}],
    ["reconnect", {}],
    ["flow", {"periods": 100}],
]


@pytest.mark.timeout(240 + 1200 * HOURS)
def test_hours_of_driving_leave_no_trace():
    world = World(ROBOT, Setup(quick=True))
    begun, sizes, ends = world.now.mono, [], set()
    while world.now.mono - begun < HOURS * 3.6e12:
        for name, arguments in ROUND:
            steps.apply(world, [name, {**arguments, "periods": 120} if name == "drive" else arguments])
            if name == "drive":
                assert set(world.states.values()) == {A.DRIVING}
                ends.add(tuple(round(q, 6) for arm in ARMS for q in world.reference[arm]))
        world.texts.clear()
        sizes.append(len(json.dumps(world.guard.state())))
    assert len(sizes) > 10
    assert len(ends) == 2  # each round ends where the first did
    # numbers grow by a digit now and then, lists do not
    assert max(sizes[5:]) < 1.05 * min(sizes[5:])
    assert FRAME_NS * world.periods < 1.2 * (world.now.mono - begun)
