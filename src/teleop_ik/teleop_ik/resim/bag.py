"""A bag as the recording that a re-simulation reads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from teleop_common import bag
from teleop_common.cdr import WireError
from teleop_common.errors import ConfigError
from teleop_common.records import AuthorityState, JointState, JointTargets, SessionState, String, TeleopFrame
from teleop_common.transport import codec
from teleop_ik.resim.recording import Recording, Snapshot

CONFIG = "/teleop/config/retargeter"
RECORDS = {
    "/teleop/joint_targets": JointTargets,
    "/teleop/frame": TeleopFrame,
    "/teleop/authority": AuthorityState,
    "/teleop/session/state": SessionState,
}
_JOINTS = re.compile(r"/([^/]+)/joint_states")
# what `ros2 bag record --regex` needs
TOPICS = "|".join((CONFIG, *RECORDS, _JOINTS.pattern))


def read(path: str | Path) -> Recording:
    """Read what a re-simulation needs.

    Raises:
        ConfigError: no such bag, a topic that it must have and has not, or a message that is none.
    """

    def choose(kinds: dict[str, str]) -> list[str]:
        for topic in (CONFIG, *RECORDS):
            if topic not in kinds:
                raise ConfigError(
                    "bag", str(path), ", ".join(sorted(kinds)) or "no topic", f"one that holds {topic}", "record that topic, too"
                )
        return [topic for topic in kinds if topic == CONFIG or topic in RECORDS or _JOINTS.fullmatch(topic)]

    found: dict[str, list[Any]] = {topic: [] for topic in RECORDS}
    joints: dict[str, list[JointState]] = {}
    snapshots, first = [], {}
    counts = dict.fromkeys((CONFIG, *RECORDS), 0)
    for topic, data, received in bag.stream(path, choose):
        first.setdefault(topic, received)
        counts[topic] = counts.get(topic, 0) + 1
        try:
            if topic == CONFIG:
                snapshots.append(Snapshot(received, json.loads(codec(String).decode(data).data)))
            elif topic in RECORDS:
                found[topic].append(codec(RECORDS[topic]).decode(data))
            elif match := _JOINTS.fullmatch(topic):
                joints.setdefault(match[1], []).append(codec(JointState).decode(data))
        except (WireError, ValueError) as error:
            raise ConfigError(
                "bag", str(path), f"{topic}: {error}", "messages of this version", "re-simulate with the version that recorded it"
            ) from error
    return Recording(
        snapshots, *found.values(), joints, whole_from=max(first.values(), default=0), losses=bag.losses(path, counts)
    )
