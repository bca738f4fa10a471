import pytest

pytest.importorskip("rclpy")

from domain_coordinator import domain_id  # noqa: E402

from teleop_bringup import testing  # noqa: E402


@pytest.fixture(scope="module")
def running():
    """The graph with a played operator, its session RUNNING; shared by the tests of a module."""
    with domain_id() as domain, testing.graph(domain, "input:=external", "autostart:=false", *testing.QUIET) as graph:
        graph.ready()
        operator = testing.Operator(graph.node)
        graph.node.until(lambda: len(operator.sent) > 45)
        graph.start_session()
        yield graph, operator
        operator.close()
