"""Harness of the node ring: a probe node in a domain of its own, and real processes beside it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import rclpy
from domain_coordinator import domain_id
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile

from teleop_common import qos
from teleop_common.runner import TeleopNode
from teleop_common.transport import RecordPublisher, subscribe


class Probe(TeleopNode):
    """Listens, publishes and calls, from the test's thread; its executor spins in another."""

    def __init__(self, domain: int) -> None:
        """Join the domain."""
        self._context = Context()
        rclpy.init(context=self._context, domain_id=domain)
        super().__init__("probe", context=self._context)
        # not the events executor: made from another thread, a subscription is at times never served by it
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self)
        self._spinning = True
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        while self._spinning:
            self._executor.spin_once(timeout_sec=0.1)

    def listen(self, record: type, topic: str, profile: QoSProfile = qos.STREAM) -> list[Any]:
        """Return a list that grows with every record heard on ``topic``."""
        heard: list[Any] = []
        subscribe(self, record, topic, heard.append, profile)
        return heard

    def talk(self, record: type, topic: str, profile: QoSProfile = qos.STREAM) -> RecordPublisher:
        """Return a publisher of records."""
        return RecordPublisher(self, record, topic, profile)

    def call(self, kind: Any, name: str, timeout: float = 5.0, **fields: Any) -> Any:
        """Call a service and return its answer.

        Raises:
            TimeoutError: no server, or no answer, within ``timeout`` [s].
        """
        client = self.create_client(kind, name)
        try:
            if not client.wait_for_service(timeout_sec=timeout):
                raise TimeoutError(f"service '{name}': no server within {timeout} s")
            future = client.call_async(kind.Request(**fields))
            self.until(future.done, timeout, f"answer of {name}")
            return future.result()
        finally:
            self.destroy_client(client)

    def until(self, condition: Callable[[], Any], timeout: float = 5.0, what: str = "condition") -> Any:
        """Wait for ``condition`` to be true and return its value.

        Raises:
            TimeoutError: it did not become true within ``timeout`` [s].
        """
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if value := condition():
                return value
            time.sleep(0.005)
        raise TimeoutError(f"{what}: not within {timeout} s")

    def close(self) -> None:
        """Leave the domain."""
        super().close()
        self._spinning = False
        self._thread.join(2.0)
        self.destroy_node()
        rclpy.try_shutdown(context=self._context)


@contextmanager
def free_domain() -> Iterator[int]:
    """Yield a domain id that no other test on this machine uses.

    domain_coordinator's own context manager answers an exception of its body with one of its own.
    """
    with ExitStack() as stack:
        number = stack.enter_context(domain_id())
        try:
            yield number
        finally:
            stack.close()


@contextmanager
def probe(domain: int) -> Iterator[Probe]:
    """Yield a probe that leaves the domain at the end."""
    node = Probe(domain)
    try:
        yield node
    finally:
        node.close()


@contextmanager
def process(
    package: str, executable: str, domain: int, params: dict[str, Any] | None = None, *, expect: int | None = 0
) -> Iterator[subprocess.Popen[str]]:
    """Run a node as its own process and end it with SIGINT.

    Args:
        package: ROS package.
        executable: its executable.
        domain: ROS domain id.
        params: parameters, as ``-p name:=value``.
        expect: exit status asserted at the end; None asserts nothing.
    """
    from ament_index_python.packages import get_package_prefix

    command = [f"{get_package_prefix(package)}/lib/{package}/{executable}", "--ros-args"]
    for name, value in (params or {}).items():
        # JSON is YAML that keeps types: the code "012345" stays text
        text = json.dumps(value) if isinstance(value, str | bool) else str(list(value) if isinstance(value, tuple) else value)
        command += ["-p", f"{name}:={text}"]
    # a pipe that nobody empties stops a talkative node: 1 MiB holds what a test's node says
    child = subprocess.Popen(
        command,
        env=os.environ | {"ROS_DOMAIN_ID": str(domain)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        pipesize=1 << 20,
    )
    try:
        yield child
    finally:
        if child.poll() is None:
            child.send_signal(signal.SIGINT)
        try:
            output, _ = child.communicate(timeout=10.0)
        except subprocess.TimeoutExpired:
            child.kill()
            output, _ = child.communicate()
            raise AssertionError(f"{executable} did not end within 10 s of SIGINT; output:\n{output}") from None
        if expect is not None:
            assert child.returncode == expect, f"{executable} ended with {child.returncode}, expected {expect}; output:\n{output}"
