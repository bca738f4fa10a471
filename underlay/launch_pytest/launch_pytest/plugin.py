"""The pytest plugin: tests marked ``launch`` run beside their launch, or after it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from launch import LaunchContext, LaunchService

from launch_pytest.fixture import running
from launch_pytest.running import RunningLaunch


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    config.addinivalue_line(
        "markers",
        "launch(fixture, shutdown=False): run the test beside the launch of a launch_pytest fixture, or after its shutdown",
    )


def _mark(node: Any) -> pytest.Mark | None:
    mark: pytest.Mark | None = node.get_closest_marker("launch")
    if mark is None:
        return None
    target = mark.kwargs.get("fixture")
    if not hasattr(target, "launch_fixture_name") or mark.args or set(mark.kwargs) - {"fixture", "shutdown"}:
        raise pytest.UsageError(
            f"{node.nodeid}: got mark launch with {mark.args or mark.kwargs}, allowed fixture=<launch_pytest.fixture>, shutdown"
        )
    return mark


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give marked tests their fixture, and put tests that run after the shutdown behind the others that share the launch."""
    last: dict[tuple[Any, str], int] = {}  # place of the last test that needs a shared launch alive
    late: dict[int, tuple[Any, str]] = {}
    for index, item in enumerate(items):
        mark = _mark(item) if isinstance(item, pytest.Function) else None
        if mark is None or not isinstance(item, pytest.Function):
            continue
        target, after = mark.kwargs["fixture"], bool(mark.kwargs.get("shutdown"))
        label, scope = target.launch_fixture_name, target.launch_fixture_scope
        if label not in item.fixturenames:
            item.fixturenames.insert(0, label)
        yields = inspect.isgeneratorfunction(item.obj) or inspect.isasyncgenfunction(item.obj)
        if yields and (after or scope != "function"):
            raise pytest.UsageError(f"{item.nodeid}: a test that yields needs a fixture of scope function and no shutdown=True")
        key = (item.getparent(pytest.Class if scope == "class" else pytest.Module), label)
        if after:
            late[index] = key
        elif scope != "function":
            last[key] = index
    behind = {index: max(index, last.get(key, 0)) for index, key in late.items()}
    order = sorted(range(len(items)), key=lambda index: (behind.get(index, index), index in late, index))
    items[:] = [items[index] for index in order]


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: Any, name: str, obj: Any) -> list[pytest.Function] | None:
    """Collect marked generators as well; pytest itself refuses tests that yield."""
    marks = getattr(obj, "pytestmark", None) or []
    if inspect.isgeneratorfunction(obj) and any(mark.name == "launch" for mark in marks) and collector.funcnamefilter(name):
        return list(collector._genfunctions(name, obj))  # noqa: SLF001 (the way to keep parametrize; there is no public one)
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a marked test: a function in this thread, a coroutine in the loop of the launch, a generator before and after."""
    mark = _mark(pyfuncitem)
    if mark is None:
        return None
    launch = running[mark.kwargs["fixture"].launch_fixture_name]
    if mark.kwargs.get("shutdown"):
        launch.shutdown()
    function: Callable[..., Any] = pyfuncitem.obj
    names = inspect.signature(function).parameters
    made = function(**{name: pyfuncitem.funcargs[name] for name in names if name in pyfuncitem.funcargs})
    if inspect.iscoroutine(made):
        launch.run_coroutine(made)
    elif inspect.isgenerator(made):
        _advance(lambda: next(made, _advance), must_end=False)
        launch.shutdown()
        _advance(lambda: next(made, _advance), must_end=True)
    elif inspect.isasyncgen(made):
        _advance(lambda: launch.run_coroutine(anext(made, _advance)), must_end=False)
        launch.shutdown()
        _advance(lambda: launch.run_coroutine(anext(made, _advance)), must_end=True)
    return True


def _advance(step: Callable[[], Any], *, must_end: bool) -> None:
    """Run a generator to its next yield, or to its end."""
    ended = step() is _advance
    if ended != must_end:
        pytest.fail("a test that yields has to do so exactly once: before it the launch runs, after it the launch has ended")


def _launch_of(request: pytest.FixtureRequest) -> RunningLaunch:
    mark = _mark(request.node)
    if mark is None:
        raise pytest.UsageError(f"{request.node.nodeid}: has no @pytest.mark.launch(fixture=...)")
    label = mark.kwargs["fixture"].launch_fixture_name
    request.getfixturevalue(label)
    return running[label]


@pytest.fixture
def launch_service(request: pytest.FixtureRequest) -> LaunchService:
    """The service of the launch of this test."""
    return _launch_of(request).service


@pytest.fixture
def launch_context(request: pytest.FixtureRequest) -> LaunchContext:
    """The context of the launch of this test."""
    return _launch_of(request).service.context
