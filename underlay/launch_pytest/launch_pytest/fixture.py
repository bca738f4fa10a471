"""The fixture that runs a launch description."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from launch import LaunchDescription
from launch.subset import refuse_arguments

from launch_pytest.running import RunningLaunch

# Launches that run now, by the name of their fixture; the plugin looks them up for the tests.
running: dict[str, RunningLaunch] = {}


def fixture(
    function: Callable[..., Any] | None = None, *, scope: str = "function", name: str | None = None, **unsupported: Any
) -> Any:
    """Make a pytest fixture of a function that returns a LaunchDescription, or a tuple that begins with one.

    The launch runs while tests with ``@pytest.mark.launch(fixture=...)`` use it. A test that asks for the fixture by name gets
    what the function returned.

    Args:
        function: the decorated function, when the decorator is used without arguments.
        scope: 'function', 'class' or 'module'.
        name: name of the fixture; default that of the function.
        **unsupported: refused.

    Raises:
        ValueError: another scope.
    """
    refuse_arguments("launch_pytest", "fixture", unsupported)
    if scope not in ("function", "class", "module"):
        raise ValueError(f"scope of a launch_pytest fixture: got '{scope}', allowed function, class, module")
    if function is None:
        return functools.partial(fixture, scope=scope, name=name)
    label = name or function.__name__

    @functools.wraps(function)
    def launched(*args: Any, **kwargs: Any) -> Iterator[Any]:
        made = function(*args, **kwargs)
        generator = None
        if inspect.isgenerator(made):
            generator, made = made, next(made)
        description = made if isinstance(made, LaunchDescription) else made[0]
        if not isinstance(description, LaunchDescription):
            raise TypeError(f"fixture '{label}': got {made!r}, allowed a LaunchDescription or a tuple that begins with one")
        launch = running[label] = RunningLaunch(description)
        try:
            launch.start()
            yield made
        finally:
            del running[label]
            try:
                launch.close()
            finally:
                if generator is not None:
                    next(generator, None)

    # The wrapper is a generator whatever it wraps; pytest reads the arguments from the signature.
    del launched.__wrapped__
    launched.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    decorated = pytest.fixture(scope=scope, name=label)(launched)  # type: ignore[call-overload]
    decorated.launch_fixture_name = label
    decorated.launch_fixture_scope = scope
    return decorated
