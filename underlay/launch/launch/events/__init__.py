"""Events of the launch itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from launch.event import Event
from launch.events import process
from launch.subset import absent

if TYPE_CHECKING:
    from launch.action import Action
    from launch.launch_description import LaunchDescription

__all__ = ["IncludeLaunchDescription", "Shutdown", "matches_action", "process"]


class Shutdown(Event):
    """The launch ends: processes are asked to end, nothing new starts."""

    name = "launch.events.Shutdown"

    def __init__(self, *, reason: str = "reason not given", due_to_sigint: bool = False, **_: Any) -> None:
        """Say why, and whether a SIGINT was the cause (then a terminal has sent it to the children too)."""
        self.reason = reason
        self.due_to_sigint = due_to_sigint


class IncludeLaunchDescription(Event):
    """A description is to be visited."""

    name = "launch.events.IncludeLaunchDescription"

    def __init__(self, launch_description: LaunchDescription) -> None:
        """Keep the description."""
        self.launch_description = launch_description


def matches_action(target_action: Action) -> Callable[[Action], bool]:
    """Return a matcher of exactly this action."""
    return lambda action: action is target_action


__getattr__ = absent("launch", __name__)
