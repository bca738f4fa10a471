"""``ros2 topic``."""

from __future__ import annotations

import argparse

from rclpy.node import Node

from ros2cli import topic_echo, topic_hz, topic_pub
from ros2cli.direct import add_list_options, add_spin_time, direct_node, names_and_types, settle, wait_for


def register(parser: argparse.ArgumentParser) -> None:
    """Add the verbs."""
    verbs = parser.add_subparsers(metavar="verb", required=True)
    verb = verbs.add_parser("list", help="list the topics")
    add_list_options(verb, "topics")
    verb.set_defaults(main=_list)
    verb = verbs.add_parser("info", help="print a topic's type and its publishers and subscriptions")
    add_spin_time(verb)
    verb.add_argument("-v", "--verbose", action="store_true", help="each endpoint with its QoS")
    verb.add_argument("topic_name")
    verb.set_defaults(main=_info)
    topic_echo.register(verbs.add_parser("echo", help="print messages"))
    topic_hz.register(verbs.add_parser("hz", help="measure the rate"))
    topic_pub.register(verbs.add_parser("pub", help="publish a message"))


def absolute(name: str) -> str:
    """Return a topic's name with its leading slash."""
    return name if name.startswith("/") else f"/{name}"


def types_of(node: Node, topic: str) -> list[str]:
    """Return the types of a topic, none when it is unknown."""
    return next((types for found, types in node.get_topic_names_and_types() if found == topic), [])


def _list(args: argparse.Namespace) -> None:
    with direct_node(args) as node:
        # rclpy lists /parameter_events of this command's own node too, as the real tool does
        names_and_types(node.get_topic_names_and_types(), args, args.include_hidden)


def _info(args: argparse.Namespace) -> None:
    topic = absolute(args.topic_name)
    with direct_node(args, discover=False) as node:
        types = wait_for(lambda: types_of(node, topic), args.spin_time)
        if not types:
            raise LookupError(f"Unknown topic '{topic}'")
        settle(node, args.spin_time)
        publishers, subscriptions = node.get_publishers_info_by_topic(topic), node.get_subscriptions_info_by_topic(topic)
    print(f"Type: {types[0] if len(types) == 1 else types}", end="\n\n" if args.verbose else "\n")
    print(f"Publisher count: {len(publishers)}")
    if args.verbose:
        print("".join(f"\n{info}\n" for info in publishers))
    print(f"Subscription count: {len(subscriptions)}")
    if args.verbose:
        print("".join(f"\n{info}\n" for info in subscriptions))
