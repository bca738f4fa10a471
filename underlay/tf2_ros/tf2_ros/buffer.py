"""The buffer of transforms: what a listener fills and a node asks."""

from __future__ import annotations

import threading
import time as steady
from typing import Any

import yaml
from geometry_msgs.msg import TransformStamped
from rclpy.duration import Duration
from rclpy.time import Time

from tf2_ros.exceptions import TransformException
from tf2_ros.graph import Sample, TransformGraph


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

    def clear(self) -> None:
        """Forget every moving transform."""
        with self._changed:
            self._graph.clear()

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
        self._wait(target_frame, source_frame, time, timeout)
        with self._changed:
            stamp, translation, rotation = self._graph.lookup(target_frame, source_frame, _nanoseconds(time))
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
        return_debug_tuple: bool = False,
    ) -> bool | tuple[bool, str]:
        """Whether ``lookup_transform`` would succeed, with the reason against it if asked for."""
        reason = self._wait(target_frame, source_frame, time, timeout)
        return (not reason, reason) if return_debug_tuple else not reason

    def _wait(self, target: str, source: str, time: Any, timeout: Duration) -> str:
        """Return why the transform can't be had once ``timeout`` is over, or an empty text."""
        end = steady.monotonic() + timeout.nanoseconds * 1e-9
        with self._changed:
            while True:
                try:
                    self._graph.lookup(target, source, _nanoseconds(time))
                except TransformException as error:
                    left = end - steady.monotonic()
                    if left <= 0.0:
                        return str(error)
                    self._changed.wait(min(left, 0.1))
                else:
                    return ""

    def all_frames_as_yaml(self) -> str:
        """Return every frame with its parent and the time of its newest sample [s], as YAML."""
        with self._changed:
            frames = {
                child: {"parent": parent, "most_recent_transform": sample.stamp * 1e-9, "static": static}
                for child, (parent, sample, static) in self._graph.parents().items()
            }
        return str(yaml.safe_dump(frames, sort_keys=True))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in _REAL:
            raise AttributeError(name)
        raise NotImplementedError(f"tf2_ros Buffer.{name}: not in this subset; install the real ros-jazzy-tf2-ros-py")


_REAL = {
    "lookup_transform_full",
    "lookup_transform_core",
    "lookup_transform_async",
    "lookup_transform_full_async",
    "can_transform_full",
    "wait_for_transform_async",
    "wait_for_transform_full_async",
    "transform",
    "transform_full",
    "all_frames_as_string",
    "registration",
}
