"""Handlers of the start and end of processes and of the end of the launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from launch.event import Event
from launch.event_handler import EventHandler, Reaction
from launch.events import Shutdown
from launch.events.process import ProcessExited, ProcessStarted, RunningProcessEvent
from launch.subset import absent

if TYPE_CHECKING:
    from launch.action import Action

__all__ = ["EventHandler", "OnProcessExit", "OnProcessStart", "OnShutdown"]


class _OnProcessEvent(EventHandler):
    """Reacts to one kind of event of one process, of those that a callable picks, or of all."""

    def __init__(self, kind: type[RunningProcessEvent], target: Any, reaction: Reaction, **arguments: Any) -> None:
        def matcher(event: Event) -> bool:
            if not isinstance(event, kind):
                return False
            if target is None:
                return True
            return bool(target(event.action)) if callable(target) else event.action is target

        super().__init__(matcher=matcher, entities=reaction, **arguments)


class OnProcessStart(_OnProcessEvent):
    """Runs actions when a process has started."""

    def __init__(
        self, *, target_action: Action | Callable[[Action], bool] | None = None, on_start: Reaction, **kwargs: Any
    ) -> None:
        """React to ``target_action``, to those that it picks if it is a callable, or to any process."""
        super().__init__(ProcessStarted, target_action, on_start, **kwargs)


class OnProcessExit(_OnProcessEvent):
    """Runs actions when a process has ended."""

    def __init__(
        self, *, target_action: Action | Callable[[Action], bool] | None = None, on_exit: Reaction, **kwargs: Any
    ) -> None:
        """React to ``target_action``, to those that it picks if it is a callable, or to any process."""
        super().__init__(ProcessExited, target_action, on_exit, **kwargs)


class OnShutdown(EventHandler):
    """Runs actions when the launch begins to end."""

    def __init__(self, *, on_shutdown: Reaction, **kwargs: Any) -> None:
        """Keep what to do."""
        super().__init__(matcher=lambda event: isinstance(event, Shutdown), entities=on_shutdown, **kwargs)


__getattr__ = absent("launch", __name__)
