"""The recorder's core on a made-up graph at the rates of the real one: what a second of recording costs.

- ``frames``, ``missed``, ``cpu_cores``, ``mib_per_minute``: a take of 20 s in real time with three cameras of 640x480 at 15 Hz,
  all topics, bag, HDF5 and videos;
- ``add_frame_us_first``, ``add_frame_us_last``: time of a row in the first and in the last of 60 takes, without videos;
- ``topic``: time of a message of each topic, journal and rows included; ``picture_ms``: time of a picture of each encoder;
- ``bag``: the same messages into a bag, ours and written by rosbags.
"""

from __future__ import annotations

import dataclasses
import io
import math
import struct
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import rosbag2_py
from PIL import Image
from rosbags.rosbag2 import StoragePlugin, Writer

from teleop_common import cell, limits, records
from teleop_common.enums import Authority, EpisodeCommand
from teleop_common.transport import codec, type_name
from teleop_recorder import setup_recorder
from teleop_recorder.journal_node import BagJournal
from teleop_recorder.recorder import Recorder
from teleop_recorder.recorder_params import RecorderParams
from teleop_recorder.samples import Sample
from teleop_recorder.video import PRESETS, Video

ROOT = Path(__file__).resolve().parents[1]
ARMS, CAMERAS = ("left", "right"), ("overhead", "left_wrist", "right_wrist")
SECONDS, TAKES, POLL, PICTURE_HZ = 20, 60, 0.02, 15
START = 1_700_000_000_000_000_000
_SIX = tuple(f"joint_{n}" for n in range(6))


def _pose(t: float) -> records.TrackedPose:
    return records.TrackedPose(records.Pose((0.1 * math.sin(t), 0.2, 1.0)), 15)


def _frame(stamp: int, t: float) -> records.TeleopFrame:
    hand = records.Controller(True, _pose(t), _pose(t), 0.5, 1.0)
    return records.TeleopFrame(records.Header(stamp), "debug", 1, round(90 * t), head=_pose(t), left=hand, right=hand)


def _command(stamp: int, t: float) -> records.JointCommand:
    six = tuple(math.sin(t + n) for n in range(6))
    return records.JointCommand(
        records.Header(stamp), commit=round(190 * t), authority=int(Authority.DRIVING), name=_SIX, requested=six, position=six,
        measured=six, reason=(0,) * 6,
    )  # fmt: skip


def _joints(stamp: int, t: float) -> records.JointState:
    six = tuple(math.sin(t + n) for n in range(6))
    return records.JointState(records.Header(stamp), _SIX, six, six, six)


def _authority(stamp: int, t: float) -> records.AuthorityState:
    arms = tuple(records.ArmAuthority(arm, int(Authority.DRIVING), 1, arm, name=_SIX, reference=(t,) * 6) for arm in ARMS)
    return records.AuthorityState(records.Header(stamp), round(190 * t), arms)


def _targets(stamp: int, t: float) -> records.JointTargets:
    return records.JointTargets(
        records.Header(stamp), arms=tuple(records.JointTarget(arm, name=_SIX, position=(t,) * 6, seed=(t,) * 6) for arm in ARMS)
    )


def _sim(stamp: int, t: float) -> records.SimState:
    qpos = tuple(math.sin(t + 0.1 * n) for n in range(47))
    return records.SimState(records.Header(stamp), t, round(500 * t), qpos, qpos[:42], 1.0, "hash")


# topic → (rate [Hz], class, maker): what the graph of two simulated arms says while both are driven
TOPICS: dict[str, tuple[float, type, Any]] = {
    "/teleop/input/debug/frame": (90, records.TeleopFrame, _frame),
    "/teleop/frame": (90, records.TeleopFrame, _frame),
    "/teleop/joint_targets": (90, records.JointTargets, _targets),
    "/teleop/authority": (190, records.AuthorityState, _authority),
    "/teleop/guard/state": (10, records.GuardState, lambda stamp, _: records.GuardState(records.Header(stamp))),
    "/sim/state": (60, records.SimState, _sim),
    "/joint_states": (200, records.JointState, _joints),
    **{f"/{arm}/joint_command": (190, records.JointCommand, _command) for arm in ARMS},
    **{f"/{arm}/joint_states": (100, records.JointState, _joints) for arm in ARMS},
}


def _jpegs() -> list[bytes]:
    """Return pictures of about 45 kB that move."""
    noise = np.random.default_rng(0).integers(0, 255, (30, 40, 3))
    base = np.kron(noise, np.ones((16, 16, 1))).astype(np.uint8)
    made = []
    for shift in range(0, 60, 2):
        file = io.BytesIO()
        Image.fromarray(np.roll(base, shift, 1)).save(file, "JPEG", quality=80)
        made.append(file.getvalue())
    return made


def _image(jpeg: bytes, stamp: int) -> bytes:
    seconds, fraction = divmod(stamp, 1_000_000_000)
    head = struct.pack("<iII4sI8sI", seconds, fraction, 4, b"cam\0", 5, b"jpeg\0\0\0\0", len(jpeg))
    return b"\0\1\0\0" + head + jpeg


class Stream:
    """Messages in the order of their time."""

    def __init__(self, cameras: tuple[str, ...]) -> None:
        """Begin at time zero."""
        self._jpegs = _jpegs()
        self._due = {topic: [0.0, hz] for topic, (hz, _, _) in TOPICS.items()}
        self._due |= {setup_recorder.picture_topic(camera): [0.0, float(PICTURE_HZ)] for camera in cameras}
        self._numbers = dict.fromkeys(self._due, 0)
        self._encode = {topic: codec(kind).encode for topic, (_, kind, _) in TOPICS.items()}
        self._makers = {topic: maker for topic, (_, _, maker) in TOPICS.items()}

    def until(self, now: float) -> list[Sample]:
        """Return what was said up to ``now`` [s]."""
        found = []
        for topic, due in self._due.items():
            while due[0] <= now:
                stamp = START + round(1e9 * due[0])
                self._numbers[topic] += 1
                if topic in self._makers:
                    data = self._encode[topic](self._makers[topic](stamp, due[0]))
                else:
                    data = _image(self._jpegs[self._numbers[topic] % len(self._jpegs)], stamp)
                found.append(Sample(topic, data, stamp + 500_000, self._numbers[topic]))
                due[0] += 1.0 / due[1]
        return sorted(found, key=lambda sample: sample.received)


def _describe(topic: str) -> rosbag2_py.TopicMetadata:
    kind = type_name(TOPICS[topic][1]) if topic in TOPICS else "sensor_msgs/msg/CompressedImage"
    return rosbag2_py.TopicMetadata(id=0, name=topic, type=kind, serialization_format="cdr")


def _recorder(root: Path, cameras: tuple[str, ...], video: str) -> Recorder:
    robot, room = limits.load(ROOT / "config/limits/so101.yaml"), cell.load(ROOT / "config/cell.yaml")
    params = dataclasses.replace(RecorderParams(), folder=str(root), video=video, disk_margin=0.0)
    rates = dict.fromkeys(cameras, float(PICTURE_HZ))
    journal = partial(BagJournal, describe=_describe)
    return setup_recorder.create(params, robot, room, rates, lambda kind: codec(kind).decode, journal)


def _polls(seconds: float, begin: float = 0.0) -> Iterator[float]:
    for k in range(1, round(seconds / POLL) + 1):
        yield begin + k * POLL


def _live(root: Path) -> dict[str, Any]:
    """Record one take in real time, all of it."""
    core, stream = _recorder(root, CAMERAS, "h264_fast"), Stream(CAMERAS)
    core.command(EpisodeCommand.START, "bench", 0.0, START)
    batches = [(now, stream.until(now)) for now in _polls(SECONDS)]
    began, used = time.perf_counter(), time.process_time()
    for now, samples in batches:
        time.sleep(max(0.0, began + now - time.perf_counter()))
        core.hear(samples, now, START + round(1e9 * now))
    state = core.state(0)
    core.command(EpisodeCommand.CLOSE_SESSION, "", SECONDS, START + SECONDS * 1_000_000_000)
    used = time.process_time() - used
    size = sum(file.stat().st_size for file in root.rglob("*") if file.is_file() and "scene" not in file.parts)
    return {
        "frames": state.frames,
        "missed": state.missed,
        "cpu_cores": used / SECONDS,
        "mib_per_minute": size / 2**20 * 60 / SECONDS,
    }


def _takes(root: Path) -> dict[str, Any]:
    """Record 60 takes of 2 s as quickly as they come; the time of a row in the first and the last."""
    core, stream = _recorder(root, (), ""), Stream(())
    costs = []
    for take in range(TAKES):
        begin = 2.0 * take
        core.command(EpisodeCommand.START, "bench", begin, START + round(1e9 * begin))
        batches = [(now, stream.until(now)) for now in _polls(2.0, begin)]
        used = time.process_time()
        for now, samples in batches:
            core.hear(samples, now, START + round(1e9 * now))
        used = time.process_time() - used
        costs.append(1e6 * used / max(core.state(0).frames, 1))
        core.command(EpisodeCommand.END, "", begin + 2.0, START + round(1e9 * (begin + 2.0)))
    core.command(EpisodeCommand.CLOSE_SESSION, "", 2.0 * TAKES, START + 2 * TAKES * 1_000_000_000)
    return {"add_frame_us_first": float(np.median(costs[:5])), "add_frame_us_last": float(np.median(costs[-5:]))}


def _topics(root: Path) -> dict[str, dict[str, float]]:
    """Return the time of a message of each topic alone."""
    core, stream = _recorder(root, (), ""), Stream(())
    core.command(EpisodeCommand.START, "bench", 0.0, START)
    by_topic: dict[str, list[Sample]] = {}
    for sample in stream.until(10.0):
        by_topic.setdefault(sample.topic, []).append(sample)
    found = {}
    for topic, samples in by_topic.items():
        used = time.process_time()
        core.hear(samples, 0.0, START)  # stamps that wait: no row is made
        each = 1e6 * (time.process_time() - used) / len(samples)
        found[topic] = {"us": each, "cpu_cores": 1e-6 * each * TOPICS[topic][0]}
    core.command(EpisodeCommand.CLOSE_SESSION, "", 0.0, START)
    return found


def _encoders(root: Path) -> dict[str, float]:
    jpegs = _jpegs() * 2
    found = {}
    for preset in PRESETS:
        video = Video(root / f"{preset}.mp4", preset)
        used = time.process_time()
        for number, jpeg in enumerate(jpegs):
            video.add(jpeg, START + number * 66_666_667)
        video.close()
        found[preset] = 1e3 * (time.process_time() - used) / len(jpegs)
    return found


def _bags(root: Path) -> dict[str, dict[str, float]]:
    """Write the same messages by our journal and by rosbags."""
    samples = Stream(CAMERAS).until(10.0)
    used = time.process_time()
    ours = BagJournal(root / "ours", _describe)
    for sample in samples:
        ours.write(sample.topic, sample.data, sample.received)
    ours.close()
    mine = time.process_time() - used
    used = time.process_time()
    with Writer(root / "rosbags", version=9, storage_plugin=StoragePlugin.MCAP) as theirs:
        connections = {
            topic: theirs.add_connection(topic, _describe(topic).type, msgdef="", rihs01="RIHS01_0")
            for topic in {sample.topic for sample in samples}
        }
        for sample in samples:
            theirs.write(connections[sample.topic], sample.received, sample.data)
    other = time.process_time() - used
    count = len(samples)
    return {
        "ours": {"us": 1e6 * mine / count, "messages_per_s": count / mine},
        "rosbags": {"us": 1e6 * other / count, "messages_per_s": count / other},
    }


def run() -> dict[str, Any]:
    """Return the figures of the recorder."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        return {
            **_live(root / "live"),
            **_takes(root / "takes"),
            "topic": _topics(root / "topics"),
            "picture_ms": _encoders(root / "videos"),
            "bag": _bags(root),
        }
