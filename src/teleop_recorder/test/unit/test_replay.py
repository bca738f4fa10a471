"""Replay: where it is, what it shows, what it tells arms, and what it refuses."""

import argparse
import dataclasses
import json
from pathlib import Path

import h5py
import numpy as np
import pytest
from recorder_bench import ARMS, START, make_bench

from teleop_common import cell, limits
from teleop_common.enums import Authority, EpisodeCommand
from teleop_common.errors import ConfigError
from teleop_common.records import ArmAuthority, AuthorityState, Header
from teleop_recorder import cli, layout, reading, scene_files
from teleop_recorder.poses import ScenePoses
from teleop_recorder.replay import command, poses, script
from teleop_recorder.replay.actions import OWNER, ActionReplay, Phase
from teleop_recorder.replay.cursor import Cursor

ROOT = Path(__file__).resolve().parents[4]
ROBOT = limits.load(ROOT / "config/limits/so101.yaml")
CELL = cell.load(ROOT / "config/cell.yaml")


def test_cursor_moves_with_time_stands_at_the_end_and_leaps_over_nothing():
    cursor = Cursor(1.0, speed=2.0)
    assert [cursor.advance(t) for t in (5.0, 5.05, 5.1)] == pytest.approx([0.0, 0.1, 0.2])
    assert cursor.advance(9.0) == pytest.approx(0.4)  # late: a tenth of a second, no more
    for t in np.arange(9.0, 10.0, 0.05):
        cursor.advance(t)
    assert (cursor.time, cursor.at_end) == (1.0, True)
    cursor.play(False)
    cursor.play(True)
    assert cursor.time == 0.0


def test_looping_cursor_begins_again_and_a_standing_one_keeps_its_place():
    cursor = Cursor(0.1, loop=True)
    places = [cursor.advance(0.05 * n) for n in range(5)]
    assert places == pytest.approx([0.0, 0.05, 0.1, 0.0, 0.05])
    cursor.play(False)
    assert cursor.advance(5.0) == pytest.approx(0.05)
    cursor.play(True)
    assert cursor.advance(9.0) == pytest.approx(0.05)
    assert cursor.seek(0.02) == ""
    assert cursor.advance(9.5) == pytest.approx(0.02)
    assert "allowed 0 to 0.100 s" in cursor.seek(0.2)
    assert "allowed 0 to 0.100 s" in cursor.seek(float("nan"))


@pytest.fixture(scope="module")
def filmed(tmp_path_factory):
    """A session whose take holds random states of the scene; its last row knows nothing of the cubes."""
    folder = tmp_path_factory.mktemp("filmed")
    spec, model = scene_files.compiled(ARMS, CELL, ROBOT)
    made, random = ScenePoses(model, ARMS), np.random.default_rng(1)
    states = np.tile(model.qpos0, (20, 1))
    for joint in (model.joint(n) for n in range(model.njnt)):
        address = int(joint.qposadr[0])
        if joint.type[0] == 0:
            turns = random.normal(size=(20, 4))
            states[:, address : address + 3] = random.normal(size=(20, 3))
            states[:, address + 3 : address + 7] = turns / np.linalg.norm(turns, axis=1, keepdims=True)
        else:
            states[:, address] = random.uniform(*joint.range, size=20)
    rows = [{path: value.copy() for path, value in made.from_state(state).items()} for state in states]
    with h5py.File(folder / "episodes.hdf5", "w") as file:
        file.attrs["stage_snapshot"] = scene_files.write(folder / "scene", spec, model, {})
        group = file.create_group("episodes/episode_00000")
        group.attrs["links"] = json.dumps({arm: list(links) for arm, links in made.links.items()})
        group["meta/commit"], group["meta/time/episode_time"] = np.arange(20), 0.1 * np.arange(20)
        for path in rows[0]:
            values = np.array([row[path] for row in rows])
            if path.split("/")[1] not in ARMS:
                values[-1] = np.nan
            group[path] = values
    return layout.Session(folder), states, model


def reel(session, **changes):
    given = {"loop": False, "speed": 1.0, "still": False} | changes
    with reading.episodes(session, (0,)) as (episode,):
        return poses.reel(episode, **given)


def test_states_of_the_scene_come_back_from_recorded_link_poses(filmed):
    session, states, model = filmed
    made, told = reel(session)
    assert told == json.loads((session.folder / "scene" / told / "scene.json").read_text())["model_hash"]
    for n, state in enumerate(states[:-1]):
        # the scene was read back from its text, whose numbers have fewer digits
        assert made.positions(n, state) == pytest.approx(state, abs=2e-5)
    here = np.arange(model.nq, dtype=float)
    last = np.array(made.positions(19, here))
    unknown = np.isnan(made.frames[19])
    assert unknown.sum() == 7 * sum(model.joint(n).type[0] == 0 for n in range(model.njnt))
    assert (last[unknown] == here[unknown]).all()


def test_reel_is_paced_by_recorded_times_steps_frame_by_frame_and_seeks(filmed):
    made, _ = reel(filmed[0])
    assert made.due(3.0) == 0
    assert made.due(3.05) is None
    assert made.due(3.1 + 1e-9) == 1
    assert made.cursor.seek(1.75) == ""
    assert made.due(4.0) == 17
    assert made.step() == 18
    assert made.due(5.0) == 18
    assert made.due(6.0) is None
    assert made.step() == 19
    assert made.due(7.0) == 19
    assert made.step() == 0
    still, _ = reel(filmed[0], still=True)
    assert [still.due(t) for t in (1.0, 2.0, 3.0)] == [0, None, None]


def test_take_whose_scene_is_gone_or_that_has_no_poses_is_refused(filmed, tmp_path):
    with h5py.File(tmp_path / "episodes.hdf5", "w") as file:
        file["episodes/episode_00000/meta/commit"] = np.arange(3)
    with pytest.raises(ConfigError, match="put the session's folder scene/ back"):
        reel(layout.Session(tmp_path))
    session, _, model = filmed
    with h5py.File(tmp_path / "other.hdf5", "w") as file:
        group = file.create_group("x")
        group["meta/commit"], group.attrs["links"] = np.arange(3), "{}"
        with pytest.raises(ConfigError, match="choose another take"):
            poses.positions(reading.Episode(session, 0, group), model)


# ---- actions


def robot():
    """Return the robot that the bench records."""
    joints = tuple(dataclasses.replace(joint, name=f"j{n}") for n, joint in enumerate(ROBOT.joints))
    grip = dataclasses.replace(ROBOT.gripper, limits=dataclasses.replace(ROBOT.gripper.limits, lower=-1.0, upper=3.0))
    return dataclasses.replace(ROBOT, joints=joints, gripper=grip)


@pytest.fixture
def session(tmp_path):
    bench = make_bench(tmp_path / "sessions", session="s")
    assert bench.do(EpisodeCommand.START, "wave").success
    bench.step(101)
    bench.do(EpisodeCommand.END)
    bench.step(20)
    bench.do(EpisodeCommand.CLOSE_SESSION)
    return tmp_path / "sessions/s"


def test_actions_of_a_session_and_of_its_data_set_are_the_same(session, tmp_path):
    assert cli.main(["export", str(session), "--to", str(tmp_path / "set"), "--fps", "50"]) == 0
    ours, exported = (script.load(path, 0, robot(), ()) for path in (session, tmp_path / "set"))
    assert ours.duration == pytest.approx(1.0)
    assert exported.duration == pytest.approx(1.0)
    for time in (0.0, 0.02, 0.5, 0.98):
        for arm in ARMS:
            assert exported.at(time)[arm] == pytest.approx(ours.at(time)[arm], abs=1e-6)
    # halfway between two samples
    assert ours.at(0.005)["left"] == pytest.approx(np.mean([ours.at(0.0)["left"], ours.at(0.01)["left"]], axis=0))
    assert tuple(script.load(tmp_path / "set", 0, robot(), ("right",)).joints) == ("right",)


def test_takes_of_another_arm_and_sets_of_unknown_units_are_refused(session, tmp_path):
    with pytest.raises(ConfigError, match="robot of take"):
        script.load(session, 0, dataclasses.replace(robot(), robot="other"), ())
    with pytest.raises(ConfigError, match="joints of take"):
        script.load(session, 0, ROBOT, ())
    with pytest.raises(ConfigError, match="allowed left, right"):
        script.load(session, 0, robot(), ("third",))
    cli.main(["export", str(session), "--to", str(tmp_path / "set"), "--fps", "50"])
    with pytest.raises(ConfigError, match="joints of take"):
        script.load(tmp_path / "set", 0, ROBOT, ())
    with pytest.raises(ConfigError, match="allowed 0 to 0"):
        script.load(tmp_path / "set", 1, robot(), ())
    (tmp_path / "set/meta/xr_teleop.json").unlink()
    with pytest.raises(ConfigError, match="a LeRobot v3.0 data set of ours"):
        script.load(tmp_path / "set", 0, robot(), ())


def test_arm_without_commands_in_some_rows_is_refused_and_the_other_can_be_played(session):
    with h5py.File(session / "episodes.hdf5", "r+") as file:
        file["episodes/episode_00000/control/left/committed"][10] = np.nan
    with pytest.raises(ConfigError, match="no command in 1 rows"):
        script.load(session, 0, robot(), ())
    assert tuple(script.load(session, 0, robot(), ("right",)).joints) == ("right",)


def test_take_whose_clock_was_set_back_is_played_by_the_steady_one_and_refused_without(session):
    before = script.load(session, 0, robot(), ())
    for clock in ("stamp_ns", "monotonic_ns"):
        with h5py.File(session / "episodes.hdf5", "r+") as file:
            stamps = file[f"episodes/episode_00000/meta/time/{clock}"]
            stamps[50:] = stamps[50:] - 300_000_000
        if clock == "stamp_ns":
            after = script.load(session, 0, robot(), ())
            assert after.times == pytest.approx(before.times)
            assert after.at(0.7)["left"] == pytest.approx(before.at(0.7)["left"])
    with pytest.raises(ConfigError, match="clock"):
        script.load(session, 0, robot(), ())


NAMES = ("left_a", "left_b")
TAKE = script.Script("take", np.array([0.0, 1.0]), {"left": np.array([[0.2, 0.0], [0.4, 0.1]])})


def authority(now, reference=(0.0, 0.0), state=Authority.REPLAY, owner=OWNER, reason=""):
    arm = ArmAuthority("left", int(state), 7, owner=owner, name=NAMES, reference=reference, reason=reason)
    return AuthorityState(Header(START + round(now * 1e9)), 3, (arm,))


def step(core, now, **said):
    return core.step(now, START + round(now * 1e9), authority(now, **said))


def test_arm_whose_way_is_blocked_ends_the_replay_and_says_which_joint():
    core = ActionReplay(TAKE, {"left": NAMES}, Cursor(1.0))
    now = 0.0
    while core.phase is not Phase.FAILED:
        now += 0.01
        step(core, now, reference=(0.1, 0.0))
        assert now < 5.0
    assert "left_a stays 0.100 rad from where the take begins" in core.reason
    assert step(core, now + 0.01) is None


def test_nothing_is_asked_of_an_arm_that_is_not_given_and_it_is_not_waited_for_long():
    core = ActionReplay(TAKE, {"left": NAMES}, Cursor(1.0))
    for n in range(300):
        assert step(core, 0.01 * n, state=Authority.IDLE, owner="") is None
    step(core, 3.1, state=Authority.IDLE, owner="")
    assert core.phase is Phase.FAILED
    refused = ActionReplay(TAKE, {"left": NAMES}, Cursor(1.0))
    refused.refused("arm 'left': e-stop latched")
    assert step(refused, 0.0) is None
    assert refused.reason == "arm 'left': e-stop latched"


def test_arm_that_is_taken_away_and_a_silent_guard_end_the_replay():
    lost, silent = (ActionReplay(TAKE, {"left": NAMES}, Cursor(1.0)) for _ in range(2))
    for core in (lost, silent):
        target = step(core, 0.0).arms[0]
        assert (target.position, target.engage, target.owner) == ((0.0, 0.0), 7, OWNER)
    assert step(lost, 0.01, state=Authority.ESTOP, owner="", reason="page") is None
    assert lost.reason == "arm 'left': taken away (ESTOP, page)"
    assert silent.step(0.8, START + 800_000_000, authority(0.0)) is None
    assert "silent" in silent.reason


def test_real_arms_need_a_typed_answer():
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    simulated = parser.parse_args(["s", "3", "--as", "actions", "--arms", "left"])
    real = parser.parse_args(["s", "3", "--as", "actions", "--real"])

    def nobody(_):
        raise EOFError

    assert command.confirmed(simulated, nobody)
    assert not command.confirmed(real, nobody)
    assert not command.confirmed(real, lambda _: "y")
    assert command.confirmed(real, lambda _: f"{command.ANSWER}\n")
    assert 'arms:=["left"]' in command.ros_arguments(simulated)
    assert "real:=true" in command.ros_arguments(real)
    assert "still:=false" in command.ros_arguments(parser.parse_args(["s", "3"]))
