"""The action that lets the tests begin."""

from __future__ import annotations

from typing import Any

from launch import Action, Event, LaunchContext
from launch.subset import absent

__all__ = ["ReadyToTest"]


class ReadyToTestEvent(Event):
    """The tests may begin."""

    name = "launch_pytest.ReadyToTest"


class ReadyToTest(Action):
    """Lets the tests begin when it is executed."""

    def __init__(self, **kwargs: Any) -> None:
        """Take the arguments of an action."""
        super().__init__(**kwargs)

    def execute(self, context: LaunchContext) -> None:
        """Announce it."""
        context.emit_event_sync(ReadyToTestEvent())


__getattr__ = absent("launch_pytest", __name__)
