"""``ros2 run``."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import signal
import subprocess
import sys

from ros2cli.pkg_command import executables


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--prefix", help="command to put before the executable, such as gdb")
    parser.add_argument("package_name")
    parser.add_argument("executable_name")
    parser.add_argument("argv", nargs=argparse.REMAINDER, help="arguments of the executable")
    parser.set_defaults(main=_run)


def _run(args: argparse.Namespace) -> int:
    found = [path for path in executables(args.package_name) if path.name == args.executable_name]
    if not found:
        names = ", ".join(path.name for path in executables(args.package_name)) or "none"
        raise LookupError(f"executable '{args.executable_name}': not in package '{args.package_name}', which has {names}")
    process = subprocess.Popen([*shlex.split(args.prefix or ""), str(found[0]), *args.argv])
    while process.returncode is None:
        # the terminal sends Ctrl-C to the process as well: wait for its own end
        with contextlib.suppress(KeyboardInterrupt):
            process.communicate()
    if process.returncode < 0:
        print("[ros2run]:", signal.strsignal(-process.returncode), file=sys.stderr)
    elif process.returncode > 0:
        print(f"[ros2run]: Process exited with failure {process.returncode}", file=sys.stderr)
    return process.returncode
