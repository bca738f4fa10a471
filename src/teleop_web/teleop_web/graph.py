"""What the web side needs of the graph: the seam between aiohttp and rclpy."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, NamedTuple, Protocol

from teleop_common.records import TeleopFrame


class Clock(NamedTuple):
    """One instant: monotonic [s], monotonic [ns], ROS clock [ns]."""

    now: float
    monotonic_ns: int
    stamp_ns: int


class Answer(NamedTuple):
    """A service's answer."""

    success: bool
    message: str


class Graph(Protocol):
    """The graph as the web server sees it. Every method may be called from the server's thread."""

    def clock(self) -> Clock:
        """Return the present instant."""

    def publish_frame(self, frame: TeleopFrame) -> None:
        """Publish a raw frame."""

    def snapshot(self) -> dict[str, Any]:
        """Return the graph's state for the pages."""

    def call(self, name: str, **fields: Any) -> Future[Answer]:
        """Call a service; the future gets its answer, or ConnectionError when nobody offers it."""

    def cameras(self) -> list[str]:
        """Return the names of the cameras that are published."""

    def watch_cameras(self, names: set[str]) -> None:
        """Receive these cameras and no others."""

    def event(self, text: str) -> None:
        """Log something that an operator would want to read."""
