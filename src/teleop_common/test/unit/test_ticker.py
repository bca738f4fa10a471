import threading
import time

from teleop_common.ticker import Ticker


def test_ticks_come_at_the_rate_with_the_lock_held():
    lock, seen, errors = threading.RLock(), [], []
    began = time.monotonic()
    ticker = Ticker(100.0, lambda: seen.append(time.monotonic()), lock, errors.append)
    time.sleep(0.35)
    ticker.stop()
    count, due = len(seen), 100.0 * (time.monotonic() - began)
    time.sleep(0.05)
    assert len(seen) == count
    assert 20 <= count <= due + 1
    assert not errors


def test_a_late_tick_is_not_made_up_for():
    lock, seen = threading.RLock(), []
    ticker = Ticker(100.0, lambda: seen.append(1), lock, seen.append)
    with lock:
        time.sleep(0.3)
        before = len(seen)
    time.sleep(0.012)
    ticker.stop()
    assert len(seen) - before <= 4


def test_an_exception_of_the_tick_is_handed_over_and_ends_it():
    errors = []
    ticker = Ticker(200.0, lambda: 1 / 0, threading.Lock(), errors.append)
    time.sleep(0.1)
    ticker.stop()
    assert [type(e) for e in errors] == [ZeroDivisionError]
