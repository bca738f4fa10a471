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
        connection: random per process, +1 whenever the hands jump to the path's beginning: they must not drive on.
        sequence: of the next frame.
        run: for whom the path runs (the session's epoch); None while it waits.
        started: when the path began [s, monotonic].
    """

    path: DebugPath
    connection: int
    sequence: int = 0
    run: int | None = None
    started: float = 0.0

    def let(self, now: float, run: int | None) -> None:
        """Begin the path for a new ``run``, return to its beginning for None; the same run again changes nothing.

        A new epoch of the session is a new run: every grip must open before it closes again, so the path starts over.
        """
        if run == self.run:
            return
        if self.run is not None:
            self._jump()
        self.run, self.started = run, now

    def take(self, now: float, path: DebugPath) -> None:
        """Change to another path, from its beginning, as a new connection."""
        self.path, self.started = path, now
        self._jump()

    def frame(self, now: float, stamp_ns: int, monotonic_ns: int) -> TeleopFrame:
        """Return the frame of ``now`` [s, monotonic].

        Args:
            now: time on the path's clock.
            stamp_ns: ROS clock [ns].
            monotonic_ns: monotonic clock [ns]; the script's device clock is the same.
        """
        head, left, right = self.path.at(0.0 if self.run is None else now - self.started)
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

    def _jump(self) -> None:
        self.connection = (self.connection + 1) % CONNECTIONS
        self.sequence = 0
