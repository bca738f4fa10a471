"""``./teleop emulate``: one or two SO-101 on pseudo-terminals, until Ctrl-C; or, with ``--tell``, a fault to those that run."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from teleop_common import cell, limits, paths
from teleop_common.errors import ConfigError
from teleop_hw_so101 import calibration
from teleop_hw_so101.emulator import faults, server, unit
from teleop_hw_so101.emulator.emulator import Emulator
from teleop_hw_so101.emulator.log import Behind, Log
from teleop_hw_so101.emulator.protection import OVERLOAD_CLEARS

_LINGER, _SILENCE = 4.0, 0.3  # [s]


def _parser() -> argparse.ArgumentParser:
    kinds = "\n".join(f"  {kind:<10}{text}" for kind, text in faults.KINDS.items())
    parser = argparse.ArgumentParser(
        prog="teleop emulate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"faults, as words or as keys (fault, arm, id, at, share, count, for, value) of a script:\n{kinds}",
    )
    parser.add_argument("--arms", default="left,right", help="names of the arms, also of their ports (left,right)")
    parser.add_argument(
        "--folder", type=Path, default=server.default_folder(), help="where ports and calibrations go (%(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="decides units and every chance (1)")
    parser.add_argument("--script", help="YAML file of faults by time")
    parser.add_argument("--log", type=Path, help="CSV file that says what each servo did; lines with # are events")
    parser.add_argument("--log-hz", type=float, default=100.0, help="how often it says so [Hz] (100)")
    parser.add_argument("--uncalibrated", action="store_true", help="servos as they leave the factory")
    parser.add_argument("--calibration", action="append", default=[], metavar="ARM=FILE", help="emulate the unit of this file")
    parser.add_argument("--echo", action="store_true", help="adapters that hand back what is sent")
    parser.add_argument("--latency-ms", type=float, default=0.0, help="what the adapters add to each reply [ms] (0)")
    parser.add_argument("--overload-clears", choices=OVERLOAD_CLEARS, default=OVERLOAD_CLEARS[0], help="what clears an overload")
    parser.add_argument("--cubes-seed", type=int, default=0, help="where the cubes lie, as in simulation (0)")
    parser.add_argument("--limits-file", default="", help="another robot's limits")
    parser.add_argument("--cell-file", default="", help="another cell")
    parser.add_argument(
        "--tell", action="append", metavar="FAULT", help="send a fault to a running emulator, e.g. 'gone left id=3'"
    )
    return parser


def units(given: argparse.Namespace, robot: limits.RobotLimits) -> list[unit.Unit]:
    """Return the arms that the command line asks for.

    Raises:
        ConfigError: a calibration that cannot be read, or of an arm that is not emulated.
    """
    names = tuple(name for name in given.arms.split(",") if name)
    limits.check_arms(names)
    files = dict(entry.partition("=")[::2] for entry in given.calibration)
    for arm in files:
        if arm not in names:
            raise ConfigError("arm", arm, files[arm], "one of " + ", ".join(names), "write --calibration ARM=FILE")
    made = []
    for arm in names:
        if arm in files:
            made.append(unit.from_calibration(arm, calibration.load(files[arm]), robot))
        else:
            made.append(unit.make_unit(arm, robot, given.seed, calibrated=not given.uncalibrated))
    return made


def left(ended: list[float], last_request: float, now: float) -> bool:
    """Return whether to end, asked to at the times ``ended``: a driver that was told to end as well may still park its arm."""
    return len(ended) > 1 or now - ended[0] > _LINGER or now - last_request > _SILENCE


def _serve(given: argparse.Namespace) -> None:
    robot = limits.load(paths.config("limits/so101.yaml", given.limits_file))
    room = cell.load(paths.config("cell.yaml", given.cell_file))
    arms = units(given, robot)
    script = faults.load(given.script, [one.arm for one in arms]) if given.script else ()
    ended: list[float] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.append(time.monotonic()))
    with ExitStack() as stack:
        control = server.listen(given.folder)
        stack.callback(control.close)
        file = stack.enter_context(given.log.open("w", encoding="utf-8")) if given.log else None
        log = Log(hz=0.0)
        if file:
            behind = Behind(file)
            stack.callback(behind.close)
            log = Log(given.log_hz, behind)
        emulator = Emulator(
            arms,
            room,
            robot,
            seed=given.seed,
            script=script,
            log=log,
            cubes_seed=given.cubes_seed,
            echo=given.echo,
            latency=given.latency_ms / 1000.0,
            overload_clears=given.overload_clears,
        )
        serving = server.Server(emulator, control, given.folder, time.monotonic)
        stack.callback(serving.close)
        for one in arms:
            if not given.uncalibrated:
                calibration.save(one.calibration, given.folder / f"{one.arm}.json", overwrite=True)
            print(f"{one.arm}: {serving.port(one.arm)}", flush=True)
        print("serving; Ctrl-C ends it", flush=True)
        serving.serve(lambda: bool(ended) and left(ended, serving.last_request, time.monotonic()))


def main(arguments: list[str] | None = None) -> int:
    """Emulate, or send faults, and return the exit status."""
    given = _parser().parse_args(arguments)
    try:
        if given.tell:
            answers = server.tell(given.folder, given.tell)
            print("\n".join(answers))
            return int(any(answer != "ok" for answer in answers))
        _serve(given)
    except (ConfigError, OSError) as error:
        print(f"emulate: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
