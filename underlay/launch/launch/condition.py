"""Base of the conditions of actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from launch.launch_context import LaunchContext


class Condition:
    """Decides while the launch runs whether an action runs."""

    def __init__(self, *, predicate: Callable[[LaunchContext], bool]) -> None:
        """Keep the predicate."""
        self._predicate = predicate

    def evaluate(self, context: LaunchContext) -> bool:
        """Tell whether it holds in this context."""
        return self._predicate(context)
