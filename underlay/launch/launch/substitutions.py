"""Texts that depend on configurations, the environment, paths, commands and expressions."""

from __future__ import annotations

import importlib
import math
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterable
from typing import Any

from launch.launch_context import LaunchContext
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.subset import absent, refuse
from launch.substitution import Substitution, SubstitutionFailure, TextSubstitution
from launch.utilities import normalize_to_list_of_substitutions, parse_bool, perform_substitutions, text_of

__all__ = [
    "AndSubstitution",
    "Command",
    "EnvironmentVariable",
    "EqualsSubstitution",
    "FindExecutable",
    "IfElseSubstitution",
    "LaunchConfiguration",
    "NotEqualsSubstitution",
    "NotSubstitution",
    "OrSubstitution",
    "PathJoinSubstitution",
    "PythonExpression",
    "Substitution",
    "SubstitutionFailure",
    "TextSubstitution",
    "ThisLaunchFile",
    "ThisLaunchFileDir",
]


def _word(value: bool) -> str:
    return "true" if value else "false"


class LaunchConfiguration(Substitution):
    """Value of a launch argument or configuration."""

    def __init__(self, variable_name: SomeSubstitutionsType, *, default: Any = None) -> None:
        """Keep name and default; a default that is no text is turned into one."""
        self._name = normalize_to_list_of_substitutions(variable_name)
        if default is not None and not isinstance(default, str | Substitution | Iterable):
            default = str(default)
        self._default = None if default is None else normalize_to_list_of_substitutions(default)

    @property
    def variable_name(self) -> list[Substitution]:
        """Parts of the name."""
        return self._name

    def describe(self) -> str:
        """Return the name."""
        return f"LaunchConfiguration({' + '.join(part.describe() for part in self._name)})"

    def perform(self, context: LaunchContext) -> str:
        """Return the value, else the default.

        Raises:
            SubstitutionFailure: there is neither.
        """
        name = perform_substitutions(context, self._name)
        if name in context.launch_configurations:
            return str(context.launch_configurations[name])
        if self._default is None:
            raise SubstitutionFailure(f"launch configuration '{name}': not set and without a default; declare it before its use")
        return perform_substitutions(context, self._default)


class EnvironmentVariable(Substitution):
    """Value of an environment variable."""

    def __init__(self, name: SomeSubstitutionsType, *, default_value: SomeSubstitutionsType | None = None) -> None:
        """Keep name and default."""
        self._name = name
        self._default = default_value

    def perform(self, context: LaunchContext) -> str:
        """Return the value, else the default.

        Raises:
            SubstitutionFailure: there is neither.
        """
        name = text_of(context, self._name)
        if name in context.environment:
            return context.environment[name]
        if self._default is None:
            raise SubstitutionFailure(f"environment variable '{name}': not set and without a default")
        return text_of(context, self._default)


class PathJoinSubstitution(Substitution):
    """Parts joined with the separator of paths."""

    def __init__(self, substitutions: Iterable[SomeSubstitutionsType]) -> None:
        """Keep the parts; each may be a list that forms one part."""
        self._parts = [normalize_to_list_of_substitutions(part) for part in substitutions]

    def perform(self, context: LaunchContext) -> str:
        """Return the path."""
        return os.path.join(*(perform_substitutions(context, part) for part in self._parts))


class PythonExpression(Substitution):
    """Text of the value of a Python expression; ``math`` is at hand."""

    def __init__(self, expression: SomeSubstitutionsType, python_modules: SomeSubstitutionsType = ("math",)) -> None:
        """Keep the expression and the names of the modules that it uses."""
        self._expression = normalize_to_list_of_substitutions(expression)
        self._modules = [python_modules] if isinstance(python_modules, str | Substitution) else list(python_modules)

    def perform(self, context: LaunchContext) -> str:
        """Return ``str`` of the value.

        Raises:
            SubstitutionFailure: the expression is wrong.
        """
        expression = perform_substitutions(context, self._expression)
        names: dict[str, Any] = {}
        for module in (importlib.import_module(text_of(context, name)) for name in self._modules):
            names[module.__name__] = module
            if module is math:
                names.update(vars(math))
        try:
            return str(eval(expression, {}, names))
        except Exception as error:  # noqa: BLE001 (an expression may raise anything)
            raise SubstitutionFailure(f"Python expression '{expression}': {type(error).__name__}: {error}") from error


class EqualsSubstitution(Substitution):
    """'true' when both sides are equal as booleans, numbers or texts."""

    def __init__(self, left: Any, right: Any) -> None:
        """Keep the sides; values that are no texts are turned into them."""
        self._sides = tuple(side if isinstance(side, str | Substitution | Iterable) else str(side) for side in (left, right))

    def _equal(self, context: LaunchContext) -> bool:
        left, right = (text_of(context, side) for side in self._sides)
        if left == right:
            return True
        for read in (parse_bool, float):
            try:
                a, b = read(left), read(right)
            except ValueError:
                continue
            return math.isclose(a, b)
        return False

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'."""
        return _word(self._equal(context))


class NotEqualsSubstitution(EqualsSubstitution):
    """'true' when the sides differ."""

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'."""
        return _word(not self._equal(context))


class _Boolean(Substitution):
    def __init__(self, *values: SomeSubstitutionsType) -> None:
        self._values = [normalize_to_list_of_substitutions(value) for value in values]

    def _truths(self, context: LaunchContext) -> list[bool]:
        try:
            return [parse_bool(perform_substitutions(context, value)) for value in self._values]
        except ValueError as error:
            raise SubstitutionFailure(f"{type(self).__name__}: {error}") from None


class NotSubstitution(_Boolean):
    """The contrary of a boolean."""

    def __init__(self, value: SomeSubstitutionsType) -> None:
        """Keep the value."""
        super().__init__(value)

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'."""
        return _word(not self._truths(context)[0])


class AndSubstitution(_Boolean):
    """'true' when both are."""

    def __init__(self, left: SomeSubstitutionsType, right: SomeSubstitutionsType) -> None:
        """Keep both."""
        super().__init__(left, right)

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'."""
        return _word(all(self._truths(context)))


class OrSubstitution(_Boolean):
    """'true' when one is."""

    def __init__(self, left: SomeSubstitutionsType, right: SomeSubstitutionsType) -> None:
        """Keep both."""
        super().__init__(left, right)

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'."""
        return _word(any(self._truths(context)))


class IfElseSubstitution(_Boolean):
    """One of two texts."""

    def __init__(
        self, condition: SomeSubstitutionsType, if_value: SomeSubstitutionsType = "", else_value: SomeSubstitutionsType = ""
    ) -> None:
        """Keep the condition and both texts.

        Raises:
            RuntimeError: both texts are empty.
        """
        if not if_value and not else_value:
            raise RuntimeError("IfElseSubstitution: got no texts, allowed if_value, else_value or both")
        super().__init__(condition)
        self._if, self._else = if_value, else_value

    def perform(self, context: LaunchContext) -> str:
        """Return the text that the condition picks."""
        return text_of(context, self._if if self._truths(context)[0] else self._else)


class FindExecutable(Substitution):
    """Path of a program on PATH."""

    def __init__(self, name: SomeSubstitutionsType) -> None:
        """Keep the name."""
        self._name = name

    def perform(self, context: LaunchContext) -> str:
        """Return the path.

        Raises:
            SubstitutionFailure: no such program.
        """
        name = text_of(context, self._name)
        found = shutil.which(name)
        if found is None:
            raise SubstitutionFailure(f"executable '{name}': not found on PATH")
        return found


class Command(Substitution):
    """Standard output of a command that ran to its end."""

    def __init__(self, command: SomeSubstitutionsType, *, on_stderr: SomeSubstitutionsType = "fail") -> None:
        """Keep the command; ``on_stderr`` is 'fail', 'ignore' or 'capture'."""
        self._command, self._on_stderr = command, on_stderr

    def perform(self, context: LaunchContext) -> str:
        """Return the output.

        Raises:
            SubstitutionFailure: it failed, or wrote to standard error while ``on_stderr`` is 'fail'.
        """
        command, on_stderr = text_of(context, self._command), text_of(context, self._on_stderr)
        if on_stderr not in ("fail", "ignore", "capture"):
            raise refuse("launch", f"on_stderr '{on_stderr}' of Command")
        try:
            done = subprocess.run(
                shlex.split(command),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if on_stderr == "capture" else subprocess.PIPE,
                text=True,
                check=False,
            )
        except OSError as error:
            raise SubstitutionFailure(f"command '{command}': {error}") from error
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip()
            raise SubstitutionFailure(f"command '{command}': exit status {done.returncode}: {said}")
        if on_stderr == "fail" and done.stderr:
            raise SubstitutionFailure(f"command '{command}': wrote to standard error:\n{done.stderr}")
        return done.stdout


class ThisLaunchFile(Substitution):
    """Absolute path of the launch file that is being visited."""

    def perform(self, context: LaunchContext) -> str:
        """Return the path.

        Raises:
            SubstitutionFailure: no file is being visited.
        """
        path = context.get_locals_as_dict().get("current_launch_file_path")
        if path is None:
            raise SubstitutionFailure(f"{type(self).__name__}: no launch file is being visited")
        return str(path)


class ThisLaunchFileDir(ThisLaunchFile):
    """Absolute path of the directory of the launch file that is being visited."""

    def perform(self, context: LaunchContext) -> str:
        """Return the directory."""
        return os.path.dirname(super().perform(context))


__getattr__ = absent("launch", __name__)
