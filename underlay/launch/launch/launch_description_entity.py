"""Base of everything that a launch description is made of."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from launch.launch_context import LaunchContext


class LaunchDescriptionEntity:
    """Something that the launch service visits."""

    def visit(self, context: LaunchContext) -> Iterable[LaunchDescriptionEntity] | None:
        """Act, and return entities to visit next."""
        raise NotImplementedError(f"{type(self).__name__}.visit() is missing")

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        """Return a future that keeps the launch alive until it is done, or None."""
        return None

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the entities inside, as far as they are known before the launch runs."""
        return []


def visit_all(entity: LaunchDescriptionEntity, context: LaunchContext, keep: Callable[[asyncio.Future[None]], None]) -> None:
    """Visit ``entity`` and what it returns, depth first, and give each future to wait for to ``keep`` at once.

    At once, because a later entity may raise, and the processes of the earlier ones must be waited for all the same.
    """
    returned = entity.visit(context)
    future = entity.get_asyncio_future()
    if future is not None:
        keep(future)
    for inner in returned or ():
        visit_all(inner, context, keep)
