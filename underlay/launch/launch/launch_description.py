"""The list of what a launch consists of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from launch.launch_context import LaunchContext
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.subset import refuse_arguments

if TYPE_CHECKING:
    from launch.actions import DeclareLaunchArgument


class LaunchDescription(LaunchDescriptionEntity):
    """Entities in the order in which they are visited."""

    def __init__(self, initial_entities: Iterable[LaunchDescriptionEntity] | None = None, **unsupported: Any) -> None:
        """Start with ``initial_entities``."""
        refuse_arguments("launch", "LaunchDescription", unsupported)
        self._entities: list[LaunchDescriptionEntity] = list(initial_entities or ())

    @property
    def entities(self) -> list[LaunchDescriptionEntity]:
        """The entities."""
        return self._entities

    def add_entity(self, entity: LaunchDescriptionEntity) -> None:
        """Append an entity."""
        self._entities.append(entity)

    def add_action(self, action: LaunchDescriptionEntity) -> None:
        """Append an action."""
        self.add_entity(action)

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Return the entities, to be visited in order."""
        return self._entities

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the entities."""
        return self._entities

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
