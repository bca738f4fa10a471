"""QoS profiles as bags store them."""

from __future__ import annotations

from typing import Any

import yaml
from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, HistoryPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy

# version 9 of the metadata names the policies as rclpy does, earlier ones have their numbers
_POLICIES: dict[str, Any] = {
    "history": HistoryPolicy,
    "reliability": ReliabilityPolicy,
    "durability": DurabilityPolicy,
    "liveliness": LivelinessPolicy,
}
_TIMES = ("deadline", "lifespan", "liveliness_lease_duration")
_NS = 1_000_000_000
_INFINITE = 2**63 - 1


class QoS:
    """A QoS profile as rosbag2_py names it; made by ``convert_rclpy_qos_to_rclcpp_qos`` or step by step."""

    def __init__(self, history_depth: int) -> None:
        """Keep the last ``history_depth``, reliable, volatile."""
        self._take(QoSProfile(depth=history_depth, liveliness=LivelinessPolicy.AUTOMATIC))

    def _take(self, profile: QoSProfile) -> QoS:
        # no bound is the largest value, for which rclpy also has zero
        spans = {name: getattr(profile, name).nanoseconds or _INFINITE for name in _TIMES}
        self.document: dict[str, Any] = {name: getattr(profile, name).name.lower() for name in _POLICIES}
        self.document |= {name: {"sec": span // _NS, "nsec": span % _NS} for name, span in spans.items()}
        self.document |= {"depth": profile.depth or 0, "avoid_ros_namespace_conventions": False}
        return self

    def best_effort(self) -> QoS:
        """Offer best-effort delivery."""
        self.document["reliability"] = "best_effort"
        return self

    def transient_local(self) -> QoS:
        """Keep the last messages for late joiners."""
        self.document["durability"] = "transient_local"
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QoS) and self.document == other.document

    __hash__ = None  # type: ignore[assignment]

    def to_rclpy(self) -> QoSProfile:
        """Return the profile with which to publish again; what discovery left unknown gets the default."""
        values: dict[str, Any] = {"history": HistoryPolicy.KEEP_LAST, "depth": self.document["depth"] or 10}
        for name, policy in _POLICIES.items():
            if self.document[name] not in ("unknown", "best_available", "system_default"):
                values[name] = policy[self.document[name].upper()]
        for name in _TIMES:
            span = self.document[name]["sec"] * _NS + self.document[name]["nsec"]
            if 0 < span < _INFINITE:
                values[name] = Duration(nanoseconds=span)
        return QoSProfile(**values)


def convert_rclpy_qos_to_rclcpp_qos(profile: QoSProfile) -> QoS:
    """Return the QoS of a bag for a profile of rclpy."""
    return QoS(1)._take(profile)  # noqa: SLF001


def profiles_to_text(profiles: list[QoS]) -> str:
    """Return the YAML that the channel of an MCAP file carries."""
    return str(yaml.safe_dump([profile.document for profile in profiles], sort_keys=False)) if profiles else ""


def profiles_from(text: str | None) -> list[QoS]:
    """Read the YAML that the channel of an MCAP file carries."""
    found = []
    for document in yaml.safe_load(text or "") or []:
        made = QoS(1)
        for name, value in document.items():
            if name in _POLICIES and isinstance(value, int):
                value = next((policy.name.lower() for policy in _POLICIES[name] if policy == value), "unknown")
            made.document[name] = value
        found.append(made)
    return found
