"""Replay's core: which recorded frame is due when, and as which connection."""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from teleop_common.records import Header, TeleopFrame

CONNECTIONS = 2**32
STALL = 0.1
"""Frames later than this [s] are not sent in a burst: the recording waits for the process."""


LEAD = 0.02
"""The first frame after a start or seek is due this much later [s]: whoever paces may sleep that long and is in time."""


class Playback(StrEnum):
    """What the replay does."""

    WAITING = "waiting"
    PLAYING = "playing"
    ENDED = "ended"


class Due(NamedTuple):
    """A frame to send now: its number in the recording, the connection it belongs to, and when it was due [s, monotonic]."""

    number: int
    connection: int
    at: float


@dataclass
class Player:
    """Walks through a recording.

    Attributes:
        times: when each frame is due [s from the first], not descending, not empty.
        connections: the recorded connection of each frame.
        loop: begin again at the end.
        connection: random at the start; +1 at each seek, loop and recorded change of connection, as a device's would be.
        state: what it does.
        index: of the next frame.
        origin: when time 0 of the recording is [s, monotonic]; meaningless while WAITING or ENDED.
        stalls: how often the recording had to wait for the process.
    """

    times: tuple[float, ...]
    connections: tuple[int, ...]
    loop: bool
    connection: int
    state: Playback = Playback.WAITING
    index: int = 0
    origin: float = 0.0
    stalls: int = 0

    @property
    def duration(self) -> float:
        """Time of the last frame [s]."""
        return self.times[-1]

    @property
    def time(self) -> float:
        """Time of the next frame [s], of the last one at the end."""
        return self.times[min(self.index, len(self.times) - 1)]

    def start(self, now: float) -> None:
        """Begin to play where it stands; nothing to do when it plays or has ended."""
        if self.state == Playback.WAITING:
            self.state = Playback.PLAYING
            self.origin = now + LEAD - self.times[self.index]

    def seek(self, now: float, time: float) -> str:
        """Go on from ``time`` [s] as a new connection; return why not, or nothing.

        A waiting replay keeps waiting, there; a playing or ended one plays on from there.
        """
        if not (math.isfinite(time) and 0.0 <= time <= self.duration):
            return f"seek 'time': got {time} s, allowed 0 to {self.duration:.3f} s; mend the request"
        self.index = bisect.bisect_left(self.times, time)
        self._reconnect()
        if self.state != Playback.WAITING:
            self.state, self.origin = Playback.PLAYING, now + LEAD - time
        return ""

    def due(self, now: float) -> list[Due]:
        """Return the frames due at ``now`` [s, monotonic], in recorded order."""
        out: list[Due] = []
        if self.state != Playback.PLAYING:
            return out
        late = now - (self.origin + self.times[self.index])
        if late > STALL:
            self.origin += late
            self.stalls += 1
        while self.state == Playback.PLAYING and self.origin + self.times[self.index] <= now:
            if self.index and self.connections[self.index] != self.connections[self.index - 1]:
                self._reconnect()
            out.append(Due(self.index, self.connection, self.origin + self.times[self.index]))
            self.index += 1
            if self.index == len(self.times):
                self._end()
        return out

    def wait(self, now: float) -> float:
        """Return the time [s] until the next frame is due; infinite when none is."""
        if self.state != Playback.PLAYING:
            return math.inf
        return max(0.0, self.origin + self.times[self.index] - now)

    def _end(self) -> None:
        if not self.loop:
            self.state = Playback.ENDED
            return
        # the next round begins one mean frame interval after the last frame, so that two frames are never due at once
        self.origin += self.duration + max(self.duration / max(len(self.times) - 1, 1), 0.001)
        self.index = 0
        self._reconnect()

    def _reconnect(self) -> None:
        self.connection = (self.connection + 1) % CONNECTIONS


def pace(stamps_ns: tuple[int, ...]) -> tuple[float, ...]:
    """Return when each frame is due [s from the first] from the recorded header stamps [ns].

    A stamp that goes backwards (the recording machine's clock was set) is due at once: time in a replay never runs back.
    """
    times, at = [], 0
    for i, stamp in enumerate(stamps_ns):
        at += max(0, stamp - stamps_ns[i - 1]) if i else 0
        times.append(at * 1e-9)
    return tuple(times)


def renew(recorded: TeleopFrame, connection: int, stamp_ns: int, monotonic_ns: int) -> TeleopFrame:
    """Return the recorded frame as one that arrives now: sequence and device clocks stay, stamps and connection are new."""
    return recorded._replace(
        header=Header(stamp_ns, recorded.header.frame_id), provider="replay", connection=connection, monotonic_ns=monotonic_ns
    )
