"""``./teleop fuzz guard --steps N --seed S``: exit status 0 when the envelope held, 1 when it was left, 2 for bad arguments."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from teleop_common import limits, paths
from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits
from teleop_safety.fuzz import corpus, run

_EVERY = 5.0  # [s] between words of progress


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="teleop fuzz", description=__doc__)
    parser.add_argument("what", choices=("guard",), help="the core to fuzz")
    parser.add_argument("--steps", type=int, default=100_000, help="calls of the guard (default 100000)")
    parser.add_argument("--seed", type=int, default=1, help="of everything that is drawn (default 1)")
    parser.add_argument("--real", type=float, default=0.1, help="share of the runs with real geometry, 0 to 1 (default 0.1)")
    parser.add_argument("--keep", metavar="DIR", help="write each violation, cut down, into this folder as a corpus file")
    parser.add_argument("--limits", default="", help="limits file of the robot; empty: the installed limits/so101.yaml")
    return parser


def _corpus(robot: RobotLimits) -> bool:
    """Play the kept runs; return whether all held."""
    good, cases = True, corpus.cases()
    for case in cases:
        for text in corpus.replay(robot, case):
            print(f"fuzz: {case.name}: {text}", file=sys.stderr)
            good = False
    print(f"corpus: {len(cases)} kept runs {'held' if good else 'did not all hold'}")
    return good


def main(arguments: list[str] | None = None) -> int:
    """Play the corpus, then fuzz, and return the exit status."""
    given = _parser().parse_args(arguments)
    try:
        if given.steps < 1:
            raise ConfigError("option", "--steps", given.steps, "1 or more", "name a number of calls")
        if not 0.0 <= given.real <= 1.0:
            raise ConfigError("option", "--real", given.real, "0 to 1", "name a share of the runs")
        robot = limits.load(paths.config("limits/so101.yaml", given.limits))
        good = _corpus(robot)
    except ConfigError as error:
        print(f"fuzz: {error}", file=sys.stderr)
        return 2
    began = said = time.perf_counter()

    def tell(report: run.Report) -> None:
        nonlocal said
        now = time.perf_counter()
        if now - said > _EVERY:
            said = now
            print(f"fuzz: {report.steps} steps, {report.steps / (now - began):.0f} a second", file=sys.stderr, flush=True)

    report = run.fuzz(robot, given.steps, given.seed, tell=tell, real=given.real)
    took = time.perf_counter() - began
    print(
        f"fuzz: seed {given.seed}, {report.steps} steps in {report.runs} runs, {report.moves} motion commits, "
        f"{report.steps / took:.0f} steps a second, {len(report.found)} violations"
    )
    for number, found in enumerate(report.found, 1):
        print(f"violation {number}:\n{corpus.written(found)}")
        if given.keep:
            folder = Path(given.keep)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"seed{given.seed}_{number}.yaml").write_text(corpus.written(found), encoding="utf-8")
    return 0 if good and not report.found else 1


if __name__ == "__main__":
    sys.exit(main())
