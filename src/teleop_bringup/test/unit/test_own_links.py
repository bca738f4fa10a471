"""A real recording in which both hands fold their arms up: the retargeter keeps clear of it, and the guard never stops them."""

import json

import pytest

from teleop_bringup import testing
from teleop_bringup.lockstep import Lockstep, Recorded
from teleop_bringup.lockstep_cores import Options
from teleop_common import cell, limits, paths
from teleop_common.enums import Authority
from teleop_input import capture

RECORDING = testing.REAL_DATA / "iwer_quest3/iwer_quest3_capture.json"
PAIR = ("shoulder_link", "lower_arm_link")
# the recording has no buttons: grips are held from 4 s on
SQUEEZE = [capture.Override("squeeze", 1.0, 4.0, 8.5), capture.Override("squeeze", 1.0, 9.0, 99.0)]

pytestmark = pytest.mark.skipif(not RECORDING.exists(), reason="the recording of a headset is not beside the repository")


@pytest.mark.parametrize("solver", ["analytic", "differential"])
def test_hands_that_fold_their_arms_up_are_followed_and_never_stopped(solver):
    robot, work_cell = limits.load(paths.config("limits/so101.yaml")), cell.load(paths.config("cell.yaml"))
    frames = list(capture.frames(json.loads(RECORDING.read_text(encoding="utf-8")), overrides=SQUEEZE))
    lockstep = Lockstep(Recorded(frames), robot, work_cell, Options(frame_hz=89.5, solver=solver))
    lockstep.run(9.0)
    assert not [event for event in lockstep.log.events if all(link in event for link in PAIR)]
    for arm in ("left", "right"):
        driven = [c for c in lockstep.log.commands[arm] if c.authority == Authority.DRIVING and c.frame_sequence]
        assert len(driven) > 300
        # before, the guard held the arms, and the targets ran to the end of their leash, 0.25 rad ahead
        assert max(testing.lead(command) for command in driven) < 0.05
        # they fold up: the border is at 1.3 to 1.44 rad there, the limit at 1.69
        assert 1.2 < max(command.position[2] for command in driven) < 1.46
