"""A recorder with real files and real messages, fed by a made-up graph; run as a process, it writes until it is killed."""

import dataclasses
import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import recorder_bench as made  # noqa: E402

from teleop_common import cell, limits, paths, records  # noqa: E402
from teleop_common.enums import EpisodeCommand  # noqa: E402
from teleop_common.transport import codec, type_name  # noqa: E402
from teleop_recorder import setup_recorder  # noqa: E402
from teleop_recorder.journal_node import BagJournal  # noqa: E402
from teleop_recorder.recorder_params import RecorderParams  # noqa: E402
from teleop_recorder.samples import Sample  # noqa: E402

KINDS = {
    "/teleop/frame": records.TeleopFrame,
    "/teleop/input/debug/frame": records.TeleopFrame,
    "/teleop/authority": records.AuthorityState,
    "/teleop/guard/state": records.GuardState,
    "/sim/state": records.SimState,
    "/left/joint_command": records.JointCommand,
    "/right/joint_command": records.JointCommand,
    "/teleop/recorder/state": records.RecorderState,
}


def describe(topic):
    import rosbag2_py

    return rosbag2_py.TopicMetadata(id=0, name=topic, type=type_name(KINDS[topic]), serialization_format="cdr")


class Writer:
    """The recorder and its graph."""

    def __init__(self, root):
        robot, room = limits.load(paths.config("limits/so101.yaml")), cell.load(paths.config("cell.yaml"))
        params = dataclasses.replace(RecorderParams(), folder=str(root), session="killed", disk_margin=0.0)
        journal = lambda path: BagJournal(path, describe)  # noqa: E731
        self.core = setup_recorder.create(params, robot, room, {}, lambda kind: codec(kind).decode, journal)
        self._numbers = dict.fromkeys(KINDS, 0)
        self._encode = {topic: codec(kind).encode for topic, kind in KINDS.items()}
        self._sim = made.sim(0)._replace(qpos=tuple(0.01 * n for n in range(47)))
        self.number = 0

    def sample(self, topic, record, at):
        self._numbers[topic] += 1
        return Sample(topic, self._encode[topic](record), at, self._numbers[topic])

    def step(self, authority=made.Authority.DRIVING):
        n, at = self.number, made.stamp(self.number) + 2_000_000
        sim = self._sim._replace(header=records.Header(made.stamp(n) - 1_000_000), physics_step=5 * n, sim_time=0.01 * n)
        rows = [
            ("/teleop/input/debug/frame", made.frame(n)),
            ("/teleop/frame", made.frame(n)),
            ("/sim/state", sim),
            ("/teleop/authority", made.authority(n)),
            *((f"/{arm}/joint_command", made.command(n, arm, authority)) for arm in made.ARMS),
        ]
        if n % 10 == 0:
            rows += [("/teleop/guard/state", made.guard(n)), ("/teleop/recorder/state", self.core.state(made.stamp(n)))]
        self.core.hear([self.sample(topic, record, at) for topic, record in rows], 0.01 * n, at)
        self.number += 1

    def do(self, kind):
        reply = self.core.command(kind, "write until killed", 0.01 * self.number, made.stamp(self.number) - 1_000_000)
        assert reply.success, reply.message


def main():
    writer = Writer(Path(sys.argv[1]))
    for _ in range(2):
        writer.do(EpisodeCommand.START)
        for _ in range(60):
            writer.step()
        writer.do(EpisodeCommand.END)
    writer.do(EpisodeCommand.START)
    first = writer.number
    for _ in itertools.count():
        writer.step()
        print(writer.number - first, flush=True)


if __name__ == "__main__":
    main()
