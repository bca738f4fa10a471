"""Runs a launch: visits its descriptions, handles its events, ends its processes."""

import asyncio
import signal
import threading
from collections.abc import Iterable

from launch.entities import Event, EventHandler, LaunchDescription, LaunchDescriptionEntity
from launch.event_handlers import OnShutdown
from launch.events import IncludeLaunchDescription, Shutdown
from launch.launch_context import LaunchContext
from launch.logging import get_logger, launch_config

_log = get_logger()
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT)
_INCLUDE = EventHandler(
    matcher=lambda event: isinstance(event, IncludeLaunchDescription), entities=lambda event, _: event.launch_description
)


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
            debug: log tracebacks.
        """
        self.context = LaunchContext(argv=argv, noninteractive=noninteractive)
        if debug:
            _log.setLevel("DEBUG")
        self._event_loop: asyncio.AbstractEventLoop | None = None
        self._futures: set[asyncio.Future[None]] = set()
        self._return_code = 0
        self.context.register_event_handler(_INCLUDE)
        self.context.register_event_handler(OnShutdown(on_shutdown=self._on_shutdown))

    def include_launch_description(self, launch_description: LaunchDescription) -> None:
        """Visit a description as soon as the service runs; from any thread."""
        self.emit_event(IncludeLaunchDescription(launch_description))

    def emit_event(self, event: Event) -> None:
        """Queue an event; from any thread."""
        if self._event_loop is None:
            self.context.emit_event_sync(event)
        else:
            self._event_loop.call_soon_threadsafe(self.context.emit_event_sync, event)

    def shutdown(self) -> None:
        """End the launch if it runs; from any thread."""
        if self._event_loop is not None:
            self._event_loop.call_soon_threadsafe(self._shutdown, "LaunchService.shutdown() called")

    def run(self, *, shutdown_when_idle: bool = True) -> int:
        """Run, once, until nothing is left to do or the launch is shut down.

        Returns:
            0, or 1 when an action raised.
        """
        return asyncio.run(self.run_async(shutdown_when_idle=shutdown_when_idle))

    async def run_async(self, *, shutdown_when_idle: bool = True) -> int:
        """Run within a running loop; see :meth:`run`."""
        loop = self._event_loop = asyncio.get_running_loop()
        self.context.ending = loop.create_future()
        _log.info("All log files can be found below %s", launch_config.log_dir)
        if threading.current_thread() is threading.main_thread():
            for kind in _SIGNALS:
                loop.add_signal_handler(kind, self._on_signal, kind)
        try:
            while self._futures or not self.context.events.empty() or not self.context.is_shutdown:
                if shutdown_when_idle and not self._futures and self.context.events.empty():
                    self._shutdown("idle")
                event = await self.context.events.get()
                if event is not None:
                    self._process(event)
        finally:
            self._event_loop = None
            for kind in _SIGNALS:
                loop.remove_signal_handler(kind)
        return self._return_code

    def _process(self, event: Event) -> None:
        for handler in tuple(self.context.event_handlers):
            if not handler.matches(event):
                continue
            try:
                for entity in handler.handle(event, self.context):
                    self._visit(entity)
            except Exception as error:  # noqa: BLE001 (launch files run arbitrary code; processes must still be ended)
                _log.debug("traceback", exc_info=error)
                _log.error("Caught exception in launch (see debug for traceback): %s", error)
                self._return_code = 1
                self._shutdown("launch exception")

    def _visit(self, entity: LaunchDescriptionEntity) -> None:
        """Visit ``entity`` and what it returns, depth first; what it has started is waited for even if a later one raises."""
        returned = entity.visit(self.context)
        if entity.future is not None:
            self._futures.add(entity.future)
            entity.future.add_done_callback(self._on_done)
        for inner in returned or ():
            self._visit(inner)

    def _on_done(self, future: asyncio.Future[None]) -> None:
        self._futures.discard(future)
        self.context.events.put_nowait(None)

    def _on_shutdown(self, event: Shutdown, context: LaunchContext) -> None:
        context.is_shutdown = True
        if not context.ending.done():
            context.ending.set_result(event)

    def _shutdown(self, reason: str, due_to_sigint: bool = False) -> None:
        if not self.context.is_shutdown:
            self.context.is_shutdown = True
            self.context.emit_event_sync(Shutdown(reason=reason, due_to_sigint=due_to_sigint))

    def _on_signal(self, kind: signal.Signals) -> None:
        how = "user interrupted with ctrl-c (SIGINT)" if kind == signal.SIGINT else f"received {kind.name}"
        _log.warning("%s%s", how, " again, ignoring..." if self.context.is_shutdown else "")
        self._shutdown(how, kind == signal.SIGINT)
