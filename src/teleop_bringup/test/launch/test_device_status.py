"""The status of the running graph's providers while one of its processes dies."""

import os
import signal
import time

from teleop_common.enums import Provider, StatusReason
from teleop_diagnostics.client import StatusClient


def test_killed_node_fails_within_a_second_with_its_signal_comes_back_and_touches_no_other(running):
    graph, _ = running
    client = StatusClient(graph.node)
    sought = ("node/retargeter", "node/guard", "sim")
    graph.until(lambda: all(client.get_provider_status(name) for name in sought), 10.0, "the providers")
    retargeter = lambda: client.get_provider_status("node/retargeter")  # noqa: E731
    graph.until(lambda: retargeter().state == Provider.AVAILABLE, 5.0, "the retargeter's report")
    others = [client.get_provider_status(name) for name in sought[1:]]
    pid = graph.pid_of("retargeter")
    assert retargeter().pid == pid
    os.kill(pid, signal.SIGKILL)
    killed = time.monotonic()
    graph.until(lambda: retargeter().state == Provider.FAILED, 3.0, "its death")
    assert time.monotonic() - killed < 1.0
    found = graph.until(lambda: (p := retargeter()).term_signal == 9 and p, 3.0, "the launch's word")
    assert (found.reason, found.pid) == (StatusReason.PROCESS_SIGNALED, pid)
    graph.until(lambda: (p := retargeter()).state == Provider.AVAILABLE and p.pid != pid, 10.0, "its return")
    # what a guard says of two publishers, a while after a death, is a text of its own
    now = [client.get_provider_status(name) for name in sought[1:]]
    assert [p._replace(error="") for p in now] == [p._replace(error="") for p in others]
