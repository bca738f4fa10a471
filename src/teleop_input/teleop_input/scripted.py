"""The scripted operator's core: where on its path it is, and the frame it sends."""

from __future__ import annotations

from dataclasses import dataclass

from teleop_common.enums import Convention
from teleop_common.records import Header, TeleopFrame
from teleop_input.path import DebugPath

FRAME_ID = "debug_space"
CONNECTIONS = 2**32


@dataclass
class ScriptedOperator:
    """Walks along a path while it is let, stands at its beginning otherwise.

    Attributes:
        path: the path.
        connection: random per process, +1 per change of path: a hand that jumps must not drive on.
        sequence: of the next frame.
        started: when the path began [s, monotonic]; None while it waits.
    """

    path: DebugPath
    connection: int
    sequence: int = 0
    started: float | None = None

    def let(self, now: float, go: bool) -> None:
        """Begin the path when ``go`` becomes true, return to its beginning when it becomes false."""
        if go and self.started is None:
            self.started = now
        elif not go:
            self.started = None

    def take(self, now: float, path: DebugPath) -> None:
        """Change to another path, from its beginning, as a new connection."""
        self.path = path
        self.connection = (self.connection + 1) % CONNECTIONS
        self.sequence = 0
        if self.started is not None:
            self.started = now

    def frame(self, now: float, stamp_ns: int, monotonic_ns: int) -> TeleopFrame:
        """Return the frame of ``now`` [s, monotonic].

        Args:
            now: time on the path's clock.
            stamp_ns: ROS clock [ns].
            monotonic_ns: monotonic clock [ns]; the script's device clock is the same.
        """
        head, left, right = self.path.at(0.0 if self.started is None else now - self.started)
        frame = TeleopFrame(
            Header(stamp_ns, FRAME_ID),
            "debug",
            self.connection,
            self.sequence,
            monotonic_ns,
            monotonic_ns,
            monotonic_ns,
            0,
            Convention.OPENXR,
            head,
            left,
            right,
        )
        self.sequence += 1
        return frame
