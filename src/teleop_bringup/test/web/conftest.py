from contextlib import contextmanager

import pytest

pytest.importorskip("rclpy")

from teleop_bringup import testing  # noqa: E402
from teleop_common.testing import free_domain  # noqa: E402
from teleop_web import testing as web  # noqa: E402

ARGUMENTS = ("cameras:=false", "bind:=127.0.0.1", "https_port:=0", "http_port:=0", "log_level:=warn")


def pytest_collection_modifyitems(items):
    """Put the tests that share the cockpit's graph behind those that start their own: no test then runs beside a second graph."""
    items.sort(key=lambda item: "cockpit" in getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """Starts a graph with input from ``source``, simulated or on emulated servos, and its pages on free ports.

    It gives the graph and where the pages are.
    """

    @contextmanager
    def start(source, servos=False):
        file, more = ("hardware.launch.py", ("ports:=emulated",)) if servos else ("sim.launch.py", ())
        with pytest.MonkeyPatch.context() as patch, free_domain() as domain:
            web.built_pages()
            patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
            with testing.graph(domain, f"input:={source}", *ARGUMENTS, *more, file=file) as graph:
                if servos:
                    graph.torque_on()
                graph.ready()
                yield graph, web.announced(graph.node)

    return start


@pytest.fixture(scope="session")
def cockpit(browser, served):
    """A graph that is fed with frames, and its cockpit in a browser."""
    with served("external") as (graph, address):
        operator = testing.Operator(graph.node)
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{address.http}/?code={address.code}")
        graph.until(lambda: graph.session and graph.session[-1].state == 3, 20.0, "session RUNNING by itself")
        yield graph, page, operator
        context.close()
        operator.close()
