"""A graph that records, killed whole in the middle of a take as a power cut would: what is lost, and what repair gives back."""

import hashlib
import os
import random
import signal
import time

import h5py
import numpy as np
import pytest

from teleop_bringup import testing
from teleop_bringup.testing import QUIET
from teleop_common import records
from teleop_common.enums import EpisodeCommand
from teleop_common.testing import free_domain
from teleop_interfaces import srv
from teleop_recorder import cli, layout
from teleop_recorder.cli import BAG

# [s]: half a second that was not with the operating system, a row's wait, and a poll or two of a busy machine
LOST = 0.5 + 0.1 + 0.1


def moments():
    """Times of the kill after the take's start [s]."""
    count = 20 if os.environ.get("TELEOP_NIGHTLY") else 1
    return [pytest.param(random.uniform(0.1, 4.0), id=f"{n}") for n in range(count)]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("sessions")


def digests(root):
    return {str(file.relative_to(root)): hashlib.sha256(file.read_bytes()).digest() for file in root.rglob("*") if file.is_file()}


@pytest.mark.parametrize("after", moments())
def test_graph_killed_whole_loses_half_a_second_and_repair_says_what_it_did(root, capsys, after):
    before = digests(root)
    arguments = ("input:=debug", "record:=true", "session:=cut", f"record_folder:={root}", *QUIET)
    with free_domain() as domain, testing.graph(domain, *arguments) as graph:
        graph.ready()
        states = graph.node.listen(records.RecorderState, "/teleop/recorder/state")

        def do(kind):
            answer = graph.node.call(srv.EpisodeCommand, "/teleop/recorder/command", 30.0, command=int(kind), task="wave")
            assert answer.success, answer.message

        do(EpisodeCommand.START)
        time.sleep(1.0)
        do(EpisodeCommand.END)
        do(EpisodeCommand.START)
        graph.until(lambda: states and states[-1].recording and states[-1].episode == 1, 5.0, "the second take")
        time.sleep(after)
        os.killpg(graph.process.pid, signal.SIGKILL)
        graph.process.wait(5.0)
        # what the middleware still carries was said by nodes that live no more
        time.sleep(0.2)
        said = {arm: graph.commands[arm][-1] for arm in graph.arms}
        session = layout.Session(max((p for p in root.iterdir()), key=lambda p: p.stat().st_ctime))
    last = max(command.header.stamp for command in said.values())
    # as the kill left it
    with h5py.File(session.hdf5) as file:
        first = file["episodes/episode_00000"]
        assert first.attrs["complete"]
        whole = {name: first[name][:] for name in ("meta/commit", "control/left/committed")}
        left = file["episodes/episode_00001/meta/time/stamp_ns"][:]
    began = int(states[-1].header.stamp - after * 1e9)
    assert last - (left[-1] if len(left) else began) < LOST * 1e9
    # repaired
    assert cli.main(["repair", str(session.folder)]) == 0
    told = capsys.readouterr().out
    assert "journal: index and metadata written" in told
    assert "episode_00001: was not ended" in told or "rebuilt from the journal" in told
    with h5py.File(session.hdf5) as file:
        for name, values in whole.items():
            assert np.array_equal(file["episodes/episode_00000"][name][:], values, equal_nan=True)
        take = file["episodes/episode_00001"]
        assert (take.attrs["complete"], take.attrs["end_reason"]) == (True, "crash")
        assert len(take["meta/commit"]) >= len(left)
    heard = [received for _, _, received in BAG.messages(session.journal, ["/left/joint_command"])]
    assert last - heard[-1] < LOST * 1e9
    assert cli.main(["verify", str(session.folder)]) == 0
    assert cli.main(["repair", str(session.folder)]) == 0
    assert "nothing to repair" in capsys.readouterr().out
    assert {name: value for name, value in digests(root).items() if name in before} == before
