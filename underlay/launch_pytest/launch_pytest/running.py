"""A launch that runs in a thread beside the tests."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

from launch import EventHandler, LaunchDescription, LaunchDescriptionEntity, LaunchService

from launch_pytest.actions import ReadyToTest, ReadyToTestEvent

_END = 30.0  # [s] longest escalation to SIGKILL with the default times is 10 s


def _holds_ready_action(entity: LaunchDescriptionEntity) -> bool:
    return isinstance(entity, ReadyToTest) or any(_holds_ready_action(inner) for inner in entity.get_sub_entities())


class RunningLaunch:
    """One launch from its start to its shutdown, in a loop that coroutine tests use as well."""

    def __init__(self, description: LaunchDescription) -> None:
        """Prepare the launch; a description without ReadyToTest is ready as soon as it is visited."""
        ready = [] if _holds_ready_action(description) else [ReadyToTest()]
        self.service = LaunchService(noninteractive=True)
        self.service.include_launch_description(LaunchDescription([description, *ready]))
        self._ready = threading.Event()
        self.service.context.register_event_handler(
            EventHandler(matcher=lambda event: isinstance(event, ReadyToTestEvent), entities=lambda *_: self._ready.set())
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="launch", daemon=True)
        self._end = asyncio.run_coroutine_threadsafe(self.service.run_async(shutdown_when_idle=False), self._loop)
        self._end.add_done_callback(lambda _: self._ready.set())

    def start(self) -> None:
        """Start, and wait until the tests may begin.

        Raises:
            RuntimeError: the launch ended before.
        """
        self._thread.start()
        self._ready.wait()
        if self._end.done():
            raise RuntimeError(f"launch: ended with {self._end.result()} before ReadyToTest; see its output")

    def close(self) -> None:
        """End the launch, wait for its last process, then end its thread.

        Raises:
            RuntimeError: an action in it raised.
            TimeoutError: it does not end.
        """
        self.service.shutdown()
        try:
            if self._end.result(_END):
                raise RuntimeError("launch: an action raised; see its output")
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_END)
            self._loop.close()

    def run_coroutine(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine in the loop of the launch and return its result."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()
