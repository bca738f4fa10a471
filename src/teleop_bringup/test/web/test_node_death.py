"""The cockpit, open in Chromium while nodes of the graph die: it names who is gone, and recovers by itself."""

import os
import signal
import time

import pytest


def alerts(page):
    return page.inner_text("#alerts")


@pytest.mark.parametrize(("executable", "stands"), [("retargeter", "hands do not become joint targets"), ("guard", "no command")])
def test_page_names_the_node_that_was_killed_since_when_and_recovers(cockpit, executable, stands):
    graph, page, _ = cockpit
    graph.until(lambda: " is gone" not in alerts(page) and "not heard" not in alerts(page), 10.0, "a page without alerts")
    pid = graph.pid_of(executable)
    os.kill(pid, signal.SIGKILL)
    killed = time.monotonic()
    named = graph.until(
        lambda: (text := alerts(page)) and f"{executable} is gone for" in text and text, 3.0, f"{executable} named"
    )
    assert time.monotonic() - killed < 2.0
    assert stands in named
    assert "respawns" in named
    graph.until(lambda: f"process {pid} was ended by signal 9" in page.inner_text(".devices"), 3.0, "its death in the tree")
    others = {"session", "retargeter", "guard", "sim"} - {executable}
    assert not [name for name in others if f"{name} is gone" in named]
    graph.until(lambda: graph.pid_of(executable) not in (None, pid), 5.0, f"{executable} respawned")
    graph.until(lambda: f"{executable} is gone" not in alerts(page), 10.0, f"{executable} heard again on the page")
