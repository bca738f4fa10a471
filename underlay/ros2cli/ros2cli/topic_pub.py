"""``ros2 topic pub``."""

from __future__ import annotations

import argparse
import time

import yaml
from rclpy.qos import QoSProfile
from rosidl_runtime_py import set_message_fields
from rosidl_runtime_py.utilities import get_message

from ros2cli.direct import add_spin_time, direct_node
from ros2cli.qos_options import add_qos, from_args


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_spin_time(parser)
    add_qos(parser)
    parser.add_argument("topic_name")
    parser.add_argument("message_type", help="such as std_msgs/msg/String")
    parser.add_argument("values", nargs="?", default="{}", help="message as YAML; a header may be `auto`, a time `now`")
    parser.add_argument("-r", "--rate", type=float, default=1.0, metavar="N", help="rate [Hz] (1)")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-1", "--once", action="store_true", help="publish once and end")
    group.add_argument("-t", "--times", type=int, default=0, metavar="N", help="publish so often and end")
    parser.add_argument(
        "-w", "--wait-matching-subscriptions", type=int, metavar="N", help="wait for N subscriptions (1 with -1 or -t)"
    )
    parser.set_defaults(main=_pub)


def _pub(args: argparse.Namespace) -> None:
    if args.rate <= 0:
        raise RuntimeError(f"rate: got {args.rate}, allowed greater than zero")
    message = get_message(args.message_type)()
    stamps = set_message_fields(message, yaml.safe_load(args.values) or {}, expand_header_auto=True, expand_time_now=True)
    times = 1 if args.once else args.times
    wanted = args.wait_matching_subscriptions if args.wait_matching_subscriptions is not None else int(bool(times))
    with direct_node(args, discover=False) as node:
        publisher = node.create_publisher(type(message), args.topic_name, from_args(args, QoSProfile(depth=10)))
        while publisher.get_subscription_count() < wanted:
            print(f"Waiting for at least {wanted} matching subscription(s)...", flush=True)
            for _ in range(10):
                time.sleep(0.1)
                if publisher.get_subscription_count() >= wanted:
                    break
        if wanted:
            # the reader's side of a match may be later than ours
            time.sleep(0.1)
        print("publisher: beginning loop", flush=True)
        count, due = 0, time.monotonic()
        while not times or count < times:
            for stamp in stamps:
                stamp(node.get_clock().now().to_msg())
            count += 1
            print(f"publishing #{count}: {message!r}\n", flush=True)
            publisher.publish(message)
            due += 1.0 / args.rate
            if not times or count < times:
                time.sleep(max(0.0, due - time.monotonic()))
        time.sleep(0.1)  # the last message is still on its way
