"""How every node of the graph starts, spins and ends."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.experimental.events_executor import EventsExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import String

from teleop_common import qos
from teleop_common.errors import ConfigError
from teleop_common.ticker import Ticker


class TeleopNode(Node):
    """A node with a lock, tickers and a latched configuration topic.

    Subscriptions, services and tickers all run with ``self.lock`` held by whoever touches the core.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        """Create the node; subclasses load their parameters next."""
        super().__init__(name, **kwargs)
        self.lock = threading.RLock()
        self.failure: BaseException | None = None
        self._tickers: list[Ticker] = []
        self._config_publisher: Any = None

    def every(self, hz: float, callback: Callable[[], None]) -> Ticker:
        """Call ``callback`` at ``hz`` [Hz] from a thread of its own, with the lock held."""
        ticker = Ticker(hz, callback, self.lock, self.fail)
        self._tickers.append(ticker)
        return ticker

    def serve(self, kind: Any, name: str, handler: Callable[[Any, Any], Any]) -> None:
        """Offer a service whose handler runs with the lock held."""

        def locked(request: Any, response: Any) -> Any:
            with self.lock:
                return handler(request, response)

        self.create_service(kind, name, locked)

    def serve_later(self, kind: Any, name: str, handler: Callable[[Any, Callable[[bool, str], None]], None]) -> None:
        """Offer a service that is answered whenever and from whichever thread; meanwhile the executor goes on.

        Args:
            kind: of the service; its response has ``success`` and ``message``.
            name: of the service.
            handler: given the request and what takes the answer, to be called once; runs with the lock held.
        """
        requests = list[Any]()

        def take(request: Any, response: Any) -> Any:
            requests.append(request)
            return response

        def put_off(response: Any, header: Any) -> None:
            def answer(success: bool, message: str) -> None:
                response.success, response.message = success, message
                send(response, header)

            with self.lock:
                handler(requests.pop(), answer)

        # the events executor of these wheels knows no coroutine callbacks, so its sending of the response is put off;
        # it calls the two one after the other, in one thread
        service = self.create_service(kind, name, take)
        send, service.send_response = service.send_response, put_off

    def fail(self, error: BaseException) -> None:
        """End the process with ``error`` at the next turn of the main loop."""
        if self.failure is None:
            self.failure = error

    def now_ns(self) -> int:
        """Return the ROS clock [ns]."""
        return self.get_clock().now().nanoseconds  # type: ignore[no-any-return]

    def publish_config(self, config: dict[str, Any]) -> None:
        """Latch ``config`` on ``/teleop/config/<node>`` as JSON: what a re-simulation of this node needs."""
        if self._config_publisher is None:
            self._config_publisher = self.create_publisher(String, f"/teleop/config/{self.get_name()}", qos.LATCHED)
        self._config_publisher.publish(String(data=json.dumps(config, sort_keys=True, allow_nan=False)))

    def wound_up(self) -> bool:
        """Return whether the node may end, asked again and again after SIGINT or SIGTERM while callbacks go on.

        A node whose work must come to an end in order overrides it, and sees to it that the answer is yes within 5 s. After a
        crash it is not asked.
        """
        return True

    def close(self) -> None:
        """Stop the tickers; subclasses release what they hold, then call this."""
        for ticker in self._tickers:
            ticker.stop()


def run(node_class: Callable[[], TeleopNode], *, message_info: bool = False) -> int:
    """Run one node until SIGINT or SIGTERM, and until it is wound up, and return the process's exit status.

    Args:
        node_class: makes the node, after ``rclpy.init``.
        message_info: the node reads MessageInfo, which the events executor of these wheels cannot give.

    A ConfigError ends the start with its one line and status 2; a crash prints its traceback and ends with status 1.
    """
    stopping = threading.Event()

    def stop(_signum: int, _frame: Any) -> None:
        stopping.set()

    # rclpy's own handlers raise inside callbacks and print a traceback on SIGINT
    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    node: TeleopNode | None = None
    status = 0
    try:
        node = node_class()
        executor = SingleThreadedExecutor() if message_info else EventsExecutor()
        executor.add_node(node)
        # what start-up made lives as long as the process: keep the collector from walking it in the middle of a frame
        gc.collect()
        gc.freeze()
        while rclpy.ok() and node.failure is None and not (stopping.is_set() and node.wound_up()):
            # not spin(): it turns at full speed and delivers nothing in the wheels of rclpy 7.1.6
            executor.spin_once(timeout_sec=0.02 if stopping.is_set() else 0.2)
        if node.failure is not None:
            raise node.failure
    except ConfigError as error:
        print(f"{_name(node)}: {error}", file=sys.stderr, flush=True)
        status = 2
    except ExternalShutdownException:
        pass
    except KeyboardInterrupt:
        pass
    except Exception:  # noqa: BLE001 - the last line of defence: say why, end with 1, respawn in hold
        traceback.print_exc()
        status = 1
    try:
        if node is not None:
            node.close()
            node.destroy_node()
    finally:
        rclpy.try_shutdown()
    return status


def _name(node: TeleopNode | None) -> str:
    return node.get_name() if node is not None else os.path.basename(sys.argv[0])


def monotonic_s() -> float:
    """Return CLOCK_MONOTONIC [s], the time that shells hand to cores."""
    return time.monotonic_ns() * 1e-9
