"""Records takes of a scripted pick in the running graph, then holds everything that was written against each other.

``./teleop exec python tools/recorded_picks.py FOLDER --takes 10``: the scripted operator picks a cube in lockstep; its frames
are played into the graph at 90 Hz, once a take, with all recorded cameras. Afterwards the counts of every topic are compared,
journal, HDF5, videos and an export row by row, and the recorded joint targets are computed again. One JSON object; exit
status 0 when all agree.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import h5py
from std_msgs.msg import String
from std_srvs.srv import Trigger

from teleop_bringup import tasks, testing
from teleop_bringup.lockstep_cores import Options
from teleop_common import cell, limits, qos
from teleop_common.enums import Command, EpisodeCommand
from teleop_common.testing import free_domain
from teleop_ik.resim import cli as resim
from teleop_input import bag
from teleop_interfaces import srv
from teleop_recorder import cli

ROOT = Path(__file__).resolve().parents[1]
TASK = "put the red cube into the zone"


def record(folder: Path, frames: Path, takes: int) -> None:
    """Record ``takes`` plays of ``frames`` into the session ``picks`` below ``folder``."""
    arguments = ("input:=replay", f"bag:={frames}", "web:=false", "record:=true", "session:=picks", f"task:={TASK}")
    with free_domain() as domain, testing.graph(domain, *arguments, f"record_folder:={folder}", "log_level:=warn") as graph:
        states: list[str] = []
        hear = lambda message: states.append(json.loads(message.data)["state"])  # noqa: E731
        graph.node.create_subscription(String, "/teleop/input/replay/state", hear, qos.LATCHED)
        graph.ready()
        graph.until(lambda: "ended" in states, 90.0, "end of the first play, which is not recorded")

        def call(kind: Any, name: str, **fields: Any) -> None:
            answer = graph.node.call(kind, name, 30.0, **fields)
            print(f"{name}: {answer.message}", file=sys.stderr)
            if not answer.success:
                raise RuntimeError(f"{name}: {answer.message}")

        for _ in range(takes):
            graph.bring_home()
            call(Trigger, "/sim/reset")
            call(srv.EpisodeCommand, "/teleop/recorder/command", command=int(EpisodeCommand.START))
            call(srv.SessionCommand, "/teleop/session/command", command=int(Command.RESET))
            # its state is repeated: the end of the play before may still be told
            states.clear()
            graph.until(lambda: "playing" in states, 20.0, "beginning of the play")
            graph.until(lambda: "ended" in states[states.index("playing") :], 90.0, "end of the play")
            call(srv.EpisodeCommand, "/teleop/recorder/command", command=int(EpisodeCommand.END))
        call(srv.EpisodeCommand, "/teleop/recorder/command", command=int(EpisodeCommand.CLOSE_SESSION))


def said(run: Any, *arguments: str) -> tuple[int, list[str]]:
    """Return exit status and lines of a command."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = run([*arguments])
    return status, out.getvalue().splitlines()


def report(session: Path, data_set: Path) -> tuple[bool, dict[str, Any]]:
    """Compare all that was written and return whether all agree, and the figures."""
    with h5py.File(session / "episodes.hdf5") as file:
        episodes = {name: json.loads(group.attrs["grade"]) for name, group in file["episodes"].items()}
        counts = {name: json.loads(group.attrs["counts"]) for name, group in file["episodes"].items()}
    uneven = {f"{e} {t}": c for e, its in counts.items() for t, c in its.items() if len(set(c.values())) > 1}
    messages = sum(c["published"] for its in counts.values() for c in its.values())
    topics = {topic for its in counts.values() for topic in its}
    exported = said(cli.main, "export", str(session), "--to", str(data_set))
    verified = said(cli.main, "verify", str(session), "--against", str(data_set))
    again = said(resim.main, str(session / "journal"))
    figures = {
        "messages": messages,
        "topics": len(topics),
        "uneven": uneven,
        "export": exported[1][-1:],
        "verify": verified[1],
        "resim": again[1],
        "grades": episodes,
    }
    return not uneven and exported[0] == verified[0] == again[0] == 0, figures


def main() -> int:
    """Record and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to; the session is called picks")
    parser.add_argument("--takes", type=int, default=10)
    given = parser.parse_args()
    folder = given.folder.resolve()
    robot, room = limits.load(ROOT / "config/limits/so101.yaml"), cell.load(ROOT / "config/cell.yaml")
    done = tasks.pick(robot, room, Options(), cube="cube_red")
    with tempfile.TemporaryDirectory() as made:
        frames = Path(made) / "pick"
        bag.write(frames, done.log.frames, "/teleop/input/external/frame")
        record(folder, frames, given.takes)
    same, figures = report(folder / "picks", folder / "data_set")
    json.dump({"agree": same, **figures}, sys.stdout, indent=1)
    print()
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
