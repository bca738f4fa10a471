"""What a launch is made of: descriptions, actions, events and the handlers of events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from launch.launch_context import LaunchContext
from launch.subset import refuse_arguments

if TYPE_CHECKING:
    from launch.actions import DeclareLaunchArgument
    from launch.conditions import IfCondition


class LaunchDescriptionEntity:
    """Something that the launch service visits."""

    future: asyncio.Future[None] | None = None  # keeps the launch alive until it is done
    inner: list[LaunchDescriptionEntity] = []  # entities inside, as far as they are known before the launch runs

    def visit(self, context: LaunchContext) -> Iterable[LaunchDescriptionEntity] | None:
        """Act, and return entities to visit next."""
        raise NotImplementedError(f"{type(self).__name__}.visit() is missing")

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the entities inside, as far as they are known before the launch runs."""
        return self.inner


SomeEntitiesType = LaunchDescriptionEntity | Iterable[LaunchDescriptionEntity]
Reaction = Any  # entities, or a callable (event, context) that returns entities or None


def to_entities(value: SomeEntitiesType | None) -> list[LaunchDescriptionEntity]:
    """Return a list of entities from None, an entity, or an iterable of entities.

    Raises:
        TypeError: something else.
    """
    items = [value] if value is None or isinstance(value, LaunchDescriptionEntity) else value
    found = [item for item in items if item is not None]
    if not all(isinstance(item, LaunchDescriptionEntity) for item in found):
        raise TypeError(f"actions: got {value!r}, allowed an action, a list of actions or None")
    return found


class Action(LaunchDescriptionEntity):
    """An entity that does something, if its condition holds."""

    def __init__(self, *, condition: IfCondition | None = None, **unsupported: Any) -> None:
        """Keep the condition.

        Raises:
            NotImplementedError: an argument is not in this subset.
        """
        refuse_arguments("launch", type(self).__name__, unsupported)
        self.condition = condition

    def visit(self, context: LaunchContext) -> Iterable[LaunchDescriptionEntity] | None:
        """Execute if the condition holds."""
        return self.execute(context) if self.condition is None or self.condition.evaluate(context) else None

    def execute(self, context: LaunchContext) -> Iterable[LaunchDescriptionEntity] | None:
        """Do it, and return entities to visit next."""
        raise NotImplementedError(f"{type(self).__name__}.execute() is missing")


class LaunchDescription(LaunchDescriptionEntity):
    """Entities in the order in which they are visited."""

    def __init__(self, initial_entities: Iterable[LaunchDescriptionEntity] | None = None) -> None:
        """Start with ``initial_entities``."""
        self.entities = self.inner = list(initial_entities or ())

    def add_action(self, action: LaunchDescriptionEntity) -> None:
        """Append an action."""
        self.entities.append(action)

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Return the entities, to be visited in order."""
        return self.entities

    def get_launch_arguments(self) -> list[DeclareLaunchArgument]:
        """Return the declared arguments, also those of includes and groups, each name once, in the order of declaration."""
        from launch.actions import DeclareLaunchArgument

        found: dict[str, DeclareLaunchArgument] = {}

        def walk(entity: LaunchDescriptionEntity) -> None:
            if isinstance(entity, DeclareLaunchArgument):
                found.setdefault(entity.name, entity)
            for inner in entity.get_sub_entities():
                walk(inner)

        walk(self)
        return list(found.values())


class Event:
    """Something that happened, or a wish that something happen."""


class EventHandler:
    """Runs actions when an event matches."""

    def __init__(self, *, matcher: Callable[[Any], bool], entities: Reaction = None, **unsupported: Any) -> None:
        """Keep what to do.

        Args:
            matcher: tells whether an event is meant.
            entities: actions to run, or a callable ``(event, context)`` that returns some.
            **unsupported: refused.
        """
        refuse_arguments("launch", type(self).__name__, unsupported)
        self.matches, self._reaction = matcher, entities
        self.inner = [] if callable(entities) else to_entities(entities)

    def handle(self, event: Event, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Return the actions to run for ``event``."""
        context.locals.event = event
        return to_entities(self._reaction(event, context)) if callable(self._reaction) else self.inner
