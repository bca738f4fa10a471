"""``ros2 service``."""

from __future__ import annotations

import argparse

import yaml
from rosidl_runtime_py import set_message_fields
from rosidl_runtime_py.utilities import get_service

from ros2cli.direct import add_list_options, add_spin_time, direct_node, names_and_types, spin


def register(parser: argparse.ArgumentParser) -> None:
    """Add the verbs."""
    verbs = parser.add_subparsers(metavar="verb", required=True)
    verb = verbs.add_parser("list", help="list the services")
    add_list_options(verb, "services")
    verb.set_defaults(main=_list)
    verb = verbs.add_parser("call", help="call a service")
    add_spin_time(verb)
    verb.add_argument("service_name")
    verb.add_argument("service_type", help="such as std_srvs/srv/Trigger")
    verb.add_argument("values", nargs="?", default="{}", help="request as YAML")
    verb.set_defaults(main=_call)


def _list(args: argparse.Namespace) -> None:
    with direct_node(args) as node:
        names_and_types(node.get_service_names_and_types(), args, args.include_hidden)


def _call(args: argparse.Namespace) -> None:
    kind = get_service(args.service_type)
    request = kind.Request()
    set_message_fields(request, yaml.safe_load(args.values) or {})
    with direct_node(args, discover=False) as node:
        client = node.create_client(kind, args.service_name)
        if not client.wait_for_service(timeout_sec=0.5):
            print("waiting for service to become available...", flush=True)
            while not client.wait_for_service(timeout_sec=0.5):
                pass
        print(f"requester: making request: {request!r}\n", flush=True)
        future = client.call_async(request)
        spin(node, future.done)
        print(f"response:\n{future.result()!r}\n", flush=True)
