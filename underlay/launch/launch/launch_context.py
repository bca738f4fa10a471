"""The state that a running launch shares with its actions."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from launch.entities import Event, EventHandler
    from launch.events import Shutdown


class LaunchContext:
    """Configurations, locals, event handlers and the queue of events of one launch.

    Attributes:
        argv: arguments given to the launch service.
        noninteractive: no terminal delivers Ctrl-C to the children.
        launch_configurations: values by name, all strings (launch_ros keeps lists under names of its own).
        environment: the environment of this process, which children inherit.
        event_handlers: newest first.
        locals: the event that is handled.
        events: events that wait to be handled; None wakes the service without one.
        is_shutdown: the launch is ending.
        ending: while the launch runs, a future that gets the Shutdown event.
    """

    ending: asyncio.Future[Shutdown]

    def __init__(self, *, argv: Iterable[str] | None = None, noninteractive: bool = False) -> None:
        """Start empty."""
        self.argv, self.noninteractive, self.is_shutdown = list(argv or ()), noninteractive, False
        self.launch_configurations: dict[str, Any] = {}
        self.environment = os.environ
        self.event_handlers: list[EventHandler] = []
        self.events: asyncio.Queue[Event | None] = asyncio.Queue()
        self.locals = SimpleNamespace(event=None)
        self._scopes: list[tuple[dict[str, Any], dict[str, str]]] = []

    def register_event_handler(self, event_handler: EventHandler) -> None:
        """Add a handler, before the others."""
        self.event_handlers.insert(0, event_handler)

    def emit_event_sync(self, event: Event) -> None:
        """Queue an event, from the thread of the loop."""
        self.events.put_nowait(event)

    def push_scope(self) -> None:
        """Begin a scope of configurations and environment."""
        self._scopes.append((dict(self.launch_configurations), dict(os.environ)))

    def pop_scope(self) -> None:
        """End the newest scope of configurations and environment."""
        self.launch_configurations, before = self._scopes.pop()
        if dict(os.environ) != before:
            os.environ.clear()
            os.environ.update(before)
