"""Makes messages of a graph that drives, without one."""

import math
from dataclasses import dataclass, field
from pathlib import Path

from teleop_common.enums import Authority, Reason
from teleop_common.records import (
    ArmAuthority,
    AuthorityState,
    Controller,
    EstopState,
    GuardState,
    Header,
    JointCommand,
    Pose,
    SimState,
    TeleopFrame,
    TrackedPose,
)
from teleop_recorder.recorder import Decoders, Recorder, Settings
from teleop_recorder.rows import Rows
from teleop_recorder.samples import Sample
from teleop_recorder.take import Wanted

HERE = Path(__file__).parent
START = 1_700_000_000_000_000_000
ARMS, JOINTS = ("left", "right"), 6
PERIOD = 10_000_000  # [ns]


def stamp(number):
    return START + number * PERIOD


def command(number, arm="left", authority=Authority.DRIVING, reason=Reason.NONE, **fields):
    position = tuple(0.1 * j + math.sin(0.05 * number + j) for j in range(JOINTS))
    given = {
        "header": Header(stamp(number)),
        "origin_stamp": stamp(number) - 3_000_000,
        "commit": number + 1,
        "commit_time_ns": number * PERIOD,
        "dt": 0.01,
        "connection": 7,
        "frame_sequence": number + 1,
        "authority": int(authority),
        "name": tuple(f"{arm}_{j}" for j in range(JOINTS)),
        "requested": tuple(p + 0.01 for p in position),
        "position": position,
        "measured": tuple(p - 0.02 for p in position),
        "feedback_stamp": stamp(number) - 5_000_000,
        "reason": (int(reason),) * JOINTS,
    }
    return JointCommand(**(given | fields))


def frame(number):
    hand = Controller(True, TrackedPose(Pose((0.1, 0.2, 0.001 * number), (0.0, 0.0, 0.0, 1.0)), 15), trigger=0.5, squeeze=1.0)
    head = TrackedPose(Pose((0.0, 0.0, 1.5), (0.6, 0.0, 0.0, 0.8)), 15)
    return TeleopFrame(Header(stamp(number) - 3_000_000), "debug", 7, number + 1, head=head, left=hand, right=hand)


def authority(number, state=Authority.DRIVING):
    return AuthorityState(Header(stamp(number)), number, tuple(ArmAuthority(a, int(state), engage=3) for a in ARMS))


def guard(number):
    return GuardState(Header(stamp(number)), clearance_committed=0.05, clearance_measured=0.06, scale=0.5)


def sim(number):
    return SimState(Header(stamp(number) - 1_000_000), number * 0.01, number * 5, (0.0,) * 3, (), 1.0, "hash")


class MemoryJournal:
    """A bag in memory; can be made to fail as a full disk does."""

    def __init__(self, path):
        self.path = path
        self.rows, self.flushed, self.closed, self.fails = [], 0, False, None

    def write(self, topic, data, received):
        if self.fails:
            raise self.fails
        self.rows.append((topic, data, received))

    def flush(self):
        self.flushed += 1

    def close(self):
        self.closed = True
        (self.path / "metadata.yaml").touch()


class Machine:
    """Disk and scene of a test."""

    def __init__(self):
        self.journals, self.left = [], 1 << 40

    def journal(self, path):
        path.mkdir()
        self.journals.append(MemoryJournal(path))
        return self.journals[-1]

    def free(self, _path):
        return self.left

    def snapshot(self, folder):
        folder.mkdir(exist_ok=True)
        (folder / "scene.xml").write_text("<mujoco/>")
        return "scene/scene.xml"

    def manifest(self):
        return {"parameters": "{}"}


@dataclass
class Bench:
    """A recorder and a graph that talks to it; records stand in for their own bytes."""

    recorder: Recorder
    machine: Machine
    number: int = 0
    sent: dict = field(default_factory=dict)
    records: dict = field(default_factory=dict)

    def sample(self, topic, record, received, lost=0):
        self.sent[topic] = self.sent.get(topic, 0) + 1 + lost
        data = repr((topic, self.sent[topic])).encode()
        self.records[data] = record
        return Sample(topic, data, received, self.sent[topic])

    def step(self, count=1, state=Authority.DRIVING, reason=Reason.NONE, extra=(), gap=()):
        """Let ``count`` commits pass, each heard 2 ms after its stamp."""
        for _ in range(count):
            n, at = self.number, stamp(self.number) + 2_000_000
            rows = [
                ("/teleop/input/debug/frame", frame(n)),
                ("/teleop/frame", frame(n)),
                ("/sim/state", sim(n)),
                ("/teleop/authority", authority(n, state)),
                *((f"/{arm}/joint_command", command(n, arm, state, reason)) for arm in ARMS),
                *([("/teleop/guard/state", guard(n))] if n % 10 == 0 else []),
                *extra,
            ]
            samples = [self.sample(t, r, at) for t, r in rows if n not in gap or "command" not in t]
            for topic, _ in rows if n in gap else ():
                if "command" in topic:
                    self.sent[topic] += 1
            self.recorder.hear(samples, n * 0.01, at)
            self.number += 1

    def do(self, kind, task=""):
        return self.recorder.command(kind, task, self.number * 0.01, stamp(self.number))

    def estop(self, latched=True):
        self.step(extra=[("/teleop/estop_state", EstopState(Header(stamp(self.number)), latched, "test"))])


def make_bench(root, cameras=(), video="", **settings):
    machine = Machine()
    rows = Rows(ARMS, JOINTS, None)
    made = {}
    decode = lambda data: made["bench"].records[data]  # noqa: E731
    feeds = {
        "/teleop/frame": (decode, lambda r, _: rows.on_frame(r)),
        "/sim/state": (decode, lambda r, _: rows.on_sim(r)),
        "/teleop/authority": (decode, lambda r, _: rows.on_authority(r)),
        "/teleop/guard/state": (decode, lambda r, _: rows.on_guard(r)),
        "/teleop/estop_state": (decode, lambda r, _: None),
        **{f"/{a}/joint_command": (decode, lambda r, t, a=a: rows.on_command(a, r, t)) for a in ARMS},
    }
    decoders = Decoders(feeds, {f"/teleop/cameras/{c}/image/compressed": c for c in cameras})
    names = [f"j{n}" for n in range(JOINTS - 1)] + ["gripper"]
    attributes = {
        "arms": list(ARMS),
        "joint_names": names,
        "gripper": "gripper",
        "limits": {n: [-1.0, 3.0] for n in names},
        "robot": "so101",
    }
    wanted = Wanted(rows.channels, dict.fromkeys(cameras, 10.0), video, attributes)
    recorder = Recorder(Settings(root, margin=1 << 30, **settings), rows, wanted, decoders, machine)
    made["bench"] = Bench(recorder, machine)
    return made["bench"]
