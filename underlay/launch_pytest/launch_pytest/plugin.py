"""The pytest plugin: tests marked ``launch`` run beside their launch."""

import inspect
from typing import Any

import pytest
from launch import LaunchContext
from launch.subset import refuse

from launch_pytest.fixture import running


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    config.addinivalue_line("markers", "launch(fixture): run the test beside the launch of a launch_pytest fixture")


def _fixture_of(item: Any) -> str | None:
    """Return the name of a marked test's fixture."""
    mark = item.get_closest_marker("launch")
    if mark is None:
        return None
    target = mark.kwargs.get("fixture")
    if not hasattr(target, "launch_fixture_name") or mark.args:
        given = mark.args or mark.kwargs
        raise pytest.UsageError(f"{item.nodeid}: got mark launch with {given}, allowed fixture=<launch_pytest.fixture>")
    if mark.kwargs.get("shutdown") or inspect.isgeneratorfunction(item.obj) or inspect.isasyncgenfunction(item.obj):
        raise refuse("launch_pytest", f"a test after the shutdown ({item.nodeid})")
    return str(target.launch_fixture_name)


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Give marked tests their fixture."""
    for item in items:
        label = _fixture_of(item)
        if label is not None and label not in item.fixturenames:
            item.fixturenames.insert(0, label)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> bool | None:
    """Run a marked test: a function in this thread, a coroutine in the loop of the launch."""
    label = _fixture_of(pyfuncitem)
    if label is None:
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    made = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names if name in pyfuncitem.funcargs})
    if inspect.iscoroutine(made):
        running[label].run_coroutine(made)
    return True


@pytest.fixture
def launch_context(request: pytest.FixtureRequest) -> LaunchContext:
    """The context of the launch of this test."""
    label = _fixture_of(request.node)
    if label is None:
        raise pytest.UsageError(f"{request.node.nodeid}: has no @pytest.mark.launch(fixture=...)")
    request.getfixturevalue(label)
    return running[label].service.context
