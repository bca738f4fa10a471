"""The pytest plugin: tests marked ``launch`` run beside their launch, or after it."""

import inspect
from typing import Any

import pytest
from launch import LaunchContext

from launch_pytest.fixture import running


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    what = "run the test beside the launch of a launch_pytest fixture, or after its shutdown"
    config.addinivalue_line("markers", f"launch(fixture, shutdown=False): {what}")


def _mark(item: Any) -> tuple[str, bool, bool] | None:
    """Return of a marked test the name of its fixture, whether tests share the launch, whether it runs after the shutdown."""
    mark = item.get_closest_marker("launch")
    if mark is None:
        return None
    target = mark.kwargs.get("fixture")
    if not hasattr(target, "launch_fixture_name") or mark.args or set(mark.kwargs) - {"fixture", "shutdown"}:
        raise pytest.UsageError(
            f"{item.nodeid}: got mark launch with {mark.args or mark.kwargs}, allowed fixture=<launch_pytest.fixture>, shutdown"
        )
    return target.launch_fixture_name, target.launch_fixture_scope == "module", bool(mark.kwargs.get("shutdown"))


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Give marked tests their fixture, and put tests that run after the shutdown behind the others that share the launch."""
    last: dict[tuple[Any, str], int] = {}  # place of the last test that needs a shared launch alive
    late: dict[int, tuple[Any, str]] = {}
    for index, item in enumerate(items):
        mark = _mark(item)
        if mark is None:
            continue
        label, shared, after = mark
        if label not in item.fixturenames:
            item.fixturenames.insert(0, label)
        if (shared or after) and (inspect.isgeneratorfunction(item.obj) or inspect.isasyncgenfunction(item.obj)):
            raise pytest.UsageError(f"{item.nodeid}: a test that yields needs a fixture of scope function and no shutdown=True")
        if after:
            late[index] = (item.module, label)
        elif shared:
            last[item.module, label] = index
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
def pytest_pyfunc_call(pyfuncitem: Any) -> bool | None:
    """Run a marked test: a function in this thread, a coroutine in the loop of the launch, a generator before and after."""
    mark = _mark(pyfuncitem)
    if mark is None:
        return None
    launch = running[mark[0]]
    if mark[2]:
        launch.shutdown()
    names = inspect.signature(pyfuncitem.obj).parameters
    made = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names if name in pyfuncitem.funcargs})
    if inspect.iscoroutine(made):
        launch.run_coroutine(made)
    elif inspect.isgenerator(made) or inspect.isasyncgen(made):
        for last in (False, True):
            value = next(made, _ENDED) if inspect.isgenerator(made) else launch.run_coroutine(anext(made, _ENDED))
            if (value is _ENDED) != last:
                pytest.fail("a test that yields does so exactly once: before it the launch runs, after it the launch has ended")
            launch.shutdown()
    return True


_ENDED = object()


@pytest.fixture
def launch_context(request: pytest.FixtureRequest) -> LaunchContext:
    """The context of the launch of this test."""
    mark = _mark(request.node)
    if mark is None:
        raise pytest.UsageError(f"{request.node.nodeid}: has no @pytest.mark.launch(fixture=...)")
    request.getfixturevalue(mark[0])
    return running[mark[0]].service.context
