"""``ros2 service``."""

from __future__ import annotations

import argparse
import time

import yaml
from rclpy.node import Node
from rosidl_runtime_py import set_message_fields
from rosidl_runtime_py.utilities import get_service

from ros2cli.direct import add_list_options, add_spin_time, direct_node, names_and_types, spin, wait_for


def register(parser: argparse.ArgumentParser) -> None:
    """Add the verbs."""
    verbs = parser.add_subparsers(metavar="verb", required=True)
    verb = verbs.add_parser("list", help="list the services")
    add_list_options(verb, "services")
    verb.set_defaults(main=_list)
    verb = verbs.add_parser("type", help="print the type of a service")
    add_spin_time(verb)
    verb.add_argument("service_name")
    verb.set_defaults(main=_type)
    verb = verbs.add_parser("call", help="call a service")
    add_spin_time(verb)
    verb.add_argument("service_name")
    verb.add_argument("service_type", help="such as std_srvs/srv/Trigger")
    verb.add_argument("values", nargs="?", default="{}", help="request as YAML")
    verb.add_argument("-r", "--rate", type=float, metavar="N", help="repeat at this rate [Hz]")
    verb.set_defaults(main=_call)


def _list(args: argparse.Namespace) -> None:
    with direct_node(args) as node:
        names_and_types(node.get_service_names_and_types(), args, args.include_hidden)


def _types(node: Node, name: str) -> list[str]:
    return next((types for found, types in node.get_service_names_and_types() if found == name), [])


def _type(args: argparse.Namespace) -> int:
    name = args.service_name if args.service_name.startswith("/") else f"/{args.service_name}"
    with direct_node(args, discover=False) as node:
        types = wait_for(lambda: _types(node, name), args.spin_time)
    print("\n".join(types), end="\n" if types else "")
    return 0 if types else 1


def _call(args: argparse.Namespace) -> int:
    kind = get_service(args.service_type)
    request = kind.Request()
    set_message_fields(request, yaml.safe_load(args.values) or {})
    with direct_node(args, discover=False) as node:
        client = node.create_client(kind, args.service_name)
        if not client.wait_for_service(timeout_sec=0.5):
            print("waiting for service to become available...", flush=True)
            while not client.wait_for_service(timeout_sec=0.5):
                pass
        while True:
            print(f"requester: making request: {request!r}\n", flush=True)
            future = client.call_async(request)
            spin(node, future.done)
            if future.exception() is not None:
                raise RuntimeError(f"Exception while calling service: {future.exception()!r}")
            print(f"response:\n{future.result()!r}\n", flush=True)
            if not args.rate:
                return 0
            time.sleep(1.0 / args.rate)
