"""The emulator in the caller's own process, on a clock of its own: a wait takes no time, and every run is the same to the bit."""

from __future__ import annotations

import heapq

from teleop_hw_so101.emulator.emulator import Emulator
from teleop_hw_so101.stream import PortError

_FOR_EVER = float("inf")


class Loopback:
    """Emulator and clock; the streams of its arms share both.

    Attributes:
        emulator: the arms.
        time: [s].
    """

    def __init__(self, emulator: Emulator, start: float = 1000.0) -> None:
        """Start the clock at ``start`` [s]."""
        self.emulator, self.time = emulator, start
        emulator.advance(start)

    def wait(self, seconds: float) -> None:
        """Let ``seconds`` pass."""
        self.until(self.time + seconds)

    def until(self, when: float) -> None:
        """Let time pass until ``when`` [s]."""
        while self.time < when:
            self.time = min(max(self.emulator.next_step, self.time), when)
            self.emulator.advance(self.time)

    def stream(self, arm: str) -> LoopbackStream:
        """Open the port of ``arm``.

        Raises:
            PortError: it is pulled.
        """
        stream = LoopbackStream(self, arm)
        stream.check()
        return stream


class LoopbackStream:
    """The port of one emulated arm, as a ``ByteStream``."""

    def __init__(self, loopback: Loopback, arm: str) -> None:
        """Open the port."""
        self._loopback, self._arm = loopback, arm
        self._coming: list[tuple[float, int, bytes]] = []
        self._count, self._gone = 0, False

    def check(self) -> None:
        """Raise PortError when the port is gone; one that was pulled stays gone also when it is put back."""
        self._gone = self._gone or self._arm in self._loopback.emulator.pulled
        if self._gone:
            raise PortError(f"port '{self._arm}': got a pulled plug, allowed an emulated port; plug it in again")

    def now(self) -> float:
        """Return the clock [s]."""
        return self._loopback.time

    def write(self, data: bytes) -> None:
        """Send ``data``."""
        self.check()
        for sending in self._loopback.emulator.receive(self._arm, data, self._loopback.time):
            # the count keeps bytes of one moment in their order
            self._count += 1
            heapq.heappush(self._coming, (sending.due, self._count, sending.data))

    def read(self, timeout: float) -> bytes:
        """Return what has come within ``timeout`` [s], perhaps nothing; waiting for it lets that time pass."""
        self.check()
        loopback, end = self._loopback, self._loopback.time + max(timeout, 0.0)
        first = self._coming[0][0] if self._coming else _FOR_EVER
        loopback.until(min(max(first, loopback.time), end))
        self.check()
        data = b""
        while self._coming and self._coming[0][0] <= loopback.time:
            data += heapq.heappop(self._coming)[2]
        return data

    def close(self) -> None:
        """Let go of the port."""
        self._coming.clear()
