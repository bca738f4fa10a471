from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common.enums import Authority as A
from teleop_safety.authority import ACTIVE, TABLE, UNHANDED, Event, next_engage, next_state, owner, squeezed

ALL = list(product(A, Event))


def test_only_a_squeeze_from_idle_begins_a_countdown_and_only_its_end_or_tracking_begins_driving():
    ways_in = {(state, event) for (state, event), move in TABLE.items() if move.state is A.COUNTDOWN and state is not A.COUNTDOWN}
    assert ways_in == {(A.IDLE, Event.SQUEEZE), (A.HOMING, Event.SQUEEZE)}
    ways_in = {(state, event) for (state, event), move in TABLE.items() if move.state is A.DRIVING and state is not A.DRIVING}
    assert ways_in == {(A.COUNTDOWN, Event.EXPIRED), (A.GRACE, Event.TRACKED)}


def test_homing_replay_and_external_are_entered_from_idle_only_and_only_by_being_asked_for():
    ways_in = {(*pair, move.state) for pair, move in TABLE.items() if move.state in UNHANDED and pair[0] is not move.state}
    assert ways_in == {
        (A.IDLE, Event.HOME, A.HOMING),
        (A.IDLE, Event.ACQUIRED, A.EXTERNAL),
        (A.IDLE, Event.REPLAYED, A.REPLAY),
    }


@pytest.mark.parametrize("state", list(A))
def test_estop_latches_from_every_state_and_only_reset_leaves_it(state):
    assert next_state(state, Event.ESTOP) == (A.ESTOP, True)
    assert {event for event in Event if (move := next_state(A.ESTOP, event)) and move.state is not A.ESTOP} == {Event.RESET}
    assert next_state(A.ESTOP, Event.RESET) == (A.IDLE, True)


@pytest.mark.parametrize("state", [s for s in A if s is not A.ESTOP])
def test_fault_holds_every_state_and_only_its_end_or_the_estop_leaves_it(state):
    assert next_state(state, Event.FAULT) == (A.FAULT, True)
    leaving = {event for event in Event if (move := next_state(A.FAULT, event)) and move.state is not A.FAULT}
    assert leaving == {Event.CLEARED, Event.ESTOP}


@pytest.mark.parametrize("state", list(A))
def test_gap_stops_what_a_hand_moves_and_asks_for_an_open_grip(state):
    move = next_state(state, Event.GAP)
    assert move.must_open
    assert move.state is (A.IDLE if state in ACTIVE else state)


@pytest.mark.parametrize("event", [Event.HALT, Event.BUTTONS_LOST])
@pytest.mark.parametrize("state", list(A))
def test_halt_and_lost_buttons_stop_everything_and_ask_for_an_open_grip(state, event):
    move = next_state(state, event)
    assert move.must_open
    assert move.state is (state if state in (A.ESTOP, A.FAULT) else A.IDLE)


@pytest.mark.parametrize(
    ("state", "event", "following", "must_open"),
    [
        (A.IDLE, Event.SQUEEZE, A.COUNTDOWN, False),
        (A.COUNTDOWN, Event.OPEN, A.IDLE, False),
        (A.COUNTDOWN, Event.LOST, A.IDLE, True),
        (A.COUNTDOWN, Event.EXPIRED, A.DRIVING, False),
        (A.DRIVING, Event.OPEN, A.IDLE, False),
        (A.DRIVING, Event.LOST, A.GRACE, False),
        (A.GRACE, Event.TRACKED, A.DRIVING, False),
        (A.GRACE, Event.OPEN, A.IDLE, False),
        (A.GRACE, Event.EXPIRED, A.IDLE, True),
        (A.HOMING, Event.ARRIVED, A.IDLE, False),
        (A.HOMING, Event.EXPIRED, A.IDLE, False),
        (A.HOMING, Event.TAKEN, A.IDLE, True),
        (A.HOMING, Event.SQUEEZE, A.COUNTDOWN, False),
        (A.EXTERNAL, Event.RELEASED, A.IDLE, True),
        (A.EXTERNAL, Event.EXPIRED, A.IDLE, True),
        (A.REPLAY, Event.RELEASED, A.IDLE, True),
        (A.REPLAY, Event.EXPIRED, A.IDLE, True),
    ],
)
def test_drive_goes_by_the_table(state, event, following, must_open):
    assert next_state(state, event) == (following, must_open)


@pytest.mark.parametrize(("state", "event"), ALL)
def test_engage_grows_exactly_when_an_anchor_is_void_or_the_owner_another(state, event):
    move = next_state(state, event)
    if move is None:
        return
    changed = move.state is not state
    begun_or_left = move.state is A.COUNTDOWN or state in (A.COUNTDOWN, A.GRACE)
    another_owner = owner(state, "policy") != owner(move.state, "policy") and {state, move.state} & set(UNHANDED)
    expected = event in (Event.RECENTRED, Event.BUTTONS_LOST) or (changed and bool(begun_or_left or another_owner))
    assert next_engage(41, state, event, move.state) == 41 + expected


@pytest.mark.parametrize("state", list(A))
def test_every_state_has_at_most_one_owner_and_only_a_borrowed_arm_an_external_one(state):
    expected = {A.HOMING: "homing", A.REPLAY: "policy", A.EXTERNAL: "policy"}
    assert owner(state, "policy") == ("operator" if state in ACTIVE else expected.get(state, ""))


def test_engage_wraps_at_two_to_the_32():
    assert next_engage(0xFFFFFFFF, A.IDLE, Event.SQUEEZE, A.COUNTDOWN) == 0


@given(st.lists(st.floats(allow_nan=True)))
def test_grip_keeps_its_state_between_the_two_thresholds(values):
    closed = False
    for value in values:
        before, closed = closed, squeezed(closed, value, 0.6, 0.4)
        assert closed == (True if value > 0.6 else False if value < 0.4 else before)
