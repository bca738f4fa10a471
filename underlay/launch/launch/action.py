"""Base of the actions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from launch.condition import Condition
from launch.launch_context import LaunchContext
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.subset import refuse_arguments


class Action(LaunchDescriptionEntity):
    """An entity that does something, if its condition holds."""

    def __init__(self, *, condition: Condition | None = None, **unsupported: Any) -> None:
        """Keep the condition.

        Raises:
            NotImplementedError: an argument is not in this subset.
        """
        refuse_arguments("launch", type(self).__name__, unsupported)
        self._condition = condition

    @property
    def condition(self) -> Condition | None:
        """The condition, or None."""
        return self._condition

    def visit(self, context: LaunchContext) -> Iterable[LaunchDescriptionEntity] | None:
        """Execute if the condition holds."""
        if self._condition is None or self._condition.evaluate(context):
            return self.execute(context)
        return None

    def execute(self, context: LaunchContext) -> Iterable[LaunchDescriptionEntity] | None:
        """Do it, and return entities to visit next."""
        raise NotImplementedError(f"{type(self).__name__}.execute() is missing")
