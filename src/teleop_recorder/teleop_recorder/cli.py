"""``./teleop episodes``: list, look at, repair, check, draw, export and replay recorded episodes.

Exit status 0 when what was asked happened, 1 when a check found differences or an export left out takes that were not ended,
2 when it was refused.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

from teleop_common.errors import ConfigError
from teleop_common.start import start
from teleop_common.transport import codec
from teleop_recorder import info, journal_node, layout, reading, repair
from teleop_recorder.replay import command
from teleop_recorder.setup_recorder import default_folder

BAG = repair.Bag(journal_node.messages, journal_node.mend, lambda kind: codec(kind).decode)


def _list(given: argparse.Namespace) -> int:
    root = Path(given.folder) if given.folder else default_folder()
    inside = layout.sessions(root)
    print("\n".join(info.listed(inside or ([layout.find(root)] if (root / "episodes.hdf5").exists() else []))))
    return 0


def _info(given: argparse.Namespace) -> int:
    with reading.episodes(layout.find(given.session), tuple(given.episodes)) as found:
        for episode in found:
            print("\n".join(info.described(episode)))
    return 0


def _repair(given: argparse.Namespace) -> int:
    session = layout.find(given.session)
    said = repair.repair(session, BAG)
    print("\n".join(said) if said else f"{session.folder}: nothing to repair")
    return 0


def _export(given: argparse.Namespace) -> int:
    # not imported above: listing must not wait for pyarrow
    from teleop_recorder.export import grid, hdf5_sets, lerobot

    formats = {"lerobot": lerobot.export, "act": hdf5_sets.act, "robomimic": hdf5_sets.robomimic}
    with ExitStack() as stack:
        chosen, left_out = [], 0
        for path in given.sessions:
            session = layout.find(path)
            found = stack.enter_context(reading.episodes(session, tuple(given.episode)))
            chosen += [episode for episode in found if episode.complete and episode.rows > 1]
            wrong = reading.troubles(session, found, asked=bool(given.episode))
            left_out += len(wrong)
            short = [episode for episode in found if episode.complete and episode.rows < 2]
            told = wrong | {layout.episode_name(e.index): f"has {e.rows} rows, too few for a data set" for e in short}
            for name, text in told.items():
                print(f"{session.folder.name} {name}: left out, {text}", file=sys.stderr)
        fps = given.fps or grid.best_fps(chosen, not given.without_videos)
        wish = lerobot.Wish(Path(given.to), fps, given.any_rate, not given.without_videos, given.task)
        added = formats[given.format](chosen, wish, print)
    print(f"{given.to}: {added} episodes added, {fps} Hz" + (f", {left_out} left out" if left_out else ""))
    return 1 if left_out else 0


def _verify(given: argparse.Namespace) -> int:
    from teleop_recorder import verify  # needs pyarrow as well

    report = verify.verify(layout.find(given.session), BAG, Path(given.against) if given.against else None)
    print("\n".join(report.words()))
    return 1 if report.differences else 0


def _plot(given: argparse.Namespace) -> int:
    from teleop_recorder.plot import draw, panels

    session = layout.find(given.session)
    folder = Path(given.to) if given.to else session.folder / "plots"
    folder.mkdir(parents=True, exist_ok=True)
    with reading.episodes(session, tuple(given.episodes)) as found:
        for episode in found:
            if episode.rows < 2:
                print(f"{layout.episode_name(episode.index)}: has {episode.rows} rows, nothing to draw")
                continue
            name = layout.episode_name(episode.index)
            title = f"{session.folder.name} {name}  {episode.text('task')}".rstrip()
            drawn = panels.panels(episode)
            draw.png(drawn, title, folder / f"{name}.png")
            draw.page(drawn, title, folder / f"{name}.html")
            print(f"{folder / name}.png, .html")
    return 0


def _replay(given: argparse.Namespace) -> NoReturn:
    if not command.confirmed(given, input):
        raise ConfigError("answer", "real arms", "another one", f"'{command.ANSWER}'", "nothing has moved")
    sys.argv = ["replayer", *command.ros_arguments(given)]
    module, name = {"poses": ("poses_node", "PosesNode"), "actions": ("actions_node", "ActionsNode")}[given.what]
    start(f"teleop_recorder.replay.{module}", name)


def _session(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", help="folder of the session, or its episodes.hdf5")


def _chosen(parser: argparse.ArgumentParser) -> None:
    _session(parser)
    parser.add_argument("episodes", nargs="*", type=int, help="numbers of the episodes; none: all")


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return the exit status."""
    parser = argparse.ArgumentParser(prog="teleop episodes", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, text: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=text)
        made.set_defaults(run=run)
        return made

    one = add("list", "list sessions and their episodes", _list)
    one.add_argument("folder", nargs="?", default="", help=f"folder of sessions, or one session; default {default_folder()}")
    _chosen(add("info", "say all that is known of episodes", _info))
    _session(add("repair", "finish what a crash left: index of the bag, prefix of the takes, one file", _repair))
    one = add("plot", "draw takes, as PNG and as a page", _plot)
    _chosen(one)
    one.add_argument("--to", default="", metavar="FOLDER", help="where to; default: plots/ in the session")
    one = add("verify", "compare journal, HDF5, videos, and an export, row by row", _verify)
    _session(one)
    one.add_argument("--against", default="", metavar="FOLDER", help="a data set that the session was exported to")
    one = add("export", "export episodes to a data set for learning; what is in a LeRobot set already stays", _export)
    one.add_argument("--format", choices=["lerobot", "act", "robomimic"], default="lerobot", help="default: LeRobot v3.0")
    one.add_argument("sessions", nargs="+", help="folders of sessions")
    one.add_argument("--to", required=True, metavar="FOLDER", help="the data set")
    one.add_argument(
        "--episode", type=int, action="append", default=[], help="number of an episode, may be repeated; default all"
    )
    one.add_argument("--fps", type=int, default=0, help="rate [Hz]; default: that of the slowest stream")
    one.add_argument("--any-rate", action="store_true", help="also where less than 90 %% of the rate was measured")
    one.add_argument("--without-videos", action="store_true", help="leave the cameras out")
    one.add_argument("--task", default="", help="instruction of episodes that have none")
    command.add_arguments(add("replay", "show a take in the running simulation, or play it onto the arms", _replay))
    given = parser.parse_args(arguments)
    try:
        return int(given.run(given))
    except (ConfigError, OSError) as error:
        print(f"episodes: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
