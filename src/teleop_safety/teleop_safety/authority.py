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
    GAP = "gap of its hand"
    HALT = "session, driver or feedback gone or new"
    BUTTONS_LOST = "every button lost"
    RECENTRED = "play space recentred"
    HOME = "home asked for"
    ARRIVED = "at home"
    TAKEN = "grip closed, arm not ready"
    ACQUIRED = "acquired"
    REPLAYED = "acquired by replay"
    RELEASED = "released"
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
_HOMING, _ESTOP, _FAULT = Authority.HOMING, Authority.ESTOP, Authority.FAULT

ACTIVE = (_COUNTDOWN, _DRIVING, _GRACE)
"""States in which a hand has the arm."""
BORROWED = (Authority.REPLAY, Authority.EXTERNAL)
"""States in which an owner that asked for the arm has it."""
UNHANDED = (_HOMING, *BORROWED)
"""States in which the arm moves without a hand."""
MOVED = (_DRIVING, *UNHANDED)
"""States in which anything moves the arm."""
RESERVED = ("operator", "homing")
"""Owners that no external one may call itself."""

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
    # the hand outranks the way home, and ends it even when it cannot have the arm
    (_IDLE, Event.HOME): Move(_HOMING),
    (_HOMING, Event.SQUEEZE): Move(_COUNTDOWN),
    (_HOMING, Event.TAKEN): Move(_IDLE, must_open=True),
    (_HOMING, Event.ARRIVED): Move(_IDLE),
    (_HOMING, Event.EXPIRED): Move(_IDLE),
    (_IDLE, Event.ACQUIRED): Move(Authority.EXTERNAL),
    (_IDLE, Event.REPLAYED): Move(Authority.REPLAY),
    **{(state, event): Move(_IDLE, must_open=True) for state in BORROWED for event in (Event.RELEASED, Event.EXPIRED)},
    (_ESTOP, Event.RESET): Move(_IDLE, must_open=True),
    (_FAULT, Event.CLEARED): Move(_IDLE),
    # a gap of the hand stops what the hand moves
    **{(state, Event.GAP): Move(_IDLE, must_open=True) for state in (_IDLE, *ACTIVE)},
    **{(state, Event.GAP): Move(state, must_open=True) for state in (*UNHANDED, _ESTOP, _FAULT)},
    # these two stop everything; latches stay, but the grip they will find must have opened after it
    **{
        (state, event): Move(state if state in (_ESTOP, _FAULT) else _IDLE, must_open=True)
        for state in Authority
        for event in (Event.HALT, Event.BUTTONS_LOST)
    },
    **{(state, Event.RECENTRED): Move(state) for state in Authority},
    **{(state, Event.ESTOP): Move(_ESTOP, must_open=True) for state in Authority},
    **{(state, Event.FAULT): Move(_FAULT, must_open=True) for state in Authority if state is not _ESTOP},
}


def next_state(state: Authority, event: Event) -> Move | None:
    """Return what ``event`` does in ``state``, None when nothing."""
    return TABLE.get((state, event))


def next_engage(engage: int, state: Authority, event: Event, following: Authority) -> int:
    """Return the anchor counter after a move.

    It grows by one on entering COUNTDOWN, on leaving GRACE or COUNTDOWN, on a recentre, when every button is lost, and when
    the arm gets or loses an owner other than the operator; it wraps at 2³².
    """
    void = event in (Event.RECENTRED, Event.BUTTONS_LOST)
    owner = following in UNHANDED or state in UNHANDED
    if void or (following is not state and (following is _COUNTDOWN or state in (_COUNTDOWN, _GRACE) or owner)):
        return (engage + 1) % UINT32
    return engage


def owner(state: Authority, name: str) -> str:
    """Return who has an arm in ``state``, empty for nobody; ``name`` is the owner that asked for it."""
    if state in ACTIVE:
        return "operator"
    return "homing" if state is _HOMING else name if state in BORROWED else ""


def squeezed(closed: bool, squeeze: float, close: float, open_: float) -> bool:
    """Return the grip after hysteresis: closes above ``close``, opens below ``open_``, else stays [0, 1]."""
    if squeeze > close:
        return True
    if squeeze < open_:
        return False
    return closed
