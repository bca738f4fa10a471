"""A launch that runs in a thread beside the tests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from launch import EventHandler, LaunchDescription, LaunchDescriptionEntity, LaunchService

from launch_pytest.actions import ReadyToTest, ReadyToTestEvent

T = TypeVar("T")
_END = 30.0  # [s] longest escalation to SIGKILL with the default times is 10 s


def _holds_ready_action(entity: LaunchDescriptionEntity) -> bool:
    return isinstance(entity, ReadyToTest) or any(_holds_ready_action(inner) for inner in entity.get_sub_entities())


class RunningLaunch:
    """One launch from its start to its shutdown; coroutine tests run in its event loop."""

    def __init__(self, description: LaunchDescription) -> None:
        """Prepare the launch; a description without ReadyToTest is ready as soon as it is visited."""
        if not _holds_ready_action(description):
            description = LaunchDescription([description, ReadyToTest()])
        self.service = LaunchService(noninteractive=True)
        self.service.include_launch_description(description)
        self.loop: asyncio.AbstractEventLoop | None = None
        self.return_code: int | None = None
        self._failure: BaseException | None = None
        self._ready = threading.Event()
        self._ended = threading.Event()
        self.service.context.register_event_handler(
            EventHandler(matcher=lambda event: isinstance(event, ReadyToTestEvent), entities=self._on_ready)
        )
        self._thread = threading.Thread(target=self._run, name="launch", daemon=True)

    def _on_ready(self, _event: Any, _context: Any) -> None:
        self._ready.set()

    def _run(self) -> None:
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        try:
            self.return_code = self.loop.run_until_complete(self.service.run_async(shutdown_when_idle=False))
        except BaseException as error:  # noqa: BLE001 (shown in the thread of the test)
            self._failure = error
        finally:
            self._ended.set()
            self._ready.set()
        self.loop.run_forever()  # coroutine tests that run after the shutdown
        self.loop.close()

    def start(self) -> None:
        """Start, and wait until the tests may begin.

        Raises:
            RuntimeError: the launch ended before.
        """
        self._thread.start()
        self._ready.wait()
        if self._ended.is_set():
            raise RuntimeError(f"launch: ended with {self._failure or self.return_code} before ReadyToTest; see its output")

    def shutdown(self) -> None:
        """End the launch and wait for its last process.

        Raises:
            RuntimeError: it does not end, or an action in it raised.
        """
        self.service.shutdown()
        if not self._ended.wait(_END):
            raise RuntimeError(f"launch: not ended {_END:g} s after the request")
        if self._failure is not None or self.return_code:
            raise RuntimeError(f"launch: ended with {self._failure or self.return_code}; see its output")

    def close(self) -> None:
        """End the launch if it runs, then its thread."""
        try:
            self.shutdown()
        finally:
            if self.loop is not None:
                self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(_END)

    def run_coroutine(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop of the launch and return its result."""
        if self.loop is None:
            coroutine.close()
            raise RuntimeError("launch: not started")
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()
