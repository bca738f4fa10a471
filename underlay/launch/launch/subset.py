"""How this subset refuses what only the real package has."""

from collections.abc import Callable, Mapping
from typing import Any


def refuse(package: str, what: str) -> NotImplementedError:
    """Return the error that names the real package.

    Args:
        package: ROS package, for example ``launch_ros``.
        what: name of the class, argument or value that was asked for.
    """
    return NotImplementedError(f"{package}: {what} is not in this subset; install ros-jazzy-{package.replace('_', '-')}")


def refuse_arguments(package: str, owner: str, unsupported: Mapping[str, Any]) -> None:
    """Refuse keyword arguments that this subset does not have.

    Raises:
        NotImplementedError: ``unsupported`` is not empty.
    """
    if unsupported:
        raise refuse(package, f"argument '{next(iter(unsupported))}' of {owner}")


def absent(module: str) -> Callable[[str], Any]:
    """Return a module's ``__getattr__`` that refuses unknown classes by name.

    Only CamelCase names are refused; for others AttributeError, so that the probing of test tools and of the import system works.
    """

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name[:1].isupper():
            raise refuse(module.partition(".")[0], f"'{module}.{name}'")
        raise AttributeError(f"module '{module}' has no attribute '{name}'")

    return __getattr__
