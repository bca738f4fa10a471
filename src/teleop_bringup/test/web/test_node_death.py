"""The cockpit, open in Chromium while nodes of the graph die: it names who is gone, and recovers by itself."""

import os
import signal
import time

import pytest

from teleop_bringup import testing
from teleop_common.testing import free_domain
from teleop_web import testing as web

ARGUMENTS = ("input:=external", "cameras:=false", "bind:=127.0.0.1", "https_port:=0", "http_port:=0", "log_level:=warn")


@pytest.fixture(scope="module")
def cockpit(browser, tmp_path_factory):
    """A graph that is fed with frames, and its cockpit in a browser."""
    with pytest.MonkeyPatch.context() as patch, free_domain() as domain:
        web.built_pages()
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        with testing.graph(domain, *ARGUMENTS) as graph:
            graph.ready()
            operator = testing.Operator(graph.node)
            address = web.announced(graph.node)
            context = browser.new_context()
            page = context.new_page()
            page.goto(f"{address.http}/?code={address.code}")
            graph.until(lambda: graph.session and graph.session[-1].state == 3, 20.0, "session RUNNING by itself")
            yield graph, page
            context.close()
            operator.close()


def alerts(page):
    return page.inner_text("#alerts")


@pytest.mark.parametrize(("executable", "stands"), [("retargeter", "hands do not become joint targets"), ("guard", "no command")])
def test_page_names_the_node_that_was_killed_since_when_and_recovers(cockpit, executable, stands):
    graph, page = cockpit
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
    others = {"session", "retargeter", "guard", "sim"} - {executable}
    assert not [name for name in others if f"{name} is gone" in named]
    graph.until(lambda: graph.pid_of(executable) not in (None, pid), 5.0, f"{executable} respawned")
    graph.until(lambda: f"{executable} is gone" not in alerts(page), 10.0, f"{executable} heard again on the page")
