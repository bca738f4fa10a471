"""``ros2 node``."""

from __future__ import annotations

import argparse
from collections import Counter

from rclpy.action import get_action_client_names_and_types_by_node, get_action_server_names_and_types_by_node

from ros2cli.direct import add_spin_time, direct_node, hidden, node_names, settle, wait_for_node


def register(parser: argparse.ArgumentParser) -> None:
    """Add the verbs."""
    verbs = parser.add_subparsers(metavar="verb", required=True)
    verb = verbs.add_parser("list", help="list the nodes")
    add_spin_time(verb)
    verb.add_argument("-a", "--all", action="store_true", help="also hidden ones")
    verb.set_defaults(main=_list)
    verb = verbs.add_parser("info", help="print what a node publishes, subscribes and serves")
    add_spin_time(verb)
    verb.add_argument("node_name")
    verb.add_argument("--include-hidden", action="store_true", help="also hidden topics and services")
    verb.set_defaults(main=_info)


def _list(args: argparse.Namespace) -> None:
    with direct_node(args) as node:
        names = node_names(node, include_hidden=args.all)
    print("\n".join(names))
    for name, count in Counter(names).items():
        if count > 1:
            print(f"WARNING: {count} nodes share the name {name}: this can have unintended side effects")


def _info(args: argparse.Namespace) -> int:
    with direct_node(args, discover=False) as node:
        wanted = wait_for_node(node, args.node_name, args.spin_time)
        settle(node, args.spin_time)
        space, _, name = wanted.rpartition("/")
        space = space or "/"
        parts = {
            "Subscribers": node.get_subscriber_names_and_types_by_node(name, space),
            "Publishers": node.get_publisher_names_and_types_by_node(name, space),
            "Service Servers": node.get_service_names_and_types_by_node(name, space),
            "Service Clients": node.get_client_names_and_types_by_node(name, space),
            "Action Servers": get_action_server_names_and_types_by_node(node, name, space),
            "Action Clients": get_action_client_names_and_types_by_node(node, name, space),
        }
    print(wanted)
    for title, items in parts.items():
        print(f"  {title}:")
        for item, types in sorted(items):
            if args.include_hidden or not hidden(item):
                print(f"    {item}: {', '.join(types)}")
    return 0
