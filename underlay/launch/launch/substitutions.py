"""Texts that depend on configurations, the environment, paths, commands and expressions."""

import importlib
import math
import os
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from typing import Any

from launch.launch_context import LaunchContext
from launch.subset import absent, refuse
from launch.utilities import SomeSubstitutionsType, Substitution, describe, text_of
from launch.utilities import TextSubstitution as TextSubstitution


class SubstitutionFailure(RuntimeError):  # noqa: N818 (name of the real package)
    """A substitution has no value in this context."""


class _Variable(Substitution):
    def __init__(self, name: SomeSubstitutionsType, default: Any) -> None:
        self._name, self._default = name, str(default) if isinstance(default, int | float) else default

    def describe(self) -> str:
        return f"{type(self).__name__}({describe(self._name)})"

    def _values(self, context: LaunchContext) -> Mapping[str, Any]:
        raise NotImplementedError

    def perform(self, context: LaunchContext) -> str:
        """Return the value, else the default.

        Raises:
            SubstitutionFailure: there is neither.
        """
        name, values = text_of(context, self._name), self._values(context)
        if name not in values and self._default is None:
            raise SubstitutionFailure(f"{type(self).__name__} '{name}': not set and without a default; declare it before its use")
        return str(values[name]) if name in values else text_of(context, self._default)


class LaunchConfiguration(_Variable):
    """Value of a launch argument or configuration."""

    def __init__(self, variable_name: SomeSubstitutionsType, *, default: Any = None) -> None:
        """Keep name and default; a number as default is turned into a text."""
        super().__init__(variable_name, default)

    def _values(self, context: LaunchContext) -> Mapping[str, Any]:
        return context.launch_configurations


class EnvironmentVariable(_Variable):
    """Value of an environment variable."""

    def __init__(self, name: SomeSubstitutionsType, *, default_value: SomeSubstitutionsType | None = None) -> None:
        """Keep name and default."""
        super().__init__(name, default_value)

    def _values(self, context: LaunchContext) -> Mapping[str, Any]:
        return context.environment


class PathJoinSubstitution(Substitution):
    """Parts joined with the separator of paths."""

    def __init__(self, substitutions: Iterable[SomeSubstitutionsType]) -> None:
        """Keep the parts; each may be a list that forms one part."""
        self._parts = list(substitutions)

    def perform(self, context: LaunchContext) -> str:
        """Return the path."""
        return os.path.join(*(text_of(context, part) for part in self._parts))


class PythonExpression(Substitution):
    """Text of the value of a Python expression; ``math`` is at hand."""

    def __init__(self, expression: SomeSubstitutionsType, python_modules: Iterable[str] = ()) -> None:
        """Keep the expression and the names of further modules that it uses."""
        self._expression, self._modules = expression, [python_modules] if isinstance(python_modules, str) else python_modules

    def perform(self, context: LaunchContext) -> str:
        """Return ``str`` of the value.

        Raises:
            SubstitutionFailure: the expression is wrong.
        """
        expression = text_of(context, self._expression)
        names = vars(math) | {name: importlib.import_module(name) for name in ("math", *self._modules)}
        try:
            return str(eval(expression, {}, names))
        except Exception as error:  # noqa: BLE001 (an expression may raise anything)
            raise SubstitutionFailure(f"Python expression '{expression}': {type(error).__name__}: {error}") from error


class Command(Substitution):
    """Standard output of a command that ran to its end."""

    def __init__(self, command: SomeSubstitutionsType, *, on_stderr: SomeSubstitutionsType = "fail") -> None:
        """Keep the command; ``on_stderr`` is 'fail' or 'ignore'."""
        self._command, self._on_stderr = command, on_stderr

    def perform(self, context: LaunchContext) -> str:
        """Return the output.

        Raises:
            SubstitutionFailure: it failed, or wrote to standard error while ``on_stderr`` is 'fail'.
        """
        command, on_stderr = text_of(context, self._command), text_of(context, self._on_stderr)
        if on_stderr not in ("fail", "ignore"):
            raise refuse("launch", f"on_stderr '{on_stderr}' of Command")
        try:
            done = subprocess.run(shlex.split(command), capture_output=True, text=True, check=False)
        except OSError as error:
            raise SubstitutionFailure(f"command '{command}': {error}") from error
        if done.returncode != 0 or (on_stderr == "fail" and done.stderr):
            said = (done.stderr or done.stdout).strip()
            raise SubstitutionFailure(f"command '{command}': exit status {done.returncode}, standard error: {said}")
        return done.stdout


__getattr__ = absent(__name__)
