"""Processes: those that others started are watched through pidfds, plugins are started and ended here.

A pidfd becomes readable when its process ends, whoever its parent is, and never speaks of a later process with the same number.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from teleop_diagnostics.verdict import Exit


class Watcher:
    """Notices the end of processes that are no children of this one."""

    def __init__(self) -> None:
        """Watch nothing."""
        self._poll = select.poll()
        self._pids: dict[int, int] = {}

    def watch(self, pid: int) -> None:
        """Watch a process from now on.

        Raises:
            ProcessLookupError: it has ended already.
            OSError: the system does not let us.
        """
        if pid in self._pids.values():
            return
        descriptor = os.pidfd_open(pid)
        self._pids[descriptor] = pid
        self._poll.register(descriptor, select.POLLIN)

    def ended(self) -> list[int]:
        """Return the processes that have ended since the last call, at once."""
        gone = []
        for descriptor, _event in self._poll.poll(0):
            self._poll.unregister(descriptor)
            os.close(descriptor)
            gone.append(self._pids.pop(descriptor))
        return gone

    def close(self) -> None:
        """Watch nothing any more."""
        for descriptor in self._pids:
            os.close(descriptor)
        self._pids.clear()


class Children:
    """Plugins as processes, each in a group of its own, so that Ctrl-C on the terminal leaves their end to us."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, command: Sequence[str], folder: Path) -> int:
        """Start a process and return its id; call it from the thread that lives as long as the program.

        Raises:
            OSError: it cannot be started.
        """
        program = command[0]
        found = shutil.which(program) if os.sep not in program else shutil.which(str(folder / program))
        if found is None:
            raise FileNotFoundError(
                f"command '{program}': not found as an executable; looked in PATH, and below {folder} for a path"
            )
        # the system ends the plugin when we die without a word, or our successor would start a second one
        setpriv = shutil.which("setpriv")
        prefix = [setpriv, "--pdeathsig", "TERM", "--"] if setpriv else []
        child = subprocess.Popen([*prefix, found, *command[1:]], cwd=folder, start_new_session=True, stdin=subprocess.DEVNULL)
        self._running[name] = child
        return child.pid

    def ended(self) -> list[tuple[int, Exit]]:
        """Return the processes that have ended since the last call, and how, at once."""
        gone = []
        for name, child in list(self._running.items()):
            code = child.poll()
            if code is not None:
                del self._running[name]
                gone.append((child.pid, exit_of(code)))
        return gone

    def stop(self, patience: float) -> None:
        """End all of them: SIGTERM, and after ``patience`` [s] SIGKILL; returns when they are gone."""
        for child in self._running.values():
            _signal(child, signal.SIGTERM)
        for child in self._running.values():
            try:
                child.wait(patience)
            except subprocess.TimeoutExpired:
                patience = 0.0  # the others have had their time meanwhile
                _signal(child, signal.SIGKILL)
                child.wait()
        self._running.clear()


def _signal(child: subprocess.Popen[bytes], number: int) -> None:
    """Signal a child's whole group."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, number)


def exit_of(returncode: int) -> Exit:
    """Return how a process ended from its status as Python gives it: negative for a signal."""
    return Exit(None, -returncode) if returncode < 0 else Exit(returncode, 0)
