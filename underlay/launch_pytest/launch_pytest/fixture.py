"""The fixture that runs a launch description."""

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from launch import LaunchDescription
from launch.subset import refuse, refuse_arguments

from launch_pytest.running import RunningLaunch

# Launches that run now, by the name of their fixture; the plugin looks them up for the tests.
running: dict[str, RunningLaunch] = {}


def fixture(function: Callable[..., Any] | None = None, *, scope: str = "function", **unsupported: Any) -> Any:
    """Make a pytest fixture of a function that returns a LaunchDescription, or a tuple that begins with one.

    The launch runs while tests with ``@pytest.mark.launch(fixture=...)`` use it. A test that asks for the fixture by name gets
    what the function returned.

    Args:
        function: the decorated function, when the decorator is used without arguments.
        scope: 'function' or 'module'.
        **unsupported: refused.

    Raises:
        NotImplementedError: another scope or argument.
    """
    refuse_arguments("launch_pytest", "fixture", unsupported)
    if scope not in ("function", "module"):
        raise refuse("launch_pytest", f"scope '{scope}' of fixture")
    if function is None:
        return functools.partial(fixture, scope=scope)
    label = function.__name__

    @functools.wraps(function)
    def launched(*args: Any, **kwargs: Any) -> Iterator[Any]:
        made = function(*args, **kwargs)
        launch = running[label] = RunningLaunch(made if isinstance(made, LaunchDescription) else made[0])
        try:
            launch.start()
            yield made
        finally:
            del running[label]
            launch.close()

    # The wrapper is a generator whatever it wraps; pytest reads the arguments from the signature.
    del launched.__wrapped__
    launched.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    decorated = pytest.fixture(scope=scope, name=label)(launched)  # type: ignore[call-overload]
    decorated.launch_fixture_name = label
    return decorated
