"""QoS profiles as bags store them."""

from __future__ import annotations

from typing import Any

import yaml
from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, HistoryPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy

# names and numbers of rmw/types.h; the policies of rclpy have the same numbers
_ENDS = {3: "unknown", 4: "best_available"}
_WORDS: dict[str, tuple[Any, dict[int, str]]] = {
    "history": (HistoryPolicy, {0: "system_default", 1: "keep_last", 2: "keep_all", 3: "unknown"}),
    "reliability": (ReliabilityPolicy, {0: "system_default", 1: "reliable", 2: "best_effort"} | _ENDS),
    "durability": (DurabilityPolicy, {0: "system_default", 1: "transient_local", 2: "volatile"} | _ENDS),
    "liveliness": (
        LivelinessPolicy,
        {0: "system_default", 1: "automatic", 3: "manual_by_topic", 4: "unknown", 5: "best_available"},
    ),
}
_TIMES = ("deadline", "lifespan", "liveliness_lease_duration")
_NS = 1_000_000_000
_INFINITE = 2**63 - 1


class QoS:
    """A QoS profile as rosbag2_py names it; made by ``convert_rclpy_qos_to_rclcpp_qos`` or step by step."""

    def __init__(self, history_depth: int) -> None:
        """Keep the last ``history_depth``, reliable, volatile."""
        self._fields: dict[str, Any] = {
            "history": "keep_last",
            "depth": history_depth,
            "reliability": "reliable",
            "durability": "volatile",
            "deadline": _INFINITE,
            "lifespan": _INFINITE,
            "liveliness": "automatic",
            "liveliness_lease_duration": _INFINITE,
            "avoid_ros_namespace_conventions": False,
        }

    def _with(self, **fields: Any) -> QoS:
        self._fields.update(fields)
        return self

    def keep_last(self, depth: int) -> QoS:
        """Keep the last ``depth`` messages."""
        return self._with(history="keep_last", depth=depth)

    def keep_all(self) -> QoS:
        """Keep every message."""
        return self._with(history="keep_all", depth=0)

    def reliable(self) -> QoS:
        """Offer reliable delivery."""
        return self._with(reliability="reliable")

    def best_effort(self) -> QoS:
        """Offer best-effort delivery."""
        return self._with(reliability="best_effort")

    def durability_volatile(self) -> QoS:
        """Keep nothing for late joiners."""
        return self._with(durability="volatile")

    def transient_local(self) -> QoS:
        """Keep the last messages for late joiners."""
        return self._with(durability="transient_local")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QoS) and self._fields == other._fields

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"QoS({self._fields})"

    def to_document(self) -> dict[str, Any]:
        """Return the mapping of a version 9 bag."""
        times = {name: {"sec": self._fields[name] // _NS, "nsec": self._fields[name] % _NS} for name in _TIMES}
        return self._fields | times

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> QoS:
        """Read the mapping of a bag, with words (version 9) or numbers (before)."""
        made = cls(int(document.get("depth", 0)))
        for name, (_, words) in _WORDS.items():
            value = document.get(name, made._fields[name])
            made._fields[name] = words.get(value, "unknown") if isinstance(value, int) else value
        for name in _TIMES:
            span = document.get(name)
            if span is not None:
                # {0, 0} and the largest value both mean "no bound"
                made._fields[name] = min(span["sec"] * _NS + span["nsec"], _INFINITE) or _INFINITE
        return made

    def to_rclpy(self) -> QoSProfile:
        """Return the profile with which to publish again; what discovery left unknown gets the default."""
        values: dict[str, Any] = {}
        for name, (policy, words) in _WORDS.items():
            number = next((key for key, word in words.items() if word == self._fields[name]), 0)
            if number and self._fields[name] not in ("unknown", "best_available"):
                values[name] = policy(number)
        if values.get("history") is not HistoryPolicy.KEEP_ALL:
            values |= {"history": HistoryPolicy.KEEP_LAST, "depth": self._fields["depth"] or 10}
        values |= {name: Duration(nanoseconds=self._fields[name]) for name in _TIMES if self._fields[name] != _INFINITE}
        return QoSProfile(**values)


def convert_rclpy_qos_to_rclcpp_qos(profile: QoSProfile) -> QoS:
    """Return the QoS of a bag for a profile of rclpy."""
    words: dict[str, Any] = {name: table[int(getattr(profile, name))] for name, (_, table) in _WORDS.items()}
    spans = {name: getattr(profile, name).nanoseconds for name in _TIMES}
    times = {name: {"sec": span // _NS, "nsec": span % _NS} for name, span in spans.items()}
    return QoS.from_document(words | times | {"depth": profile.depth or 0})


def profiles_to_text(profiles: list[QoS]) -> str:
    """Return the YAML that the channel of an MCAP file carries."""
    return str(yaml.safe_dump([profile.to_document() for profile in profiles], sort_keys=False)) if profiles else ""


def profiles_from(value: Any) -> list[QoS]:
    """Read a list of profiles, or the YAML text of one (bags before version 9, channels)."""
    documents = yaml.safe_load(value) if isinstance(value, str) else value
    return [QoS.from_document(document) for document in documents or []]
