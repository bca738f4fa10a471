"""The byte stream below the bus: what it must offer, and a serial port that does."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import termios
import time
from typing import Protocol

import serial

from teleop_common.errors import TeleopError


class PortError(TeleopError):
    """The serial port cannot be opened, or is gone."""


class ByteStream(Protocol):
    """A half-duplex line, with the clock by which its time-outs run."""

    def write(self, data: bytes) -> None:
        """Send ``data``; returns when it is handed to the line, PortError when that is gone."""

    def read(self, timeout: float) -> bytes:
        """Return what has come, waiting at most ``timeout`` [s] for the first byte; PortError when the line is gone."""

    def now(self) -> float:
        """Return the monotonic clock [s]."""

    def close(self) -> None:
        """Let go of the line."""


class SerialStream:
    """A serial port, or a pseudo-terminal, locked against other programs.

    Args:
        path: device, best one that names the adapter: ``/dev/serial/by-id/...``.
        baud_rate: bits per second [1/s].

    Raises:
        PortError: it cannot be opened; says what to do.
    """

    now = staticmethod(time.monotonic)

    def __init__(self, path: str, baud_rate: int = 1_000_000) -> None:
        """Open the port."""
        try:
            self._port = serial.Serial(path, baud_rate, timeout=0, write_timeout=0.1, exclusive=True)
        except (OSError, ValueError, termios.error) as error:  # SerialException is an OSError, termios.error is none
            raise PortError(f"port '{path}': got {_reason(error)}, allowed a free serial port; {_remedy(error)}") from error
        self.path = path
        # FTDI adapters gather bytes for 16 ms otherwise; others and pseudo-terminals know no such mode
        with contextlib.suppress(OSError, ValueError, NotImplementedError, AttributeError):
            self._port.set_low_latency_mode(True)
        try:
            self._port.reset_input_buffer()
        except (OSError, termios.error) as error:
            self.close()
            raise PortError(f"port '{path}': got {_reason(error)} on opening, allowed a serial port; {_remedy(error)}") from error

    def write(self, data: bytes) -> None:
        """Send ``data``."""
        try:
            self._port.write(data)
        except (OSError, serial.SerialTimeoutException, termios.error) as error:
            raise PortError(f"port '{self.path}': got {_reason(error)} on writing; plug the arm's adapter in again") from error

    def read(self, timeout: float) -> bytes:
        """Return what has come within ``timeout`` [s], perhaps nothing."""
        try:
            ready, _, _ = select.select([self._port.fileno()], [], [], max(timeout, 0.0))
            if not ready:
                return b""
            # not Serial.read: it turns an empty read of a pseudo-terminal into an error of its own and asks select again
            data = os.read(self._port.fileno(), 4096)
        except BlockingIOError:
            return b""
        except (OSError, ValueError, termios.error) as error:
            raise PortError(f"port '{self.path}': got {_reason(error)} on reading; plug the arm's adapter in again") from error
        if not data:
            # ready, yet nothing there: what a port says whose other end is gone
            raise PortError(f"port '{self.path}': got its end on reading; plug the arm's adapter in again")
        return data

    def close(self) -> None:
        """Let go of the port."""
        # a pulled port cannot be closed in order
        with contextlib.suppress(OSError, termios.error):
            self._port.close()


def _number(error: Exception) -> int | None:
    number = error.args[0] if isinstance(error, termios.error) and error.args else getattr(error, "errno", None)
    return number if isinstance(number, int) else None


def _reason(error: Exception) -> str:
    number = _number(error)
    return os.strerror(number) if number else str(error)


def _remedy(error: Exception) -> str:
    number = _number(error)
    if number in (errno.EACCES, errno.EPERM):
        return "add yourself to the group that owns it (dialout, uucp) and log in again"
    if number in (errno.EAGAIN, errno.EBUSY):
        return "end the other program that has it"
    return "plug the adapter in, and see ./teleop arm find"
