"""Prints the URDF of all arms of a cell: `python -m teleop_description --arms left,right --limits FILE --cell FILE`."""

from __future__ import annotations

import argparse
import sys

from teleop_common import cell, limits
from teleop_common.errors import ConfigError
from teleop_description.urdf import robot_description


def main() -> int:
    """Print the robot description; bad configuration ends with its one line and status 2."""
    parser = argparse.ArgumentParser(prog="python -m teleop_description", description=__doc__)
    parser.add_argument("--arms", required=True, help="arms, comma-separated")
    parser.add_argument("--limits", required=True, help="limits file of the robot")
    parser.add_argument("--cell", required=True, help="cell file")
    given = parser.parse_args()
    try:
        text = robot_description(given.arms.split(","), cell.load(given.cell), limits.load(given.limits))
    except ConfigError as error:
        sys.stderr.write(f"teleop_description: {error}\n")
        return 2
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
