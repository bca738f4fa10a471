"""The action that lets the tests begin."""

from launch import Action, Event, LaunchContext
from launch.subset import absent


class ReadyToTestEvent(Event):
    """The tests may begin."""


class ReadyToTest(Action):
    """Lets the tests begin when it is executed."""

    def execute(self, context: LaunchContext) -> None:
        """Announce it."""
        context.emit_event_sync(ReadyToTestEvent())


__getattr__ = absent(__name__)
