"""A real Quest 3's input, recorded by its owner's browser, through the graph as a bag.

The recording is not part of this repository: the tests skip where it is not beside it.
"""

import itertools
import json

import numpy as np
import pytest
import yaml

from teleop_bringup import testing
from teleop_bringup.testing import QUIET
from teleop_common import limits, paths, spatial
from teleop_common.enums import Authority, Reason
from teleop_common.testing import free_domain
from teleop_input import bag, capture

RECORDING = testing.REAL_DATA / "iwer_quest3/iwer_quest3_capture.json"
pytestmark = pytest.mark.skipif(not RECORDING.exists(), reason="the Quest 3 recording is not beside the repository")
# both grips closed from 4.0 to 8.5 s, and again from before the controllers are laid down to the end
SQUEEZED = [capture.Override("squeeze", 1.0, 4.0, 8.5), capture.Override("squeeze", 1.0, 9.0, 99.0)]
LAID_DOWN = 10.54  # [s] when hands take the controllers' place
RATE = 89.5  # [Hz] of the recording
# on a machine that answers no later than this, two plays agree; joints that are measured late let the leash cut otherwise [s]
ON_TIME = 0.012
# [s from the first frame] each hand's own two squeezes in the recording
SQUEEZES = {"right": (4.34, 4.74), "left": (6.28, 6.65)}


def write_bag(folder, overrides=()):
    """Write the recording as a bag of raw frames and return its frames."""
    frames = list(capture.frames(json.loads(RECORDING.read_text()), overrides=overrides))
    bag.write(folder, frames)
    return frames


def out_of_reach(folder):
    """Write the cell with its cubes where no arm comes: the hands go down to the bench, and a cube below a tool stops it."""
    cell = yaml.safe_load(paths.config("cell.yaml").read_text())
    cell["cube_slots"] = [[0.62, y] for y in (-0.5, -0.25, 0.0, 0.25, 0.5)]
    path = folder.with_suffix(".cell.yaml")
    path.write_text(yaml.safe_dump(cell))
    return path


def play(folder):
    """Play a bag through the whole graph; return the commands per arm and the authority heard."""
    cell = f"cell_file:={out_of_reach(folder)}"
    with free_domain() as domain, testing.graph(domain, "input:=replay", f"bag:={folder}", cell, *QUIET) as graph:
        graph.ready()
        graph.replay_to_its_end()
        return {arm: list(graph.commands[arm]) for arm in graph.arms}, list(graph.authority)


def driven(play, arm):
    return [c for c in play[arm] if c.authority == Authority.DRIVING and 0 < c.frame_sequence < 8.6 * RATE]


def lateness(commands):
    """Return how late the first command of a frame was while the arms were driven, the 99th percentile [s]."""
    late = []
    for arm in commands:
        first = {c.frame_sequence: c.header.stamp - c.origin_stamp for c in reversed(driven(commands, arm))}
        if len(first) < 200:
            return float("inf")  # a gap broke the drive off: then the guard held, as it must
        late += first.values()
    return float(np.percentile(late, 99)) * 1e-9


def play_on_time(folder):
    """Play a bag, again where a starved machine came late, at most three times; return the play that was most on time."""
    best, least = None, float("inf")
    for _ in range(3):
        commands, authority = play(folder)
        late = lateness(commands)
        if best is None or late < least:
            best, least = (commands, authority), late
        if least <= ON_TIME:
            break
    return best


@pytest.fixture(scope="module")
def as_recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("real") / "recorded"
    frames = write_bag(folder)
    return frames, *play(folder)


@pytest.fixture(scope="module")
def squeezed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("real") / "squeezed"
    frames = write_bag(folder, SQUEEZED)
    return frames, play_on_time(folder), play_on_time(folder)


def test_short_squeezes_bring_only_their_own_arm_into_countdown_and_nothing_moves(as_recorded):
    frames, commands, authority = as_recorded
    entered = {"left": 0, "right": 0}
    before = {"left": Authority.IDLE, "right": Authority.IDLE}
    for sample in authority:
        for arm in sample.arms:
            if arm.state == Authority.COUNTDOWN != before[arm.arm]:
                entered[arm.arm] += 1
            before[arm.arm] = arm.state
    assert entered == {side: len(times) for side, times in SQUEEZES.items()}
    for arm in commands:
        assert not any(c.authority == Authority.DRIVING for c in commands[arm])
        assert len({c.position for c in commands[arm]}) == 1


def in_heading(frames, side, first, at):
    """Return the hand's motion since frame ``first`` in the operator's heading frame, world axes [m]."""
    yaw = spatial.heading_yaw(spatial.pose_ros_from_openxr(frames[first].head.pose).orientation)
    a, b = (np.array(spatial.pose_ros_from_openxr(frames[i].hand(side).grip.pose).position) for i in (first, at))
    return np.array(spatial.quat_rotate(spatial.quat_from_yaw(-yaw), tuple(b - a)))


def came(frames, side, first, at):
    """Return how far the hand came from frame ``first`` to frame ``at`` [m]."""
    return float(np.linalg.norm(in_heading(frames, side, first, at)))


def above_the_bench(frames, side, commands):
    """Return the commands until the hand asks the tool near the bench: below it the hand goes on, the tool does not."""
    first, height = commands[0].frame_sequence, testing.Tool(side)(commands[0].position)[2]
    return list(itertools.takewhile(lambda c: height + in_heading(frames, side, first, c.frame_sequence)[2] > 0.07, commands))


@pytest.mark.parametrize("side", ["left", "right"])
def test_each_tool_follows_its_own_hand_while_both_grips_are_closed(squeezed, side):
    frames, (commands, _), _ = squeezed
    driving = [c for c in commands[side] if c.authority == Authority.DRIVING and 0 < c.frame_sequence < 8.6 * RATE]
    assert len(driving) > 250
    tool = testing.Tool(side)
    first, start = driving[0].frame_sequence, tool(driving[0].position)
    # where the hand is too fast, the arm comes behind: look where it has been slow for 0.2 s
    free = [
        c
        for c in above_the_bench(frames, side, driving)[::5]
        if came(frames, side, c.frame_sequence - 18, c.frame_sequence) < 0.02
    ]
    assert len(free) > 10
    for command in free:
        asked = in_heading(frames, side, first, command.frame_sequence)
        assert np.allclose(tool(command.position) - start, asked, atol=0.015), command.frame_sequence


def test_absent_and_hand_sources_never_drive(squeezed):
    _, (commands, authority), _ = squeezed
    for arm in commands:
        driven = [c.frame_sequence for c in commands[arm] if c.authority == Authority.DRIVING and c.frame_sequence]
        assert any(s > 9.5 * RATE for s in driven), "it drove again after the second squeeze"
        assert max(driven) <= (LAID_DOWN + 0.1) * RATE
    last = [a.arms[0].state for a in authority[-100:]]
    assert set(last) == {Authority.IDLE}, "controllers that come back with a closed grip do not drive"


def test_no_joint_leaves_its_limits_or_speed(squeezed):
    _, (commands, _), _ = squeezed
    joints = limits.load(paths.config("limits/so101.yaml")).all_joints
    for arm in commands:
        assert testing.envelope_violations(commands[arm], joints) == []


@pytest.fixture
def two_plays(squeezed):
    _, (one, _), (two, _) = squeezed
    late = max(lateness(one), lateness(two))
    if late > ON_TIME:
        pytest.skip(
            f"the machine was late by {1e3 * late:.0f} ms, two plays are held against each other up to {1e3 * ON_TIME:.0f}"
        )
    return one, two


def test_two_plays_anchor_at_the_same_frame(two_plays):
    one, two = two_plays
    for arm in one:
        assert driven(one, arm)[0].frame_sequence == driven(two, arm)[0].frame_sequence


def behind(command):
    """Return how far any joint, the gripper too, is behind what was asked [rad]: how much depends on when frames arrived."""
    return max(abs(r - p) for r, p in zip(command.requested, command.position, strict=True))


def at_border(command):
    return [reason == Reason.POSITION_LIMIT for reason in command.reason]


def test_two_plays_agree_within_two_milliradians(two_plays):
    one, two = two_plays
    there = []
    for arm in one:
        a, b = ({c.frame_sequence: c for c in driven(play, arm)} for play in (one, two))
        # until the guard's filter or the leash cuts either play, or one meets a border at which the arm folds a frame before the
        # other: these go by where the arm is measured
        cut = [s for play in (a, b) for s, c in play.items() if {Reason.COLLISION, Reason.LEASH} & set(c.reason)]
        cut += [s for s in set(a) & set(b) if at_border(a[s]) != at_border(b[s])]
        both = sorted(s for s in set(a) & set(b) if s < min(cut, default=10**9))
        assert len(both) > 100
        # the same frames ask the same, whenever they arrive
        asked = [max(abs(x - y) for x, y in zip(a[s].requested, b[s].requested, strict=True)) for s in both]
        assert max(asked) < 2e-5, f"{arm}: {1e3 * max(asked):.3f} mrad"
        apart = {s: max(abs(x - y) for x, y in zip(a[s].position, b[s].position, strict=True)) for s in both}
        there += [apart[s] for s in both if behind(a[s]) < 0.002 and behind(b[s]) < 0.002]
    assert len(there) > 10
    assert max(there) < 2e-3, f"{1e3 * max(there):.2f} mrad"
