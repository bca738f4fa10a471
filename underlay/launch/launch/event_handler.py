"""Base of the handlers of events."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from launch.event import Event
from launch.subset import refuse_arguments
from launch.utilities import to_entities

if TYPE_CHECKING:
    from launch.launch_context import LaunchContext
    from launch.launch_description_entity import LaunchDescriptionEntity

Reaction = Any  # entities, or a callable (event, context) that returns entities or None


class EventHandler:
    """Runs actions when an event matches."""

    def __init__(
        self, *, matcher: Callable[[Event], bool], entities: Reaction = None, handle_once: bool = False, **unsupported: Any
    ) -> None:
        """Keep what to do.

        Args:
            matcher: tells whether an event is meant.
            entities: actions to run, or a callable ``(event, context)`` that returns some.
            handle_once: unregister after the first event that matched.
            **unsupported: refused.
        """
        refuse_arguments("launch", type(self).__name__, unsupported)
        self._matcher = matcher
        self._entities = entities
        self._handle_once = handle_once

    @property
    def handle_once(self) -> bool:
        """Whether it serves one event only."""
        return self._handle_once

    @property
    def entities(self) -> list[LaunchDescriptionEntity]:
        """The actions given as such (not by a callable)."""
        return [] if callable(self._entities) else to_entities(self._entities)

    def matches(self, event: Event) -> bool:
        """Tell whether ``event`` is for this handler."""
        return self._matcher(event)

    def handle(self, event: Event, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Return the actions to run for ``event``."""
        context.extend_locals({"event": event})
        if self._handle_once:
            context.unregister_event_handler(self)
        return to_entities(self._entities(event, context) if callable(self._entities) else self._entities)
