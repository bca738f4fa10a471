"""Pairing, the operator's place, rate limits."""

import re

from hypothesis import given
from hypothesis import strategies as st

from teleop_web import clients
from teleop_web.clients import Client, Doorstep, Operators, Pairing, TokenBucket


def client(key, identity="a", wants=True):
    return Client(key, identity, f"name {identity}", "10.0.0.1", wants)


def test_new_code_has_six_digits():
    assert all(re.fullmatch(r"\d{6}", clients.new_code()) for _ in range(50))


def test_right_code_is_let_in_and_forgives_wrong_tries():
    pairing = Pairing("012345")
    for _ in range(clients.WRONG_TRIES - 1):
        assert pairing.check("000000", "a", 100.0)
    assert pairing.check("012345", "a", 100.0) == ""
    assert pairing.check("000000", "a", 100.0)
    assert pairing.check("012345", "a", 100.0) == ""


def test_too_many_wrong_codes_lock_that_address_for_a_while():
    pairing = Pairing("012345")
    for _ in range(clients.WRONG_TRIES):
        pairing.check("999999", "guesser", 100.0)
    assert "again in 29 s" in pairing.check("012345", "guesser", 101.0)
    assert pairing.check("012345", "operator", 101.0) == ""
    assert pairing.check("012345", "guesser", 100.0 + clients.LOCK_OUT) == ""


def test_code_that_was_not_given_is_not_called_wrong_and_locks_nobody_out():
    pairing = Pairing("123456")
    for _ in range(10 * clients.WRONG_TRIES):
        reason = pairing.check("", "a", 0.0)
        assert "got none" in reason
    assert pairing.check("123456", "a", 0.0) == ""
    assert "got a wrong one" in pairing.check("654321", "a", 0.0)


def test_guesser_with_many_addresses_is_locked_too():
    pairing = Pairing("012345")
    for i in range(clients.WRONG_TRIES_ALL):
        pairing.check("999999", f"10.0.0.{i}", 100.0)
    assert "too many" in pairing.check("999999", "10.0.9.9", 101.0)


def test_addresses_are_forgotten_so_that_memory_stays_bounded():
    pairing = Pairing("012345")
    for i in range(3 * clients.MAX_ADDRESSES):
        pairing.check("012345", str(i), float(i))
    assert len(pairing._tries) == clients.MAX_ADDRESSES


def test_code_of_another_alphabet_is_refused_quietly():
    assert Pairing("012345").check("\ud800é", "a", 0.0)


@given(st.lists(st.floats(0, 0.02), min_size=50, max_size=300))
def test_bucket_never_lets_more_through_than_rate_and_burst(gaps):
    bucket, now, passed = TokenBucket(100.0, 10.0), 50.0, 0
    start = now
    for gap in gaps:
        now += gap
        passed += bucket.take(now)
    assert passed <= 10.0 + 100.0 * (now - start) + 1.0


def test_first_client_gets_the_place_and_a_second_does_not():
    place = Operators(connection=2**32 - 1)
    first, second = client(1), client(2, "b")
    assert place.may_join(first, 0.0)
    assert place.take(first) is None
    assert place.connection == 0
    assert not place.may_join(second, 1.0)
    assert "name a" in place.why_not(second, 1.0)


def test_take_over_names_the_loser_and_starts_a_new_connection():
    place = Operators(connection=5)
    place.take(client(1))
    place.sequence = 99
    assert place.take(client(2, "b")) == 1
    assert (place.connection, place.sequence, place.take_overs) == (7, 0, 1)


def test_place_is_kept_for_the_one_who_vanished_and_then_free():
    place = Operators(connection=5)
    place.take(client(1))
    place.leave(1, 100.0)
    assert place.may_join(client(2, "a"), 101.0)
    assert not place.may_join(client(3, "b"), 101.0)
    assert place.may_join(client(3, "b"), 100.1 + clients.KEEP_OPERATOR)


def test_reconnect_of_the_same_identity_is_no_take_over():
    place = Operators(connection=5)
    place.take(client(1))
    assert place.take(client(2)) == 1
    assert (place.take_overs, place.connection) == (0, 7)


def test_viewer_never_gets_the_place():
    assert not Operators(connection=5).may_join(client(1, wants=False), 0.0)


def test_strangers_who_guess_do_not_lock_out_who_has_shown_the_code():
    pairing = Pairing("012345")
    assert pairing.check("012345", "operator", 99.0) == ""
    for i in range(3 * clients.MAX_ADDRESSES):
        pairing.check("999999", f"guesser {i}", 100.0)
    assert "too many" in pairing.check("012345", "stranger", 101.0)
    # its e-stop is a request with the code
    assert pairing.check("012345", "operator", 101.0) == ""


def test_who_has_shown_the_code_and_then_guesses_is_locked():
    pairing = Pairing("012345")
    pairing.check("012345", "a", 99.0)
    for _ in range(clients.WRONG_TRIES):
        pairing.check("999999", "a", 100.0)
    assert "too many" in pairing.check("012345", "a", 101.0)


def test_silent_sockets_of_one_address_keep_no_other_out_and_all_together_are_few():
    step = Doorstep()
    for _ in range(clients.MAX_SILENT_ADDRESS):
        assert step.enter("stranger") == ""
    assert "of this address" in step.enter("stranger")
    assert step.enter("operator") == ""
    for i in range(clients.MAX_SILENT):
        step.enter(str(i))
    assert "sockets that said no hello" in step.enter("late")
    step.leave("stranger")
    assert step.enter("late") == ""


def test_doorstep_forgets_who_left():
    step = Doorstep()
    for i in range(1000):
        assert step.enter(str(i)) == ""
        step.leave(str(i))
    assert not step._waiting
