"""``./teleop resim BAG``: exit status 0 equal, 1 different, 2 refused, 3 equal as far as a recording with gaps tells."""

from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import asdict

from teleop_common.errors import ConfigError
from teleop_ik.params import RetargeterParams
from teleop_ik.recipe import rebuild
from teleop_ik.resim import bag, report
from teleop_ik.resim.resimulate import Resimulation


def _tolerance(text: str) -> float:
    value = float(text)
    if not (math.isfinite(value) and value >= 0.0):
        raise argparse.ArgumentTypeError(
            f"got {text}, allowed 0 (to the bit) or more; leave it away for a run on the same machine"
        )
    return value


def main(arguments: list[str] | None = None) -> int:
    """Re-simulate a bag, say what came out, and return the exit status."""
    parser = argparse.ArgumentParser(prog="teleop resim", description=__doc__)
    parser.add_argument("bag", help="a bag's directory or .mcap file; it needs the topics " + bag.TOPICS.replace("|", ", "))
    parser.add_argument(
        "--tolerance",
        type=_tolerance,
        default=0.0,
        help="largest allowed difference of two numbers (another machine: 1e-9)",
    )
    given = parser.parse_args(arguments)
    defaults = asdict(RetargeterParams())
    try:
        run = Resimulation(bag.read(given.bag), lambda config: rebuild(config, defaults), given.tolerance)
        began = time.perf_counter()
        found = run.run()
    except ConfigError as error:
        print(f"resim: {error}", file=sys.stderr)
        return report.REFUSED
    print(report.words(found, given.tolerance, time.perf_counter() - began))
    return report.status(found)


if __name__ == "__main__":
    sys.exit(main())
