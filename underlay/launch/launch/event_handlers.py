"""Handlers of the start and end of processes and of the end of the launch."""

from collections.abc import Callable
from typing import Any

from launch.entities import Action, Event, EventHandler, Reaction
from launch.events import Shutdown
from launch.events.process import ProcessExited, ProcessStarted, RunningProcessEvent
from launch.subset import absent

Target = Action | Callable[[Action], bool] | None


class _OnProcessEvent(EventHandler):
    def __init__(self, kind: type[RunningProcessEvent], target: Target, reaction: Reaction, **kwargs: Any) -> None:
        def matches(event: Event) -> bool:
            if not isinstance(event, kind):
                return False
            return bool(target(event.action)) if callable(target) else target in (None, event.action)

        super().__init__(matcher=matches, entities=reaction, **kwargs)


class OnProcessStart(_OnProcessEvent):
    """Runs actions when a process has started."""

    def __init__(self, *, target_action: Target = None, on_start: Reaction, **kwargs: Any) -> None:
        """React to ``target_action``, to those that it picks if it is a callable, or to any process."""
        super().__init__(ProcessStarted, target_action, on_start, **kwargs)


class OnProcessExit(_OnProcessEvent):
    """Runs actions when a process has ended."""

    def __init__(self, *, target_action: Target = None, on_exit: Reaction, **kwargs: Any) -> None:
        """React to ``target_action``, to those that it picks if it is a callable, or to any process."""
        super().__init__(ProcessExited, target_action, on_exit, **kwargs)


class OnShutdown(EventHandler):
    """Runs actions when the launch begins to end."""

    def __init__(self, *, on_shutdown: Reaction, **kwargs: Any) -> None:
        """Keep what to do."""
        super().__init__(matcher=lambda event: isinstance(event, Shutdown), entities=on_shutdown, **kwargs)


__getattr__ = absent(__name__)
