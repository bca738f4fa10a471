"""Events about processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from launch.entities import Event
from launch.subset import absent

if TYPE_CHECKING:
    from launch.actions import ExecuteProcess


class RunningProcessEvent(Event):
    """Something happened to a process.

    Attributes:
        action: the action that runs it.
        process_name: its label, ``name-N``.
        pid: process id.
        cmd: command and arguments.
        cwd: working directory, None for the one of the launch.
        env: environment.
    """

    def __init__(self, action: ExecuteProcess) -> None:
        """Keep the facts, which a respawn changes in the action."""
        details = action.process_details
        self.action, self.process_name, self.pid = action, details["name"], details["pid"]
        self.cmd, self.cwd, self.env = details["cmd"], details["cwd"], details["env"]


class ProcessStarted(RunningProcessEvent):
    """A process has started."""


class ProcessExited(RunningProcessEvent):
    """A process has ended.

    Attributes:
        returncode: exit status, or minus the number of the signal that ended it.
    """

    def __init__(self, action: ExecuteProcess) -> None:
        """Keep the facts."""
        super().__init__(action)
        self.returncode = action.return_code


__getattr__ = absent(__name__)
