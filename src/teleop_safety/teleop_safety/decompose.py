"""``python -m teleop_safety.decompose LIMITS_FILE [CACHE_FOLDER]``: caches a robot's links as convex pieces, unless it is done.

The guard runs it beside itself, at low priority. One process at a time works on a robot; a second one leaves it to the first.
It ends with status 2 when it failed, and says why on standard output in one line, for whoever started it.
"""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path

from teleop_common import limits
from teleop_common.errors import ConfigError
from teleop_safety import pieces


def decompose(limits_file: str, where: Path | None = None) -> bool:
    """Make and cache the pieces of a robot; return False when another process is at it.

    Raises:
        ConfigError: the limits file or a mesh cannot be used.
        OSError: the cache cannot be written.
    """
    robot = limits.load(limits_file)
    path = pieces.cache(robot, where)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        if pieces.cached(robot, where) is None:
            pieces.store(path, pieces.make(robot))
    return True


def main() -> int:
    """Run with the arguments of the command line."""
    os.nice(10)
    where = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    try:
        decompose(sys.argv[1], where)
    except ConfigError as error:
        sys.stdout.write(f"{error}\n")
        return 2
    except OSError as error:
        sys.stdout.write(f"{_unkept(where or pieces.folder(), error)}\n")
        return 2
    return 0


def _unkept(folder: Path, error: OSError) -> ConfigError:
    """Return the error of a cache that cannot be written."""
    got, remedy = error.strerror or str(error), "free space, mend its rights, or set XDG_CACHE_HOME to another"
    return ConfigError("cache", str(folder), got, "a folder that can be written", remedy)


if __name__ == "__main__":
    sys.exit(main())
