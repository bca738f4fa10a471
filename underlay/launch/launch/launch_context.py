"""The state that a running launch shares with its actions."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Iterable, Mapping, MutableMapping
from types import SimpleNamespace
from typing import Any

from launch.event import Event
from launch.event_handler import EventHandler


class LaunchContext:
    """Configurations, locals, event handlers and the queue of events of one launch.

    Attributes:
        launch_configurations: values by name, all strings (launch_ros keeps lists under names of its own).
        events: events that wait to be handled, oldest first.
    """

    def __init__(self, *, argv: Iterable[str] | None = None, noninteractive: bool = False) -> None:
        """Start empty."""
        self._argv = list(argv or ())
        self._noninteractive = noninteractive
        self._locals: dict[str, Any] = {}
        self._stack_of_locals: list[dict[str, Any]] = []
        self._stack_of_configurations: list[dict[str, Any]] = []
        self._stack_of_environments: list[dict[str, str]] = []
        self._event_handlers: deque[EventHandler] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake: asyncio.Event | None = None
        self.launch_configurations: dict[str, Any] = {}
        self.events: deque[Event] = deque()
        self.is_shutdown = False

    @property
    def argv(self) -> list[str]:
        """Arguments given to the launch service."""
        return self._argv

    @property
    def noninteractive(self) -> bool:
        """Whether no terminal delivers Ctrl-C to the children."""
        return self._noninteractive

    @property
    def environment(self) -> MutableMapping[str, str]:
        """The environment of this process, which children inherit."""
        return os.environ

    @property
    def asyncio_loop(self) -> asyncio.AbstractEventLoop | None:
        """The event loop while the launch runs."""
        return self._loop

    def attach(self, loop: asyncio.AbstractEventLoop | None, wake: asyncio.Event | None) -> None:
        """Bind to a running loop and the flag that wakes it, or to none."""
        self._loop, self._wake = loop, wake

    @property
    def event_handlers(self) -> tuple[EventHandler, ...]:
        """The registered handlers, newest first unless appended."""
        return tuple(self._event_handlers)

    def register_event_handler(self, event_handler: EventHandler, append: bool = False) -> None:
        """Add a handler, before the others or (``append``) after them."""
        if append:
            self._event_handlers.append(event_handler)
        else:
            self._event_handlers.appendleft(event_handler)

    def unregister_event_handler(self, event_handler: EventHandler) -> None:
        """Remove a handler.

        Raises:
            ValueError: it is not registered.
        """
        self._event_handlers.remove(event_handler)

    def emit_event_sync(self, event: Event) -> None:
        """Queue an event, from the thread of the loop."""
        self.events.append(event)
        if self._wake is not None:
            self._wake.set()

    async def emit_event(self, event: Event) -> None:
        """Queue an event."""
        self.emit_event_sync(event)

    @property
    def locals(self) -> SimpleNamespace:
        """Values of the handler or include that is running, as attributes."""
        return SimpleNamespace(**self._locals)

    def get_locals_as_dict(self) -> dict[str, Any]:
        """Return the locals."""
        return self._locals

    def extend_locals(self, extension: Mapping[str, Any]) -> None:
        """Add locals."""
        self._locals.update(extension)

    def push_locals(self) -> None:
        """Begin a scope of locals."""
        self._stack_of_locals.append(dict(self._locals))

    def pop_locals(self) -> None:
        """End the newest scope of locals."""
        self._locals = self._stack_of_locals.pop()

    def push_scope(self) -> None:
        """Begin a scope of configurations and environment."""
        self._stack_of_configurations.append(dict(self.launch_configurations))
        self._stack_of_environments.append(dict(os.environ))

    def pop_scope(self) -> None:
        """End the newest scope of configurations and environment."""
        self.launch_configurations = self._stack_of_configurations.pop()
        before = self._stack_of_environments.pop()
        if dict(os.environ) != before:
            os.environ.clear()
            os.environ.update(before)
