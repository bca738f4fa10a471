"""QoS on the command line, and QoS that fits the publishers there are."""

from __future__ import annotations

import argparse

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy


def add_qos(parser: argparse.ArgumentParser) -> None:
    """Add the ``--qos-...`` options."""
    parser.add_argument("--qos-depth", type=int, metavar="N", help="queue size")
    parser.add_argument("--qos-reliability", choices=ReliabilityPolicy.short_keys(), help="reliability")
    parser.add_argument("--qos-durability", choices=DurabilityPolicy.short_keys(), help="durability")


def from_args(args: argparse.Namespace, base: QoSProfile) -> QoSProfile:
    """Return ``base`` changed by what was given."""
    return QoSProfile(
        depth=args.qos_depth if args.qos_depth is not None else base.depth or 10,
        reliability=ReliabilityPolicy.get_from_short_key(args.qos_reliability) if args.qos_reliability else base.reliability,
        durability=DurabilityPolicy.get_from_short_key(args.qos_durability) if args.qos_durability else base.durability,
    )


def matching(node: Node, topic: str, depth: int) -> QoSProfile:
    """Return the strictest profile that hears every publisher of ``topic``."""
    offers = [info.qos_profile for info in node.get_publishers_info_by_topic(topic)]
    reliable = bool(offers) and all(offer.reliability == ReliabilityPolicy.RELIABLE for offer in offers)
    latched = bool(offers) and all(offer.durability == DurabilityPolicy.TRANSIENT_LOCAL for offer in offers)
    return QoSProfile(
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )
