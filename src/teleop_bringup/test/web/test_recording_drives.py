"""A real Quest 3's recording, played in Chromium as the headset, through the page and the whole graph.

The recording is not part of this repository: the tests skip where it is not beside it.
"""

import json
import time

import numpy as np
import pytest

from teleop_bringup import testing
from teleop_common import limits, paths, records, spatial
from teleop_common.enums import Authority
from teleop_web import testing as web

RECORDING = testing.REAL_DATA / "iwer_quest3/iwer_quest3_capture.json"
pytestmark = pytest.mark.skipif(not RECORDING.exists(), reason="the Quest 3 recording is not beside the repository")
B_AND_Y = 5


def play(browser, served, seconds, **options):
    """Play ``seconds`` of the recording; return the graph's commands, authorities and finalised frames."""
    recording = json.loads(RECORDING.read_text())
    first = recording["frames"][0][0]
    recording["frames"] = [row for row in recording["frames"] if row[0] - first <= seconds * 1e3]
    with served("web") as (graph, address):
        frames = graph.node.listen(records.TeleopFrame, "/teleop/frame")
        with web.headset(browser, address, size=(200, 140), hz=90) as quest:
            graph.until(lambda: graph.session and graph.session[-1].state == 3, 20.0, "session RUNNING")
            time.sleep(0.5)
            quest.play(recording, **options)
            graph.node.until(lambda: not quest.get("__xr.playing()"), seconds + 20.0, "end of the recording")
            return {arm: list(graph.commands[arm]) for arm in graph.arms}, list(graph.authority), list(frames)


def counted_down(authority):
    """Return how often each arm entered COUNTDOWN."""
    entered, before = {"left": 0, "right": 0}, {}
    for sample in authority:
        for arm in sample.arms:
            entered[arm.arm] += arm.state == Authority.COUNTDOWN != before.get(arm.arm)
            before[arm.arm] = arm.state
    return entered


def test_first_b_of_the_recording_latches_the_estop_and_nothing_moves(browser, served):
    commands, authority, _ = play(browser, served, 2.5)
    assert {arm.state for arm in authority[-1].arms} == {Authority.ESTOP}
    assert all(len({c.position for c in commands[arm]}) == 1 for arm in commands)


def test_with_b_unbound_each_squeeze_counts_down_its_own_arm_and_nothing_moves(browser, served):
    commands, authority, _ = play(browser, served, 8.0, without=(B_AND_Y,))
    assert counted_down(authority) == {"left": 2, "right": 2}
    for arm in commands:
        assert not any(c.authority == Authority.DRIVING for c in commands[arm])
        assert len({c.position for c in commands[arm]}) == 1


def test_with_both_grips_closed_each_tool_follows_its_own_hand_within_limits(browser, served):
    commands, _, heard = play(browser, served, 8.7, without=(B_AND_Y,), squeeze=(1, 4.0, 8.5))
    frames = {f.sequence: f for f in heard}
    joints = limits.load(paths.config("limits/so101.yaml")).all_joints
    for side in commands:
        assert testing.envelope_violations(commands[side], joints) == []
        driving = [c for c in commands[side] if c.authority == Authority.DRIVING and c.frame_sequence in frames]
        assert len(driving) > 100
        tool = testing.Tool(side)
        first = frames[driving[0].frame_sequence]
        start, yaw = tool(driving[0].position), spatial.heading_yaw(first.head.pose.orientation)
        checked = 0
        for command in driving[::5]:
            a, b = (np.array(f.hand(side).grip.pose.position) for f in (first, frames[command.frame_sequence]))
            asked = np.array(spatial.quat_rotate(spatial.quat_from_yaw(-yaw), tuple(b - a)))
            if start[2] + asked[2] < 0.07:  # near the bench, below which the hand goes on and the tool does not
                break
            if testing.lead(command) < 0.02:  # else the hand is too fast, and the arm comes behind
                assert np.allclose(tool(command.position) - start, asked, atol=0.015), command.frame_sequence
                checked += 1
        assert checked > 10
