"""Which transforms to publish for a joint state, and when: pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from robot_state_publisher.urdf import Joint, Quaternion, Vector, parse


class FramePose(NamedTuple):
    """Pose of a link in its parent link."""

    parent: str
    child: str
    translation: Vector
    rotation: Quaternion


class StateToTransforms:
    """Turns joint states into poses at a limited rate, per joint as the real publisher counts it."""

    def __init__(self, urdf: str, publish_frequency: float = 20.0, frame_prefix: str = "") -> None:
        """Read the model.

        Args:
            urdf: text of the URDF.
            publish_frequency: highest rate of a joint's transform [Hz]; 0 publishes every joint state.
            frame_prefix: put before every link name as it is.

        Raises:
            ValueError: a parameter out of range, or no URDF.
        """
        if not 0.0 <= publish_frequency <= 1000.0:
            raise ValueError(f"publish_frequency: got {publish_frequency} Hz, allowed between 0 and 1000")
        self._interval_ns = int(1e9 / publish_frequency) if publish_frequency else 0
        self._prefix = frame_prefix
        joints = parse(urdf)
        self._fixed = [joint for joint in joints if joint.fixed]
        self._moving = {joint.name: joint for joint in joints if not joint.fixed}
        self._followers: dict[str, list[Joint]] = {}
        for joint in self._moving.values():
            if joint.mimic is not None:
                if joint.mimic.joint not in self._moving:
                    raise ValueError(f"joint '{joint.name}': mimics '{joint.mimic.joint}', allowed {sorted(self._moving)}")
                self._followers.setdefault(joint.mimic.joint, []).append(joint)
        self._published: dict[str, int] = {}
        self._newest = 0

    def fixed(self) -> list[FramePose]:
        """Return the poses that never change."""
        return [self._pose(joint, 0.0) for joint in self._fixed]

    def moving(self, names: Sequence[str], positions: Sequence[float], stamp: int) -> list[FramePose]:
        """Return the poses that a joint state of time ``stamp`` [ns] gives, or none when it is too early for one.

        Raises:
            ValueError: there are not as many positions as names.
        """
        if len(names) != len(positions):
            raise ValueError(f"joint state: got {len(positions)} positions for {len(names)} names, allowed as many")
        if stamp < self._newest:
            # time went back, as when a bag starts anew
            self._published.clear()
        self._newest = stamp
        known = [(self._moving[name], position) for name, position in zip(names, positions) if name in self._moving]
        if not known:
            return []
        oldest = min(self._published.get(joint.name, stamp - self._interval_ns) for joint, _ in known)
        if stamp - oldest < self._interval_ns:
            return []
        self._published |= {joint.name: stamp for joint, _ in known}
        poses = [self._pose(joint, position) for joint, position in known if joint.mimic is None]
        for joint, position in known:
            for follower in self._followers.get(joint.name, ()):
                assert follower.mimic is not None
                poses.append(self._pose(follower, follower.mimic.multiplier * position + follower.mimic.offset))
        return poses

    def _pose(self, joint: Joint, position: float) -> FramePose:
        return FramePose(self._prefix + joint.parent, self._prefix + joint.child, *joint.pose(position))
