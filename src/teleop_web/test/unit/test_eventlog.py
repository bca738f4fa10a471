"""The event log never makes its writer wait."""

import threading

from teleop_web.eventlog import MAX_LINES, EventLog


def test_lines_are_written_in_order_and_all_before_the_end():
    seen = []
    log = EventLog(seen.append)
    for i in range(50):
        log.say(str(i))
    log.close()
    assert seen == [str(i) for i in range(50)]


def test_stopped_terminal_neither_blocks_nor_fills_the_memory():
    stopped, seen = threading.Event(), []

    def write(text):
        stopped.wait(10.0)
        seen.append(text)

    log = EventLog(write)
    for i in range(10 * MAX_LINES):
        log.say(str(i))
    stopped.set()
    log.close()
    assert len(seen) <= MAX_LINES + 1


def test_what_a_terminal_cannot_show_is_replaced_and_the_log_goes_on():
    seen = []

    def write(text):
        seen.append(text.encode().decode())

    log = EventLog(write)
    log.say("operator '\ud800\x1b[2J\n' came")
    log.say("operator 'é 手' left")
    log.close()
    assert seen == ["operator '??[2J?' came", "operator 'é 手' left"]
