"""Events of the launch itself."""

from launch.entities import Event, LaunchDescription
from launch.events import process as process
from launch.subset import absent


class Shutdown(Event):
    """The launch ends: processes are asked to end, nothing new starts."""

    def __init__(self, *, reason: str = "reason not given", due_to_sigint: bool = False) -> None:
        """Say why, and whether a SIGINT was the cause (then a terminal has sent it to the children too)."""
        self.reason, self.due_to_sigint = reason, due_to_sigint


class IncludeLaunchDescription(Event):
    """A description is to be visited."""

    def __init__(self, launch_description: LaunchDescription) -> None:
        """Keep the description."""
        self.launch_description = launch_description


__getattr__ = absent(__name__)
