"""Actions later."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from launch.action import Action
from launch.event import Event
from launch.event_handlers import OnShutdown
from launch.events import IncludeLaunchDescription
from launch.launch_context import LaunchContext
from launch.launch_description import LaunchDescription
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.utilities import text_of


class TimerAction(Action):
    """Runs actions after a time, unless it is cancelled or the launch ends before."""

    def __init__(
        self,
        *,
        period: float | SomeSubstitutionsType,
        actions: Iterable[LaunchDescriptionEntity],
        cancel_on_shutdown: bool | SomeSubstitutionsType = True,
        **kwargs: Any,
    ) -> None:
        """Keep the actions and ``period`` [s]."""
        super().__init__(**kwargs)
        self._period: SomeSubstitutionsType = str(float(period)) if isinstance(period, int | float) else period
        self._actions = list(actions)
        self._cancel_on_shutdown = str(cancel_on_shutdown) if isinstance(cancel_on_shutdown, bool) else cancel_on_shutdown
        self._done: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the actions."""
        return self._actions

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        """Return a future that is done when the actions are queued or the timer is cancelled."""
        return self._done

    def cancel(self) -> None:
        """Give up, if the time has not passed."""
        if self._timer is not None and self._done is not None and not self._done.done():
            self._timer.cancel()
            self._done.set_result(None)

    def execute(self, context: LaunchContext) -> None:
        """Start the timer."""
        if context.asyncio_loop is None:
            raise RuntimeError("TimerAction: executed outside of a running LaunchService")
        cancels = text_of(context, self._cancel_on_shutdown).strip().lower() in ("true", "1")
        if context.is_shutdown and cancels:
            return
        self._done = context.asyncio_loop.create_future()
        self._timer = context.asyncio_loop.call_later(float(text_of(context, self._period)), self._fire, context)
        if cancels:
            context.register_event_handler(OnShutdown(on_shutdown=self._on_shutdown))

    def _on_shutdown(self, _event: Event, _context: LaunchContext) -> None:
        self.cancel()

    def _fire(self, context: LaunchContext) -> None:
        context.emit_event_sync(IncludeLaunchDescription(LaunchDescription(self._actions)))
        if self._done is not None:
            self._done.set_result(None)
