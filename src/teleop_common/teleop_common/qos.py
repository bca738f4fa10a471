"""The graph's QoS profiles, one place for all (design: every publisher offers reliable)."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy


def _profile(reliability: ReliabilityPolicy, depth: int, durability: DurabilityPolicy = DurabilityPolicy.VOLATILE) -> QoSProfile:
    return QoSProfile(reliability=reliability, durability=durability, history=HistoryPolicy.KEEP_LAST, depth=depth)


# publishers, and readers that must see every sample of a burst
STREAM = _profile(ReliabilityPolicy.RELIABLE, 32)
# readers that want only the newest sample; compatible with every publisher
NEWEST = _profile(ReliabilityPolicy.BEST_EFFORT, 1)
# readers of topics that others publish, in whatever profile: every sample of a burst, but none asked for again
FOREIGN = _profile(ReliabilityPolicy.BEST_EFFORT, 32)
# commands to an arm, at both ends
COMMAND = _profile(ReliabilityPolicy.RELIABLE, 1)
# state that a late joiner must see, at both ends
LATCHED = _profile(ReliabilityPolicy.RELIABLE, 1, DurabilityPolicy.TRANSIENT_LOCAL)
# the recorder: everything, counted
RECORD = _profile(ReliabilityPolicy.RELIABLE, 1000)
RECORD_LATCHED = _profile(ReliabilityPolicy.RELIABLE, 1000, DurabilityPolicy.TRANSIENT_LOCAL)
# events in order, none lost
EVENTS = _profile(ReliabilityPolicy.RELIABLE, 100)
# pictures: the newest or none
IMAGE = _profile(ReliabilityPolicy.RELIABLE, 1)
