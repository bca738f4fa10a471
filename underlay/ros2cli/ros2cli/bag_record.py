"""``ros2 bag record``."""

from __future__ import annotations

import argparse
import re
import signal
import threading
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rosbag2_py import SequentialWriter, StorageOptions, TopicMetadata, convert_rclpy_qos_to_rclcpp_qos
from rosidl_runtime_py.utilities import get_message

from ros2cli.direct import direct_node, hidden
from ros2cli.qos_options import matching

# how often new topics are looked for, and what was written is handed to the operating system [s]
_POLL = 0.1
_DEPTH = 1000


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("topics_positional", nargs="*", metavar="topic", help="topics to record")
    parser.add_argument("--topics", nargs="+", default=[], metavar="topic", help="topics to record")
    parser.add_argument("-a", "--all", "--all-topics", dest="all", action="store_true", help="record every topic")
    parser.add_argument("-e", "--regex", default="", help="record topics whose whole name matches")
    parser.add_argument("-o", "--output", default="", help="directory of the bag (rosbag2_<date and time>)")
    parser.add_argument("-s", "--storage", default="mcap", help="storage (mcap)")
    parser.set_defaults(main=_record)


def chooser(args: argparse.Namespace) -> Callable[[str], bool]:
    """Return the function that says of a topic's name whether it is recorded.

    Raises:
        ValueError: nothing was chosen.
    """
    named = {name if name.startswith("/") else f"/{name}" for name in (*args.topics_positional, *args.topics)}
    pattern = ".*" if args.all else args.regex
    if not (named or pattern):
        raise ValueError("Invalid choice: Must specify topics, -a for all topics, or -e for a regular expression")
    return lambda name: name in named or (re.fullmatch(pattern, name) is not None and not hidden(name))


class Recorder:
    """Subscribes to what is wanted as it appears and writes what comes, as it came."""

    def __init__(self, node: Node, writer: SequentialWriter, wanted: Callable[[str], bool]) -> None:
        """Start without subscriptions."""
        self._node, self._writer, self._wanted = node, writer, wanted
        self._subscribed: dict[str, Any] = {}
        self._refused: set[str] = set()

    def look(self) -> None:
        """Subscribe to topics that are new."""
        for name, types in self._node.get_topic_names_and_types():
            if name in self._subscribed or name in self._refused or not self._wanted(name):
                continue
            offers = self._node.get_publishers_info_by_topic(name)
            if not offers:
                continue
            try:
                kind = get_message(types[0])
            except (ImportError, ValueError, AttributeError) as error:
                self._refused.add(name)
                print(f"topic '{name}' ignored: {error}", flush=True)
                continue
            profiles = [convert_rclpy_qos_to_rclcpp_qos(offer.qos_profile) for offer in offers]
            type_hash = str(offers[0].topic_type_hash) if offers[0].topic_type_hash.version > 0 else ""
            self._writer.create_topic(TopicMetadata(0, name, types[0], "cdr", profiles, type_hash))
            self._subscribed[name] = self._node.create_subscription(
                kind, name, partial(self._hear, name), matching(self._node, name, _DEPTH), raw=True
            )
            print(f"Subscribed to topic '{name}'", flush=True)

    def _hear(self, name: str, data: bytes, info: Any) -> None:
        self._writer.write(name, data, info["received_timestamp"] or time.time_ns())


def _record(args: argparse.Namespace) -> int:
    wanted = chooser(args)
    stopping = threading.Event()
    # also where a shell started us in the background with SIGINT ignored
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    uri = args.output or f"rosbag2_{datetime.now():%Y_%m_%d-%H_%M_%S}"
    writer = SequentialWriter()
    writer.open(StorageOptions(uri=uri, storage_id=args.storage))
    try:
        with direct_node(args, discover=False, name="rosbag2_recorder") as node:
            recorder = Recorder(node, writer, wanted)
            # with MessageInfo, hence not the events executor of these wheels
            executor = SingleThreadedExecutor()
            executor.add_node(node)
            print(f"Recording to '{uri}'; Ctrl-C ends it", flush=True)
            due = 0.0
            while rclpy.ok() and not stopping.is_set():
                if time.monotonic() >= due:
                    recorder.look()
                    writer.flush()
                    due = time.monotonic() + _POLL
                executor.spin_once(timeout_sec=_POLL)
    finally:
        writer.close()
    print("Recording stopped", flush=True)
    return 0
