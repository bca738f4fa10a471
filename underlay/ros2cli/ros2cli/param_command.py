"""``ros2 param``."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import yaml
from rcl_interfaces.msg import Parameter, ParameterDescriptor, ParameterType
from rclpy.node import Node
from rclpy.parameter import get_parameter_value, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient

from ros2cli.direct import add_spin_time, direct_node, node_names, spin, wait_for_node

_TITLES = {
    ParameterType.PARAMETER_BOOL: "Boolean value is:",
    ParameterType.PARAMETER_INTEGER: "Integer value is:",
    ParameterType.PARAMETER_DOUBLE: "Double value is:",
    ParameterType.PARAMETER_STRING: "String value is:",
    ParameterType.PARAMETER_BYTE_ARRAY: "Byte values are:",
    ParameterType.PARAMETER_BOOL_ARRAY: "Boolean values are:",
    ParameterType.PARAMETER_INTEGER_ARRAY: "Integer values are:",
    ParameterType.PARAMETER_DOUBLE_ARRAY: "Double values are:",
    ParameterType.PARAMETER_STRING_ARRAY: "String values are:",
}
_TIMEOUT = 5.0


def register(parser: argparse.ArgumentParser) -> None:
    """Add the verbs."""
    verbs = parser.add_subparsers(metavar="verb", required=True)
    verb = verbs.add_parser("list", help="list the parameters of a node, or of all")
    add_spin_time(verb)
    verb.add_argument("node_name", nargs="?")
    verb.add_argument("--param-type", action="store_true", help="show the types")
    verb.set_defaults(main=_list)
    verb = verbs.add_parser("get", help="print a parameter")
    add_spin_time(verb)
    verb.add_argument("node_name")
    verb.add_argument("parameter_name")
    verb.add_argument("--hide-type", action="store_true", help="print the value only")
    verb.set_defaults(main=_get)
    verb = verbs.add_parser("set", help="set a parameter")
    add_spin_time(verb)
    verb.add_argument("node_name")
    verb.add_argument("parameter_name")
    verb.add_argument("value", help="as YAML")
    verb.set_defaults(main=_set)
    verb = verbs.add_parser("dump", help="print a node's parameters as a parameter file")
    add_spin_time(verb)
    verb.add_argument("node_name")
    verb.set_defaults(main=_dump)
    verb = verbs.add_parser("describe", help="say what parameters of a node are for, and what they may be")
    add_spin_time(verb)
    verb.add_argument("node_name")
    verb.add_argument("parameter_names", nargs="+", metavar="parameter_name")
    verb.set_defaults(main=_describe)


def _call(node: Node, name: str, method: str, *args: Any) -> Any:
    """Call a parameter service of the node called ``name``."""
    client = AsyncParameterClient(node, name)
    if not client.wait_for_services(timeout_sec=_TIMEOUT):
        raise RuntimeError(f"node '{name}': its parameter services don't answer within {_TIMEOUT} s")
    future = getattr(client, method)(*args)
    if not spin(node, future.done, _TIMEOUT):
        raise RuntimeError(f"node '{name}': no answer to {method} within {_TIMEOUT} s")
    return future.result()


def _names(node: Node, name: str) -> list[str]:
    return sorted(_call(node, name, "list_parameters").result.names)


def _list(args: argparse.Namespace) -> None:
    with direct_node(args, discover=not args.node_name) as node:
        names = [wait_for_node(node, args.node_name, args.spin_time)] if args.node_name else sorted(set(node_names(node)))
        for name in names:
            try:
                parameters = _names(node, name)
                types = _call(node, name, "get_parameter_types", parameters).types if args.param_type else []
            except RuntimeError as error:
                if args.node_name:
                    raise
                print(error, file=sys.stderr)
                continue
            if not args.node_name:
                print(f"{name}:")
            for index, parameter in enumerate(parameters):
                print(f"  {parameter}{f' (type: {_type(types[index])})' if types else ''}")


def _get(args: argparse.Namespace) -> None:
    with direct_node(args, discover=False) as node:
        name = wait_for_node(node, args.node_name, args.spin_time)
        value = _call(node, name, "get_parameters", [args.parameter_name]).values
    if not value or value[0].type == ParameterType.PARAMETER_NOT_SET:
        raise LookupError(f"parameter '{args.parameter_name}': not set on node '{name}'")
    plain = _plain(value[0])
    print(plain if args.hide_type else f"{_TITLES[value[0].type]} {plain}")


def _set(args: argparse.Namespace) -> int:
    parameter = Parameter(name=args.parameter_name, value=get_parameter_value(string_value=args.value))
    with direct_node(args, discover=False) as node:
        result = _call(node, wait_for_node(node, args.node_name, args.spin_time), "set_parameters", [parameter]).results[0]
    if result.successful:
        print("Set parameter successful" + (f": {result.reason}" if result.reason else ""))
        return 0
    print(f"Setting parameter failed: {result.reason}", file=sys.stderr)
    return 1


def _dump(args: argparse.Namespace) -> None:
    with direct_node(args, discover=False) as node:
        name = wait_for_node(node, args.node_name, args.spin_time)
        names = _names(node, name)
        values = _call(node, name, "get_parameters", names).values
    tree: dict[str, Any] = {}
    for parameter, value in zip(names, values):
        *path, last = parameter.split(".")
        branch = tree
        for part in path:
            branch = branch.setdefault(part, {})
        branch[last] = _plain(value)
    print(yaml.safe_dump({name: {"ros__parameters": tree}}, default_flow_style=False), end="")


def _describe(args: argparse.Namespace) -> int:
    with direct_node(args, discover=False) as node:
        name = wait_for_node(node, args.node_name, args.spin_time)
        unknown = sorted(set(args.parameter_names) - set(_names(node, name)))
        known = [parameter for parameter in args.parameter_names if parameter not in unknown]
        found = _call(node, name, "describe_parameters", known).descriptors if known else []
    for descriptor in found:
        print(described(descriptor))
    for parameter in unknown:
        print(f"parameter '{parameter}': not declared on node '{name}'; 'ros2 param list {name}' shows them", file=sys.stderr)
    return 1 if unknown else 0


def described(descriptor: ParameterDescriptor) -> str:
    """Return what a descriptor says, for people."""
    lines = [f"Parameter name: {descriptor.name}", f"  Type: {_type(descriptor.type)}"]
    if descriptor.description:
        lines.append(f"  Description: {descriptor.description}")
    bounds = ["    Read only: true"] if descriptor.read_only else []
    for limits in (*descriptor.floating_point_range, *descriptor.integer_range):
        bounds += [f"    Min value: {limits.from_value}", f"    Max value: {limits.to_value}"]
        bounds += [f"    Step: {limits.step}"] if limits.step else []
    if descriptor.additional_constraints:
        bounds.append(f"    Additional constraints: {descriptor.additional_constraints}")
    return "\n".join(lines + (["  Constraints:", *bounds] if bounds else []))


def _type(kind: int) -> str:
    return _TITLES.get(kind, "Not set:").rsplit(" ", 1)[0].lower()


def _plain(value: Any) -> Any:
    plain = parameter_value_to_python(value)
    return list(plain) if not isinstance(plain, str | bytes) and hasattr(plain, "__iter__") else plain
