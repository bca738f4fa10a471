"""A node for one command. There is no daemon: each command waits a moment for discovery."""

from __future__ import annotations

import argparse
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

# The graph counts as known when it has not changed for _QUIET, or nobody was seen for _ALONE, at the latest after _LONGEST [s].
# Fast DDS takes up to 2.5 s until two processes on one machine know each other's topics (measured).
_QUIET, _ALONE, _LONGEST = 1.2, 3.0, 6.0

T = TypeVar("T")


def add_spin_time(parser: argparse.ArgumentParser) -> None:
    """Add ``--spin-time``."""
    parser.add_argument(
        "--spin-time",
        type=float,
        metavar="S",
        help=f"wait so long for discovery [s]; default: until nothing new came for {_QUIET} s, at most {_LONGEST} s",
    )
    parser.add_argument("--no-daemon", action="store_true", help="accepted; there is never a daemon")


@contextmanager
def direct_node(args: argparse.Namespace, *, discover: bool = True, name: str = "") -> Iterator[Node]:
    """Yield a hidden node, after discovery unless told otherwise."""
    # rclpy's own SIGINT handler prints tracebacks from within callbacks
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        # a shell script started us with `&`; the real tool obeys SIGINT even so
        signal.signal(signal.SIGINT, signal.default_int_handler)
    node = rclpy.create_node(name or f"_ros2cli_{os.getpid()}", start_parameter_services=False, enable_rosout=False)
    try:
        if discover:
            settle(node, args.spin_time)
        yield node
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def settle(node: Node, spin_time: float | None) -> None:
    """Wait until the graph is known."""
    if spin_time is not None:
        time.sleep(spin_time)
        return
    start = since = time.monotonic()
    seen: Any = None
    while True:
        now = (node.get_node_names_and_namespaces(), node.get_topic_names_and_types(), node.get_service_names_and_types())
        if now != seen:
            seen, since = now, time.monotonic()
        quiet, total = time.monotonic() - since, time.monotonic() - start
        # nodes of other commands, hidden ones, say nothing of the graph that a person asks for
        somebody = any(not hidden(name) for name, _ in now[0])
        if total > _LONGEST or quiet > (_QUIET if somebody else _ALONE):
            return
        time.sleep(0.05)


def wait_for(found: Callable[[], T], spin_time: float | None) -> T:
    """Return what ``found`` gives once it is true; at the latest after ``spin_time`` [s] what it then gives."""
    end = time.monotonic() + (_LONGEST if spin_time is None else spin_time)
    while not (value := found()) and time.monotonic() < end:
        time.sleep(0.05)
    return value


def spin(node: Node, until: Callable[[], bool], timeout: float | None = None) -> bool:
    """Spin until ``until`` is true; returns False when ``timeout`` [s] was over before."""
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    end = None if timeout is None else time.monotonic() + timeout
    try:
        while rclpy.ok() and not until():
            if end is not None and time.monotonic() > end:
                return False
            executor.spin_once(timeout_sec=0.1)
    except ExternalShutdownException:
        pass
    finally:
        executor.remove_node(node)
    return True


def hidden(name: str) -> bool:
    """Whether a part of the name starts with an underscore."""
    return any(part.startswith("_") for part in name.split("/"))


def node_names(node: Node, *, include_hidden: bool = False) -> list[str]:
    """Return the full names of the nodes, sorted, one entry a node."""
    names = [f"{space.rstrip('/')}/{name}" for name, space in node.get_node_names_and_namespaces()]
    return sorted(name for name in names if include_hidden or not hidden(name))


def wait_for_node(node: Node, name: str, spin_time: float | None) -> str:
    """Return the full name of the node called ``name`` once it is there.

    Raises:
        LookupError: it didn't come in time.
    """
    full = f"/{name.lstrip('/')}"
    if not wait_for(lambda: full in node_names(node, include_hidden=True), spin_time):
        raise LookupError(f"node '{full}': not found; `ros2 node list` names the nodes there are")
    return full


def names_and_types(items: list[tuple[str, list[str]]], args: argparse.Namespace, include_hidden: bool) -> None:
    """Print names, with types (``-t``) or only their count (``-c``)."""
    shown = sorted((name, types) for name, types in items if include_hidden or not hidden(name))
    if args.count:
        print(len(shown))
        return
    for name, types in shown:
        print(f"{name} [{', '.join(types)}]" if args.show_types else name)


def add_list_options(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``-t``, ``-c`` and ``--include-hidden-...``."""
    add_spin_time(parser)
    parser.add_argument("-t", "--show-types", action="store_true", help="show the types")
    parser.add_argument("-c", "--count-" + what, dest="count", action="store_true", help="only count them")
    parser.add_argument("--include-hidden-" + what, dest="include_hidden", action="store_true", help="also hidden ones")
