"""What a listener hears when two servos answer at once: the line is low while either of them pulls it low."""

from __future__ import annotations

from collections.abc import Sequence

_FRAME = 10  # bits of a byte on the line: start, eight, stop
_IDLE = 4  # bits of silence appended, so that the last byte can be read


def _line(data: bytes, late: int) -> list[int]:
    """Return the levels of the line, a bit each, while ``data`` is sent ``late`` bits after the first sender began."""
    levels = [1] * late
    for byte in data:
        levels += [0, *((byte >> bit) & 1 for bit in range(8)), 1]
    return levels


def heard(replies: Sequence[bytes], late: Sequence[int]) -> bytes:
    """Return the bytes that a listener makes of replies that are sent over one another.

    Args:
        replies: what each servo sends.
        late: by how many bits each begins after the request, at least 0.

    Returns:
        What comes out of a UART that listens to all of them; bytes without a proper stop bit are taken as they are.
    """
    lines = [_line(data, delay) for data, delay in zip(replies, late, strict=True)]
    length = max(map(len, lines))
    level = [min(line[i] if i < len(line) else 1 for line in lines) for i in range(length)] + [1] * _IDLE
    out, at = bytearray(), 0
    while at + _FRAME <= len(level):
        if level[at]:
            at += 1
            continue
        out.append(sum(level[at + 1 + bit] << bit for bit in range(8)))
        at += _FRAME
    return bytes(out)
