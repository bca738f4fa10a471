"""The buffer of transforms: what a listener fills and a node asks."""

from __future__ import annotations

import threading
import time as steady
from typing import Any

from geometry_msgs.msg import TransformStamped
from rclpy.duration import Duration
from rclpy.time import Time

from tf2_ros.exceptions import TransformException
from tf2_ros.graph import Quaternion, Sample, TransformGraph, Vector


def _nanoseconds(time: Any) -> int:
    """Return [ns] of a Time of rclpy or of builtin_interfaces."""
    return int(time.nanoseconds) if hasattr(time, "nanoseconds") else int(time.sec * 1_000_000_000 + time.nanosec)


class Buffer:
    """Transforms of the last ``cache_time``; safe to fill and ask from different threads."""

    def __init__(self, cache_time: Duration | None = None, node: Any = None) -> None:
        """Start empty; ``node`` is accepted for the real signature."""
        self._graph = TransformGraph(cache_time.nanoseconds if cache_time is not None else 10_000_000_000)
        self._changed = threading.Condition()

    def set_transform(self, transform: TransformStamped, authority: str) -> None:
        """Take a moving transform in."""
        self._set(transform, False)

    def set_transform_static(self, transform: TransformStamped, authority: str) -> None:
        """Take a static transform in."""
        self._set(transform, True)

    def _set(self, transform: TransformStamped, static: bool) -> None:
        t, q = transform.transform.translation, transform.transform.rotation
        sample = Sample(_nanoseconds(transform.header.stamp), transform.header.frame_id, (t.x, t.y, t.z), (q.x, q.y, q.z, q.w))
        with self._changed:
            self._graph.add(transform.child_frame_id, sample, static)
            self._changed.notify_all()

    def lookup_transform(
        self,
        target_frame: str,
        source_frame: str,
        time: Any,
        timeout: Duration = Duration(),  # noqa: B008 - the real signature
    ) -> TransformStamped:
        """Return the pose of ``source_frame`` in ``target_frame``.

        Args:
            target_frame: frame of the answer (its header's frame).
            source_frame: frame asked for (its child frame).
            time: when; ``Time()`` is the latest.
            timeout: how long to wait for it; another thread must be filling the buffer.

        Raises:
            TransformException: one of its kinds says why it can't be had.
        """
        stamp, translation, rotation = self._find(target_frame, source_frame, time, timeout)
        answer = TransformStamped()
        answer.header.frame_id, answer.child_frame_id = target_frame, source_frame
        answer.header.stamp = Time(nanoseconds=stamp).to_msg()
        part = answer.transform
        part.translation.x, part.translation.y, part.translation.z = translation
        part.rotation.x, part.rotation.y, part.rotation.z, part.rotation.w = rotation
        return answer

    def can_transform(
        self,
        target_frame: str,
        source_frame: str,
        time: Any,
        timeout: Duration = Duration(),  # noqa: B008 - the real signature
    ) -> bool:
        """Whether ``lookup_transform`` would succeed."""
        try:
            self._find(target_frame, source_frame, time, timeout)
        except TransformException:
            return False
        return True

    def _find(self, target: str, source: str, time: Any, timeout: Duration) -> tuple[int, Vector, Quaternion]:
        """Return stamp [ns], translation and rotation as soon as they can be had, else the reason once ``timeout`` is over."""
        end = steady.monotonic() + timeout.nanoseconds * 1e-9
        with self._changed:
            while True:
                try:
                    return self._graph.lookup(target, source, _nanoseconds(time))
                except TransformException:
                    left = end - steady.monotonic()
                    if left <= 0.0:
                        raise
                    self._changed.wait(min(left, 0.1))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not name.startswith(
            ("lookup_", "can_", "wait_for_", "transform", "all_frames_", "registration")
        ):
            raise AttributeError(name)
        raise NotImplementedError(f"tf2_ros Buffer.{name}: not in this subset; install the real ros-jazzy-tf2-ros-py")
