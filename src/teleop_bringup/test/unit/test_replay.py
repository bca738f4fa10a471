"""A take of the whole chain, recorded, replayed onto arms through guard and physics, and recorded again, in lockstep."""

import dataclasses
import math
import types
from pathlib import Path

import numpy as np
import pytest

from teleop_bringup.lockstep import Hands, Lockstep
from teleop_bringup.lockstep_cores import Options
from teleop_common import cell, limits
from teleop_common.enums import Authority, EpisodeCommand, PoseFlags
from teleop_common.errors import ConfigError
from teleop_common.records import Controller, Pose, TrackedPose
from teleop_recorder import reading, setup_recorder
from teleop_recorder.replay import script
from teleop_recorder.replay.actions import OWNER, ActionReplay, Phase, Settings
from teleop_recorder.replay.cursor import Cursor
from teleop_recorder.samples import Sample
from teleop_safety.outputs import Outputs

ROOT = Path(__file__).resolve().parents[4]
ROBOT = limits.load(ROOT / "config/limits/so101.yaml")
CELL = cell.load(ROOT / "config/cell.yaml")
ARMS = ("left", "right")
# not where the take begins: each arm turned and reaching out
ELSEWHERE = (0.3, -0.3, 0.3, 0.4, 0.3, 0.5)


class Waving:
    """Two hands that are squeezed and wave; the fingers open and close."""

    def hands(self, now, seen):
        t = max(now - 2.0, 0.0)

        def at(x, y, z):
            return TrackedPose(Pose((x, y, z)), int(PoseFlags.ALL))

        def hand(x, turn):
            place = at(x + 0.04 * math.sin(turn * 2.1 * t), 1.2 + 0.03 * math.sin(1.7 * t), -0.4 - 0.04 * math.sin(1.3 * t))
            grip = 1.0 if 0.5 < now < 5.5 else 0.0
            return Controller(True, place, place, squeeze=grip, trigger=0.5 + 0.5 * math.sin(2.0 * t))

        return Hands(at(0.0, 1.6, 0.0), hand(-0.25, 1.0), hand(0.25, -1.0))


@dataclasses.dataclass(frozen=True)
class Params:
    """What ``setup_recorder.create`` reads."""

    folder: str
    arms: tuple[str, ...] = ARMS
    session: str = "s"
    overwrite: str = ""
    task: str = "wave"
    record_aim: bool = True
    record_head: bool = True
    video: str = ""
    follow_simulation: bool = False
    disk_margin: float = 0.0


def nothing(*_):
    """Keep no journal."""


def record(chain, root, since=0):
    """Record what went over the chain's topics from the stamp ``since`` on as one take, and return its session."""
    kept = {}
    journal = types.SimpleNamespace(write=nothing, flush=nothing, close=nothing)
    core = setup_recorder.create(Params(str(root)), ROBOT, CELL, {}, lambda _: kept.__getitem__, lambda _: journal)
    heard = [(m.header.stamp, f"/{arm}/joint_command", m) for arm in ARMS for m in chain.log.commands[arm]]
    heard += [(m.header.stamp, f"/{arm}/joint_states", m) for arm in ARMS for m in chain.log.joints[arm]]
    heard = sorted((row for row in heard if row[0] > since), key=lambda row: row[0])
    counts = dict.fromkeys([topic for _, topic, _ in heard], 0)
    first = heard[0][0]
    assert core.command(EpisodeCommand.START, "", 0.0, first - 1).success
    session = core.session
    for stamp, topic, message in heard:
        counts[topic] += 1
        data = f"{topic} {counts[topic]}".encode()
        kept[data] = message
        core.hear([Sample(topic, data, stamp, counts[topic])], (stamp - first) * 1e-9, stamp)
    for command in (EpisodeCommand.END, EpisodeCommand.CLOSE_SESSION):
        assert core.command(command, "", (stamp - first) * 1e-9, stamp).success
    return session


class Replaying:
    """A replay beside the chain, called at 100 Hz as its node does."""

    def __init__(self, take, loop=False, **options):
        self.chain = Lockstep(None, ROBOT, CELL, Options(start=ELSEWHERE, **options))
        assert self.chain.run_until(lambda: self.chain.running, 3.0)
        self.chain.run(0.2)
        self.core = ActionReplay(take, {arm: ROBOT.arm_names(arm) for arm in ARMS}, Cursor(take.duration, loop), Settings())
        self.phases, self.began = [], 0
        for arm in ARMS:
            self.chain.put(lambda guard, at, arm=arm: guard.own(at, arm, OWNER, True).out)

    def turn(self):
        self.chain.put(self._step)
        if self.core.phase not in self.phases:
            self.phases.append(self.core.phase)
        self.chain.run(0.01)

    def _step(self, guard, at):
        before = self.core.phase
        targets = self.core.step(at.mono * 1e-9, at.ros, self.chain._authority)
        if self.core.phase is Phase.PLAYING and before is not Phase.PLAYING:
            self.began = at.ros
        return guard.on_external(at, targets) if targets else Outputs()

    def run(self, phase, longest=30.0):
        for _ in range(round(longest / 0.01)):
            if self.core.phase is phase:
                return
            self.turn()
        raise AssertionError(f"{self.core.phase} {self.core.reason}, wanted {phase}")


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    chain = Lockstep(Waving(), ROBOT, CELL, Options())
    chain.run(5.0)
    driving = [c.header.stamp for c in chain.log.commands["left"] if c.authority == Authority.DRIVING]
    return record(chain, tmp_path_factory.mktemp("take"), since=driving[0])


def load(session, robot=ROBOT, arms=()):
    with reading.episodes(session, (0,)) as (episode,):
        return script.from_episode(episode, robot, arms)


def behind(run, arm, take):
    """Return by how much a replay runs behind its take [s], how far its commands and measured joints are off it then [rad]."""
    commands = [c for c in run.chain.log.commands[arm] if 0.0 <= (c.header.stamp - run.began) * 1e-9 <= take.duration]
    times = np.array([(c.header.stamp - run.began) * 1e-9 for c in commands])
    committed, measured = np.array([c.position for c in commands]), np.array([c.measured for c in commands])

    def off(found, lag):
        return np.abs(found - np.array([take.at(max(t - lag, 0.0))[arm] for t in times])).max(axis=0)

    # the gripper is driven at its limits, which the guard applies again
    lag = min(np.arange(0.0, 0.05, 0.001), key=lambda lag: off(committed, lag)[:5].max())
    return lag, off(committed, lag), off(measured, lag)


def test_take_is_eased_into_and_followed_within_servo_accuracy_and_the_same_each_time(session, tmp_path):
    take = load(session)
    assert np.ptp(take.joints["left"], axis=0).max() > 0.2
    runs = []
    for _ in range(2):
        run = Replaying(take)
        run.run(Phase.DONE)
        assert run.phases == [Phase.EASING, Phase.PLAYING, Phase.SETTLING, Phase.DONE]
        runs.append((run, record(run.chain, tmp_path)))
    run = runs[0][0]
    for arm in ARMS:
        lag, committed, measured = behind(run, arm, take)
        print(f"{arm}: {lag:.3f} s behind; then commands off by {committed} rad, measured joints by {measured}")
        assert lag <= 0.03
        assert committed[:5].max() < 0.005
        assert measured[:5].max() < 0.02
        assert committed[5] < 0.1
        # no faster than asked on the way to its beginning
        easing = [c for c in run.chain.log.commands[arm] if c.authority == Authority.REPLAY and c.header.stamp < run.began]
        speed = max(abs(b - a) / c.dt for p, c in zip(easing, easing[1:]) for a, b in zip(p.position, c.position) if c.dt > 0.0)
        assert 0.3 < speed < 0.55
    assert runs[0][1] != runs[1][1]
    assert runs[0][1].hdf5.read_bytes() == runs[1][1].hdf5.read_bytes()
    for arm in ARMS:  # held where the take ended, by nobody
        run.chain.run(0.3)
        assert run.chain.authority(arm) == Authority.IDLE


def test_replay_begins_again_when_told_to_loop_and_ends_for_all_arms_when_one_is_stopped(session):
    take = load(session)
    short = script.Script("short", take.times[:40], {arm: values[:40] for arm, values in take.joints.items()})
    run = Replaying(short, loop=True, collision=False)
    run.run(Phase.SETTLING)
    run.run(Phase.EASING)
    run.run(Phase.PLAYING)
    run.chain.put(lambda guard, at: guard.stop(at, "test"))
    run.run(Phase.FAILED, 0.2)
    assert "taken away (ESTOP" in run.core.reason
    held = run.chain.log.commands["right"][-1].position
    run.chain.run(0.3)
    assert run.chain.log.commands["right"][-1].position == held


def test_take_is_played_onto_drooping_servos_behind_their_buses(session):
    take = load(session)
    short = script.Script("short", take.times[:150], {arm: values[:150] for arm, values in take.joints.items()})
    run = Replaying(short, bus=True, leash="hardware", collision=False)
    run.run(Phase.DONE)
    for arm in ARMS:
        lag, committed, measured = behind(run, arm, short)
        print(f"{arm}: {lag:.3f} s behind; then commands off by {committed} rad, measured joints by {measured}")
        assert committed[:5].max() < 0.005
        assert 0.005 < measured[:5].max() < 0.2


def test_take_of_another_robot_arm_or_without_commands_is_refused(session):
    with pytest.raises(ConfigError, match=r"robot of take .* choose a take of this robot"):
        load(session, limits.load(ROOT / "config/limits/ur5.yaml"))
    with pytest.raises(ConfigError, match="got 'third', allowed left, right"):
        load(session, arms=("third",))
    assert tuple(load(session, arms=("right",)).joints) == ("right",)
