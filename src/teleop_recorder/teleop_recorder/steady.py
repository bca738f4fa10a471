"""Stamps of a clock that may be set, on a scale that goes on: what was said before and after is found in its true order.

Commits carry both clocks, the wall's that stamps are of and the steady one that nobody sets; where the difference of the two
changes at once, the wall's clock was set, and stamps of after that are shifted back. Without a step the scale is the stamps'.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, NamedTuple

KEEP = 2_000_000_000  # [ns], how long a record waits to be asked for
_SET = 100_000_000  # [ns]: a smaller step is a clock that is drawn, or a process that was put aside between its two readings
_REBOOT = KEEP  # [ns] that the steady clock goes back: it is another one, its machine was started anew
_CROWD = 2_000  # records of one kind that wait, when no commit comes
_MOST = 8  # settings of the clock that are remembered


class _Setting(NamedTuple):
    """The wall's clock between two steps.

    Attributes:
        offset: of its stamps over the steady clock [ns].
        shift: to add to its stamps [ns].
    """

    offset: int
    shift: int


class Scale:
    """Learns from commits how the wall's clock was set, and places stamps on the scale that goes on [ns]."""

    def __init__(self) -> None:
        """Know no setting; stamps are placed as they are."""
        self._settings: list[_Setting] = []
        self._steady = 0
        self.now: int | None = None  # place of the commit heard last

    def learn(self, stamp: int, steady: int) -> bool:
        """Hear of a commit's two clocks [ns]; return whether this tells a setting that was not known."""
        if self._settings and steady < self._steady - _REBOOT:
            # the wall's clock is all that went on
            self._settings = [_Setting(stamp - steady, self._settings[-1].shift)]
        self._steady = steady
        setting, offset = self._setting(stamp, steady), stamp - steady
        new = setting is None or abs(offset - setting.offset) >= _SET
        if setting is None:
            setting = _Setting(offset, 0)
        elif new:
            setting = _Setting(offset, setting.shift + setting.offset - offset)
        else:
            self._settings.remove(setting)
            setting = setting._replace(offset=offset)
        self._settings = [*self._settings, setting][-_MOST:]
        self.now = stamp + setting.shift
        return new and len(self._settings) > 1

    def _setting(self, stamp: int, steady: int) -> _Setting | None:
        return min(self._settings, key=lambda s: abs(stamp - steady - s.offset), default=None)

    def of_commit(self, stamp: int, steady: int) -> int:
        """Return the place of a commit that was learned [ns]."""
        setting = self._setting(stamp, steady)
        return stamp + setting.shift if setting is not None else stamp

    def of(self, stamp: int, heard: int | None) -> int:
        """Return the place of a record that tells its stamp alone [ns].

        Args:
            stamp: its stamp [ns].
            heard: ``now`` when it came; None: before any commit.
        """
        if heard is None:
            return stamp
        # every setting names a place; the true one is near to where the scale was when it came
        return min((stamp + s.shift for s in self._settings), key=lambda place: abs(place - heard), default=stamp)


class _Said(NamedTuple):
    """A record, its stamp [ns], and where the scale was when it came."""

    stamp: int
    heard: int | None
    value: Any


class Recent:
    """Records of one kind, by their place on a scale.

    Args:
        scale: see there; others tell it of commits.
    """

    def __init__(self, scale: Scale) -> None:
        """Begin with none."""
        self._scale = scale
        self._places: list[int] = []
        self._said: list[_Said] = []

    def add(self, stamp: int, value: Any) -> None:
        """Take a record with its stamp [ns]."""
        said = _Said(stamp, self._scale.now, value)
        self._put(self._scale.of(stamp, said.heard), said)

    def _put(self, place: int, said: _Said) -> None:
        at = bisect_right(self._places, place)
        self._places.insert(at, place)
        self._said.insert(at, said)

    def place_again(self) -> None:
        """Put what came lately where it belongs: a setting of the clock is known that was not when it came."""
        before, self._places, self._said = list(zip(self._places, self._said, strict=True)), [], []
        now = self._scale.now
        for place, said in before:
            late = said.heard is not None and now is not None and abs(now - said.heard) <= KEEP
            self._put(self._scale.of(said.stamp, said.heard) if late else place, said)

    def at(self, place: int) -> Any:
        """Return the newest that is not behind ``place``, or None."""
        number = bisect_right(self._places, place)
        return self._said[number - 1].value if number else None

    def forget(self, before: int) -> list[Any]:
        """Drop what is before a place, but for the newest of it: slow topics stay in force. Return what was dropped."""
        keep = max(bisect_right(self._places, before) - 1, len(self._places) - _CROWD, 0)
        dropped = [said.value for said in self._said[:keep]]
        del self._places[:keep], self._said[:keep]
        return dropped
