"""The ``ros2`` command."""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

_COMMANDS = {
    "bag": "record, play and describe bags",
    "interface": "show interfaces",
    "launch": "run a launch file",
    "node": "list and describe nodes",
    "param": "read and set parameters",
    "pkg": "find packages",
    "run": "run an executable of a package",
    "service": "list and call services",
    "topic": "list, show, measure and publish topics",
}
_HINT = "this is a subset of ros2; for more install ros-jazzy-ros2cli-common-extensions"


class _Parser(argparse.ArgumentParser):
    """Says that more options exist when one is unknown."""

    def error(self, message: str) -> NoReturn:
        """Print usage, message and hint; exit with 2."""
        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: error: {message} ({_HINT})\n")


def main(argv: Sequence[str] | None = None) -> int | signal.Signals:
    """Run one command and return its exit status: 1 when it failed, 2 for a wrong call or Ctrl-C, as the real one."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = _Parser(prog="ros2", description=f"ROS 2 on the command line; {_HINT}.")
    commands = parser.add_subparsers(dest="command", metavar="command", parser_class=_Parser, required=True)
    for name, text in _COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text)
        # only the module of the command in use is loaded: `ros2 run` must not wait for the others
        if name in arguments[:1]:
            importlib.import_module(f"ros2cli.{name}_command").register(command)
    try:
        args = parser.parse_args(arguments)
        status: int | signal.Signals = args.main(args) or 0
        sys.stdout.flush()
    except KeyboardInterrupt:
        return signal.SIGINT
    except BrokenPipeError:
        # `ros2 topic echo ... | head`: nobody reads on; keep the interpreter from complaining at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, RuntimeError, LookupError, ImportError, AttributeError, TypeError, OSError) as error:
        if os.environ.get("ROS2CLI_TRACEBACK"):
            raise
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        print(f"ros2 {arguments[0]}: {text}", file=sys.stderr)
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
