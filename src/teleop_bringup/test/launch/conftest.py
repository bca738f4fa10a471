import pytest

pytest.importorskip("rclpy")

from teleop_bringup import testing  # noqa: E402
from teleop_common.testing import free_domain  # noqa: E402


@pytest.fixture(scope="module")
def running():
    """The graph with a played operator, its session RUNNING; shared by the tests of a module."""
    with free_domain() as domain, testing.graph(domain, "input:=external", "autostart:=false", *testing.QUIET) as graph:
        graph.ready()
        operator = testing.Operator(graph.node)
        graph.node.until(lambda: len(operator.sent) > 45)
        graph.start_session()
        yield graph, operator
        operator.close()
