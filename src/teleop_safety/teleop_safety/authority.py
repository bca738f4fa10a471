"""Who may move one arm: a table of (state, event) → next state, and nothing else moves an arm from state to state."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from teleop_common.enums import Authority

UINT32 = 1 << 32


class Event(Enum):
    """What can happen to an arm's authority."""

    SQUEEZE = "grip closed and the arm is ready"
    OPEN = "grip open"
    LOST = "tracking lost"
    TRACKED = "tracking back"
    EXPIRED = "time is up"
    GAP = "gap"
    RECENTRED = "play space recentred"
    ESTOP = "e-stop"
    RESET = "e-stop reset"
    FAULT = "fault"
    CLEARED = "fault gone and grip open"


class Move(NamedTuple):
    """Outcome of an event.

    Attributes:
        state: the next state.
        must_open: the grip must open before it engages again.
    """

    state: Authority
    must_open: bool = False


_IDLE, _COUNTDOWN, _DRIVING, _GRACE = Authority.IDLE, Authority.COUNTDOWN, Authority.DRIVING, Authority.GRACE
_OWNED = (Authority.HOMING, Authority.REPLAY, Authority.EXTERNAL)

TABLE: dict[tuple[Authority, Event], Move] = {
    (_IDLE, Event.SQUEEZE): Move(_COUNTDOWN),
    (_COUNTDOWN, Event.OPEN): Move(_IDLE),
    (_COUNTDOWN, Event.LOST): Move(_IDLE, must_open=True),
    (_COUNTDOWN, Event.EXPIRED): Move(_DRIVING),
    (_DRIVING, Event.OPEN): Move(_IDLE),
    (_DRIVING, Event.LOST): Move(_GRACE),
    (_GRACE, Event.TRACKED): Move(_DRIVING),
    (_GRACE, Event.OPEN): Move(_IDLE),
    (_GRACE, Event.EXPIRED): Move(_IDLE, must_open=True),
    (Authority.ESTOP, Event.RESET): Move(_IDLE, must_open=True),
    (Authority.FAULT, Event.CLEARED): Move(_IDLE),
    # latches stay through a gap, but the grip they will find must have opened after it
    (Authority.ESTOP, Event.GAP): Move(Authority.ESTOP, must_open=True),
    (Authority.FAULT, Event.GAP): Move(Authority.FAULT, must_open=True),
    **{(state, Event.GAP): Move(_IDLE, must_open=True) for state in (_IDLE, _COUNTDOWN, _DRIVING, _GRACE, *_OWNED)},
    **{(state, Event.RECENTRED): Move(state) for state in Authority},
    **{(state, Event.ESTOP): Move(Authority.ESTOP, must_open=True) for state in Authority},
    **{(state, Event.FAULT): Move(Authority.FAULT, must_open=True) for state in Authority if state is not Authority.ESTOP},
}


def next_state(state: Authority, event: Event) -> Move | None:
    """Return what ``event`` does in ``state``, None when nothing."""
    return TABLE.get((state, event))


def next_engage(engage: int, state: Authority, event: Event, following: Authority) -> int:
    """Return the anchor counter after a move.

    It grows on entering COUNTDOWN, on leaving GRACE or COUNTDOWN, and on a recentre (design 4), and wraps at 2³².
    """
    changed = following is not state
    if event is Event.RECENTRED or (changed and (following is _COUNTDOWN or state in (_COUNTDOWN, _GRACE))):
        return (engage + 1) % UINT32
    return engage


def squeezed(closed: bool, squeeze: float, close: float, open_: float) -> bool:
    """Return the grip after hysteresis: closes above ``close``, opens below ``open_``, else stays [0, 1]."""
    if squeeze > close:
        return True
    if squeeze < open_:
        return False
    return closed
