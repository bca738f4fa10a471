"""Events about processes."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

from launch.event import Event
from launch.subset import absent

if TYPE_CHECKING:
    from launch.actions import ExecuteProcess

Matcher = Callable[["ExecuteProcess"], bool]


class RunningProcessEvent(Event):
    """Something happened to a process.

    Attributes:
        action: the action that runs it.
        process_name: its label, ``name-N``.
        cmd: command and arguments.
        cwd: working directory, None for the one of the launch.
        env: environment, None for the one of the launch.
        pid: process id.
    """

    name = "launch.events.process.RunningProcessEvent"

    def __init__(
        self, *, action: ExecuteProcess, name: str, cmd: list[str], cwd: str | None, env: dict[str, str] | None, pid: int
    ) -> None:
        """Keep the facts."""
        self.action = action
        self.process_name = name
        self.cmd = cmd
        self.cwd = cwd
        self.env = env
        self.pid = pid


class ProcessStarted(RunningProcessEvent):
    """A process has started."""

    name = "launch.events.process.ProcessStarted"


class ProcessExited(RunningProcessEvent):
    """A process has ended.

    Attributes:
        returncode: exit status, or minus the number of the signal that ended it.
    """

    name = "launch.events.process.ProcessExited"

    def __init__(
        self,
        *,
        returncode: int,
        action: ExecuteProcess,
        name: str,
        cmd: list[str],
        cwd: str | None,
        env: dict[str, str] | None,
        pid: int,
    ) -> None:
        """Keep the facts."""
        super().__init__(action=action, name=name, cmd=cmd, cwd=cwd, env=env, pid=pid)
        self.returncode = returncode


class ProcessTargetedEvent(Event):
    """A wish for the processes that a matcher picks."""

    name = "launch.events.process.ProcessTargetedEvent"

    def __init__(self, *, process_matcher: Matcher) -> None:
        """Keep the matcher of actions."""
        self.process_matcher = process_matcher


class ShutdownProcess(ProcessTargetedEvent):
    """A process is to be ended: SIGINT, then SIGTERM, then SIGKILL."""

    name = "launch.events.process.ShutdownProcess"


class SignalProcess(ProcessTargetedEvent):
    """A process is to get a signal."""

    name = "launch.events.process.SignalProcess"

    def __init__(self, *, signal_number: int | str | signal.Signals, process_matcher: Matcher) -> None:
        """Keep the signal, given by number or by name, and the matcher."""
        super().__init__(process_matcher=process_matcher)
        self.signal = signal.Signals[signal_number] if isinstance(signal_number, str) else signal.Signals(signal_number)

    @property
    def signal_name(self) -> str:
        """Name of the signal, as ``SIGINT``."""
        return self.signal.name


__getattr__ = absent("launch", __name__)
