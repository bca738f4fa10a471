"""A tick that a step of the realtime clock cannot stretch."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Ticker:
    """Calls a function at a fixed rate from its own thread, holding a lock.

    Both rclpy executors wait on the realtime clock, so a clock step stretches their timers by as much; ``time.sleep``
    waits on the monotonic clock. A tick that comes late is not made up for: the phase moves on (no burst after a stall).

    Args:
        hz: rate [Hz].
        callback: called once a tick with the lock held; an exception ends the process through ``fatal``.
        lock: serialises the tick with the node's subscriptions.
        fatal: told of an exception of the callback.
    """

    def __init__(
        self,
        hz: float,
        callback: Callable[[], None],
        lock: threading.RLock | threading.Lock,
        fatal: Callable[[BaseException], None],
    ) -> None:
        """Start ticking."""
        self.period_ns = round(1e9 / hz)
        self._callback, self._lock, self._fatal = callback, lock, fatal
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"ticker {hz:g} Hz", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; returns when the last tick is over."""
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(2.0)

    def _run(self) -> None:
        due = time.monotonic_ns() + self.period_ns
        while not self._stop.is_set():
            wait = due - time.monotonic_ns()
            if wait > 0:
                time.sleep(wait * 1e-9)
            now = time.monotonic_ns()
            due = max(due + self.period_ns, now)
            try:
                with self._lock:
                    if self._stop.is_set():
                        return
                    self._callback()
            except BaseException as error:  # noqa: BLE001 - handed to the main thread, which ends the process
                self._fatal(error)
                return
