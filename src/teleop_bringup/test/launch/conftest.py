import pytest

pytest.importorskip("rclpy")

from teleop_bringup import testing  # noqa: E402
from teleop_common.enums import Authority  # noqa: E402
from teleop_common.testing import free_domain  # noqa: E402


def pytest_collection_modifyitems(items):
    """Put the tests that share a graph behind those that start their own: no test then runs beside a second graph."""
    items.sort(key=lambda item: "running" in getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session")
def shared():
    """One graph with a played operator, its session RUNNING, for all tests that need no other."""
    with free_domain() as domain, testing.graph(domain, "input:=external", "autostart:=false", *testing.QUIET) as graph:
        graph.ready()
        operator = testing.Operator(graph.node)
        graph.node.until(lambda: len(operator.sent) > 45)
        graph.start_session()
        yield graph, operator
        operator.close()


@pytest.fixture(scope="module")
def at_home(shared):
    """The shared graph as each module finds it: both arms at home, hands where they were at first, grips open."""
    graph, operator = shared
    operator.reset()
    graph.release_estop()
    graph.bring_home()
    return shared


@pytest.fixture
def running(at_home):
    """The same for each test; a stop that a failed one left behind must not fail its rerun and all that follow."""
    graph, operator = at_home
    if any(graph.is_in(arm, Authority.ESTOP) for arm in graph.arms):
        operator.reset()
        graph.release_estop()
    return at_home
