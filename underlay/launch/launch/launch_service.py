"""Runs a launch: visits its descriptions, handles its events, ends its processes."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from launch.event import Event
from launch.event_handler import EventHandler
from launch.event_handlers import OnShutdown
from launch.events import IncludeLaunchDescription, Shutdown
from launch.launch_context import LaunchContext
from launch.launch_description import LaunchDescription
from launch.launch_description_entity import visit_all
from launch.logging import get_logger, launch_config


class LaunchService:
    """One launch, from its first description to the end of its last process.

    SIGINT ends it: on a terminal the children have got the signal as well (they share the process group), else
    (``noninteractive``) it is passed on. SIGTERM and SIGQUIT end it and send SIGINT to the children.
    """

    def __init__(self, *, argv: Iterable[str] | None = None, noninteractive: bool = False, debug: bool = False) -> None:
        """Start without descriptions.

        Args:
            argv: arguments for ``context.argv``.
            noninteractive: no terminal sends Ctrl-C to the children.
            debug: log tracebacks and events.
        """
        self._context = LaunchContext(argv=argv, noninteractive=noninteractive)
        self._logger = get_logger("launch")
        if debug:
            self._logger.setLevel("DEBUG")
        self._futures: list[asyncio.Future[None]] = []
        self._task: asyncio.Task[Any] | None = None
        self._return_code = 0
        self._context.register_event_handler(
            EventHandler(
                matcher=lambda event: isinstance(event, IncludeLaunchDescription),
                entities=lambda event, _context: event.launch_description,
            )
        )
        self._context.register_event_handler(OnShutdown(on_shutdown=self._on_shutdown))

    @property
    def context(self) -> LaunchContext:
        """The shared state."""
        return self._context

    @property
    def event_loop(self) -> asyncio.AbstractEventLoop | None:
        """The event loop while it runs."""
        return self._context.asyncio_loop

    @property
    def task(self) -> asyncio.Task[Any] | None:
        """The task that runs the launch, while it runs."""
        return self._task

    def include_launch_description(self, launch_description: LaunchDescription) -> None:
        """Visit a description as soon as the service runs; from any thread."""
        self.emit_event(IncludeLaunchDescription(launch_description))

    def emit_event(self, event: Event) -> None:
        """Queue an event; from any thread."""
        loop = self._context.asyncio_loop
        if loop is None:
            self._context.emit_event_sync(event)
        else:
            loop.call_soon_threadsafe(self._context.emit_event_sync, event)

    def shutdown(self, force_sync: bool = False) -> None:
        """End the launch if it runs; from any thread. ``force_sync`` changes nothing here."""
        loop = self._context.asyncio_loop
        if loop is not None:
            loop.call_soon_threadsafe(self._shutdown, "LaunchService.shutdown() called", False)

    def run(self, *, shutdown_when_idle: bool = True) -> int:
        """Run until nothing is left to do or the launch is shut down.

        Returns:
            0, or 1 when an action raised.
        """
        return asyncio.run(self.run_async(shutdown_when_idle=shutdown_when_idle))

    async def run_async(self, *, shutdown_when_idle: bool = True) -> int:
        """Run within a running loop; see :meth:`run`.

        Raises:
            RuntimeError: it runs already.
        """
        if self._context.asyncio_loop is not None:
            raise RuntimeError("LaunchService: runs already; run it once at a time")
        wake = asyncio.Event()
        self._return_code = 0
        self._context.is_shutdown = False
        self._context.attach(asyncio.get_running_loop(), wake)
        self._task = asyncio.current_task()
        self._logger.info("All log files can be found below %s", launch_config.log_dir)
        try:
            with self._signal_handlers():
                await self._loop(wake, shutdown_when_idle)
        finally:
            self._context.attach(None, None)
            self._task = None
        return self._return_code

    async def _loop(self, wake: asyncio.Event, shutdown_when_idle: bool) -> None:
        while True:
            wake.clear()
            while self._context.events:
                self._process(self._context.events.popleft(), wake)
            self._futures = [future for future in self._futures if not future.done()]
            if self._futures:
                await wake.wait()
            elif self._context.is_shutdown:
                return
            elif shutdown_when_idle:
                self._shutdown("idle", False)
            else:
                await wake.wait()

    def _process(self, event: Event, wake: asyncio.Event) -> None:
        def keep(future: asyncio.Future[None]) -> None:
            future.add_done_callback(lambda _: wake.set())
            self._futures.append(future)

        self._logger.debug("event %r", event)
        for handler in self._context.event_handlers:
            if not handler.matches(event):
                continue
            self._context.push_locals()
            try:
                for entity in handler.handle(event, self._context):
                    visit_all(entity, self._context, keep)
            except Exception as error:  # noqa: BLE001 (launch files run arbitrary code; processes must still be ended)
                self._logger.debug("traceback", exc_info=error)
                self._logger.error("Caught exception in launch (see debug for traceback): %s", error)
                self._return_code = 1
                self._shutdown("launch exception", False)
            finally:
                self._context.pop_locals()

    def _on_shutdown(self, _event: Event, context: LaunchContext) -> None:
        context.is_shutdown = True

    def _shutdown(self, reason: str, due_to_sigint: bool) -> None:
        if not self._context.is_shutdown:
            self._context.is_shutdown = True
            self._context.emit_event_sync(Shutdown(reason=reason, due_to_sigint=due_to_sigint))

    @contextmanager
    def _signal_handlers(self) -> Iterator[None]:
        """Take SIGINT, SIGTERM and SIGQUIT while the launch runs, if this is the main thread."""
        loop = self._context.asyncio_loop
        if loop is None or threading.current_thread() is not threading.main_thread():
            yield
            return
        kinds = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT)
        before = {kind: signal.getsignal(kind) for kind in kinds}
        for kind in kinds:
            loop.add_signal_handler(kind, self._on_signal, kind)
        try:
            yield
        finally:
            for kind in kinds:
                loop.remove_signal_handler(kind)
                signal.signal(kind, before[kind])

    def _on_signal(self, kind: signal.Signals) -> None:
        how = "user interrupted with ctrl-c (SIGINT)" if kind == signal.SIGINT else f"received {kind.name}"
        if self._context.is_shutdown:
            self._logger.warning("%s again, ignoring...", how)
            return
        self._logger.warning(how)
        self._shutdown(f"{how}", kind == signal.SIGINT)
