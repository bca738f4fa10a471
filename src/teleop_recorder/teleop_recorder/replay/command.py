"""``./teleop episodes replay``: from what was typed to a node's parameters."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

ANSWER = "they may move"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be typed."""
    parser.add_argument("session", help="folder of the session; for actions also of an exported LeRobot data set")
    parser.add_argument("episode", type=int, help="number of the take")
    how = "poses: shown in the simulation (default); actions: played onto the arms, through the guard"
    parser.add_argument("--as", dest="what", choices=["poses", "actions"], default="poses", help=how)
    parser.add_argument("--loop", action="store_true", help="begin again at the end")
    parser.add_argument("--speed", type=float, default=1.0, help="recorded seconds per second")
    parser.add_argument("--still", action="store_true", help="poses: stand at each frame until told to step or play")
    parser.add_argument("--start", type=float, default=0.0, metavar="S", help="poses: where to begin [s]")
    parser.add_argument(
        "--arms", default="", metavar="NAMES", help="actions: arms to lead, e.g. left,right; default: all of the take"
    )
    parser.add_argument("--limits", default="", metavar="FILE", help="actions: limits file of another robot")
    parser.add_argument("--real", action="store_true", help="actions: also onto real arms, after a question")


def ros_arguments(given: argparse.Namespace) -> list[str]:
    """Return the arguments of the node's process.

    JSON is YAML that keeps types: a folder called 012 stays text.
    """
    values = {"session": str(Path(given.session).absolute()), "episode": given.episode, "loop": given.loop, "speed": given.speed}
    if given.what == "poses":
        values |= {"still": given.still, "start": given.start}
    else:
        values |= {"real": given.real}
        if given.arms:
            values["arms"] = given.arms.split(",")
        if given.limits:
            values["limits_file"] = str(Path(given.limits).absolute())
    found = ["--ros-args"]
    for name, value in values.items():
        found += ["-p", f"{name}:={json.dumps(value)}"]
    return found


def confirmed(given: argparse.Namespace, ask: Callable[[str], str]) -> bool:
    """Return whether real arms are not meant, or may move; ``ask`` puts the question."""
    if not (given.real and given.what == "actions"):
        return True
    question = f"Real arms will move by themselves. Keep out of their reach, a hand on the e-stop. Type '{ANSWER}': "
    try:
        return ask(question).strip() == ANSWER
    except EOFError:  # nobody is there to answer
        return False
