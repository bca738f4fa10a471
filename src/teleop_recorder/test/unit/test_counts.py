"""Counting by the publishers' numbers."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_recorder.counts import Counts, TopicCount


def test_missing_number_is_counted_as_lost():
    count = TopicCount()
    assert [count.hear(n) for n in (5, 6, 9, 10)] == [0, 0, 2, 0]
    assert count.mark() == (6, 4, 0)


def test_publisher_that_starts_anew_is_no_loss():
    count = TopicCount()
    for n in (100, 101, 1, 2, 3):
        count.hear(n)
    assert count.mark() == (5, 5, 0)


def test_second_publisher_that_is_ahead_is_no_loss():
    # 60 comes while the first is at 50, and the first goes on
    count = TopicCount()
    for n in (49, 50, 60, 61, 51, 62, 52):
        count.hear(n)
    assert count.mark() == (7, 7, 0)


@given(st.lists(st.tuples(st.integers(1, 10_000), st.integers(1, 40)), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_publishers_without_loss_count_as_received(publishers, order: random.Random):
    streams = [list(range(first, first + length)) for first, length in publishers]
    count = TopicCount()
    while any(streams):
        count.hear(order.choice([s for s in streams if s]).pop(0))
    published, received, _ = count.mark()
    assert received == sum(length for _, length in publishers)
    # one publisher is exact; of several, numbers may be taken for another's, never lost ones made up without a gap in sight
    if len(publishers) == 1:
        assert published == received


@given(st.sets(st.integers(2, 300), max_size=50))
def test_losses_of_one_publisher_are_exact(lost):
    count = TopicCount()
    reported = sum(count.hear(n) for n in range(1, 302) if n not in lost)
    assert reported == len(lost)
    assert count.published - count.received == len(lost)


def test_take_counts_from_its_mark():
    counts = Counts()
    for n in range(10):
        counts.hear("/a", n + 1)
        counts.wrote("/a")
    counts.mark()
    for n in (11, 13):
        counts.hear("/a", n)
        counts.wrote("/a")
    assert counts.since_mark() == {"/a": {"published": 3, "received": 2, "written": 2}}
    assert counts.totals()["/a"]["received"] == 12


def test_pictures_that_nobody_wanted_are_told_apart():
    counts = Counts()
    counts.hear("/camera", 1)
    counts.passed("/camera")
    assert counts.totals()["/camera"] == pytest.approx({"published": 1, "received": 1, "written": 0, "passed": 1})
