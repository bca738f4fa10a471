"""Inverse kinematics beside pink, mink and placo: on a reachable path, on hard streams, and engaged outside a limit.

Hard streams and engaging are run twice, with servos that follow at once and (``+lag``) with lagging, late and drooping ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.ik import hard, path
from bench.ik.closest import Search
from bench.ik.ours import Driven
from bench.ik.peers import PEERS, Answer
from bench.ik.servo import IDEAL, LAGGING, Servo
from bench.ik.streams import HZ, Stream, hard_streams
from teleop_common import limits
from teleop_description.assets import urdf_path
from teleop_ik.kinematics import Chain, Joints
from teleop_ik.setup_arms import make_solver, read_chain
from teleop_ik.solver import SOLVERS, Target

ROOT = Path(__file__).resolve().parents[2]
SERVOS: dict[str, Servo] = {"": IDEAL, "+lag": LAGGING}


class Setting:
    """What all parts share: the arm, its start, the solvers and their peers."""

    def __init__(self) -> None:
        self.robot = limits.load(ROOT / "config/limits/so101.yaml")
        self.chain: Chain = read_chain(urdf_path(self.robot.urdf), self.robot)
        self.home: Joints = tuple(joint.home for joint in self.robot.joints)
        self.solvers = {name: make_solver(name, self.chain) for name in SOLVERS}
        self.bounds = Driven(self.solvers["analytic"], self.robot, self.home, HZ).arm.bounds
        self.streams: tuple[Stream, ...] = hard_streams(self.chain, self.home)

    def search(self) -> Search:
        """Return a search over all of the arm's joints."""
        return Search(self.chain, self.bounds.lower, self.bounds.upper)

    def answers(self) -> dict[str, Callable[[Joints], Answer]]:
        """Return who takes part on the reachable path: solvers as they are, peers as they are shipped."""
        made: dict[str, Callable[[Joints], Answer]] = {}
        for name, solver in self.solvers.items():
            made[f"ours/{name}"] = lambda start, solver=solver: path.solving(solver, self.bounds, start)  # type: ignore[misc]
        for name, peer in PEERS.items():
            made[name] = lambda start, peer=peer: peer(self.chain, self.robot, start, False)  # type: ignore[misc]
        return made

    def drivers(self) -> dict[str, hard.Maker]:
        """Return who takes part on hard streams: our arms, and peers as they are shipped and with limits."""
        made: dict[str, hard.Maker] = {}
        for name, solver in self.solvers.items():
            made[f"ours/{name}"] = lambda start, solver=solver: Driven(solver, self.robot, start, HZ).step  # type: ignore[misc]
        for name, peer in PEERS.items():
            made[name] = lambda start, peer=peer: _driver(peer(self.chain, self.robot, start, False))  # type: ignore[misc]
            made[f"{name}/limited"] = lambda start, peer=peer: _driver(peer(self.chain, self.robot, start, True))  # type: ignore[misc]
        return made


def _driver(answer: Answer) -> hard.Driver:
    def drive(target: Target, measured: Joints) -> Joints:
        return answer(target, measured)[0]

    return drive


def play_all(setting: Setting, only: Callable[[str], bool] = lambda who: True) -> dict[str, dict[str, hard.Run]]:
    """Return the runs of every stream and of everybody whose name ``only`` takes."""
    makers = setting.drivers()
    return {
        stream.name: {
            who + suffix: hard.play(stream.targets, make, servo, setting.home)
            for suffix, servo in SERVOS.items()
            for who, make in makers.items()
            if only(who + suffix)
        }
        for stream in setting.streams
    }


def run() -> dict[str, Any]:
    """Return ``path``, ``hard`` and ``reengage``."""
    setting = Setting()
    result: dict[str, Any] = {"path": path.run(setting.chain, setting.answers())}
    search = setting.search()
    runs = play_all(setting)
    result["hard"] = {
        stream.name: {who: hard.figures(setting.chain, stream, run, search) for who, run in runs[stream.name].items()}
        for stream in setting.streams
    }
    result["reengage"] = {}
    for suffix, servo in SERVOS.items():
        for who, make in setting.drivers().items():
            change = hard.reengage(setting.chain, make, servo, setting.home, setting.bounds)
            result["reengage"][who + suffix] = {"change_deg": None if change is None else math.degrees(change)}
    return result
