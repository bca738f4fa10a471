"""``./teleop convert isaac``: recordings of Isaac Teleop to bags, and back."""

from __future__ import annotations

import argparse
import sys

from teleop_common.errors import TeleopError
from teleop_input.isaac import convert
from teleop_input.isaac.files import is_recording


def main(arguments: list[str] | None = None) -> int:
    """Convert; return the exit status."""
    parser = argparse.ArgumentParser(prog="./teleop convert", description="Convert recordings of other systems.")
    kinds = parser.add_subparsers(dest="kind", required=True)
    isaac = kinds.add_parser("isaac", help="Isaac Teleop (MCAP): to a bag, or a bag to it, by what SOURCE is")
    isaac.add_argument("source", help="an .mcap file of Isaac Teleop, or a bag")
    isaac.add_argument("target", help="bag to make, or .mcap file to make; must not exist")
    when = isaac.add_mutually_exclusive_group()
    when.add_argument("--offset", type=int, metavar="NS", help="to a bag: ROS time less the recording host's monotonic time [ns]")
    when.add_argument("--start", type=float, metavar="S", help="to a bag: ROS time at which the file starts [s]")
    isaac.add_argument("--topic", default="", help="from a bag: the frames' topic, where it holds several providers")
    chosen = parser.parse_args(arguments)
    try:
        if is_recording(chosen.source):
            if chosen.topic:
                parser.error("--topic is for bags; a recording has its topics by their kind")
            start = None if chosen.start is None else round(chosen.start * 1e9)
            report = convert.to_bag(chosen.source, chosen.target, chosen.offset, start)
        else:
            if chosen.offset is not None or chosen.start is not None:
                parser.error("--offset and --start are for recordings; a bag has its times")
            if not chosen.target.endswith(".mcap"):
                if chosen.source.endswith(".mcap"):
                    parser.error(
                        f"source: {chosen.source!r} is no recording of Isaac Teleop; name one, or a target that ends in .mcap"
                    )
                parser.error(f"target: got {chosen.target!r}, allowed a name that ends in .mcap; a bag becomes one file")
            report = convert.to_recording(chosen.source, chosen.target, chosen.topic)
    except TeleopError as error:
        print(f"teleop: {error}", file=sys.stderr)
        return 1
    print("\n".join(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
