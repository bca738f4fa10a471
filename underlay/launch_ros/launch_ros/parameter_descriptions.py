"""Values and files of parameters."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import yaml
from launch import LaunchContext, SomeSubstitutionsType, Substitution
from launch.subset import absent, refuse
from launch.utilities import text_of

_SCALARS = (bool, int, float, str)


def _checked(name: str, value: Any) -> Any:
    """Return a value that a ROS parameter can have: a scalar, or a list of one type (int among float becomes float)."""
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, Sequence) and value:
        if all(type(item) in (int, float) for item in value) and len({type(item) for item in value}) == 2:
            return [float(item) for item in value]
        if type(value[0]) in _SCALARS and all(type(item) is type(value[0]) for item in value):
            return list(value)
    raise TypeError(
        f"parameter '{name}': got {value!r}, allowed a boolean, integer, number, text or a list of one of them (not empty); "
        f"for a text that YAML reads otherwise use ParameterValue(..., value_type=str)"
    )


class ParameterValue:
    """A value with its type given, for texts that YAML would read as something else."""

    def __init__(self, value: Any, *, value_type: Any = None) -> None:
        """Keep value and type.

        Args:
            value: text, substitution, list of them, or a plain value.
            value_type: bool, int, float, str, ``List`` of one of them, or None to let YAML decide.
        """
        self.value, self.value_type = value, value_type

    def evaluate(self, context: LaunchContext, name: str = "?") -> Any:
        """Return the value in this context.

        Raises:
            ValueError: the value is not of the type.
        """
        plain = isinstance(self.value, bool | int | float)
        text = str(self.value) if plain else text_of(context, self.value)
        if self.value_type is str:
            return text
        value = _checked(name, self.value if plain else yaml.safe_load(text))
        if self.value_type is None:
            return value
        of_list = hasattr(self.value_type, "__args__")
        wanted = self.value_type.__args__[0] if of_list else self.value_type
        items = value if isinstance(value, list) else [value]
        if wanted is float:
            items = [float(item) if type(item) is int else item for item in items]
        if of_list != isinstance(value, list) or any(type(item) is not wanted for item in items):
            raise ValueError(f"parameter '{name}': got '{text}', allowed a value of type {self.value_type}")
        return items if of_list else items[0]


class ParameterFile:
    """A YAML file of parameters."""

    def __init__(self, param_file: SomeSubstitutionsType | os.PathLike[str], *, allow_substs: bool = False) -> None:
        """Keep the path.

        Raises:
            NotImplementedError: ``allow_substs`` is asked for.
        """
        if allow_substs:
            raise refuse("launch_ros", "allow_substs of ParameterFile")
        self.param_file = param_file

    def evaluate(self, context: LaunchContext) -> str:
        """Return the path in this context.

        Raises:
            FileNotFoundError: there is no such file.
        """
        path = os.fspath(self.param_file) if isinstance(self.param_file, os.PathLike) else text_of(context, self.param_file)
        if not os.path.isfile(path):
            raise FileNotFoundError(f"parameter file '{path}': does not exist")
        return path


def _evaluate(context: LaunchContext, name: str, value: Any) -> Any:
    if isinstance(value, ParameterValue):
        return value.evaluate(context, name)
    if isinstance(value, _SCALARS):
        return value  # a plain text stays one
    if isinstance(value, Substitution):
        return ParameterValue(value).evaluate(context, name)
    if isinstance(value, Sequence) and any(isinstance(item, Substitution) for item in value):
        return ParameterValue(value).evaluate(context, name)  # texts and substitutions beside each other form one text
    if isinstance(value, Sequence) and any(isinstance(item, list | tuple) for item in value):
        return _checked(name, [yaml.safe_load(text_of(context, item)) for item in value])
    return _checked(name, value)


def evaluate_parameters(context: LaunchContext, parameters: Mapping[Any, Any], prefix: str = "") -> dict[str, Any]:
    """Return parameters by name; names of nested dictionaries are joined with dots.

    Raises:
        TypeError: a value that no ROS parameter can have.
    """
    found: dict[str, Any] = {}
    for key, value in parameters.items():
        name = prefix + text_of(context, key)
        if isinstance(value, Mapping):
            found |= evaluate_parameters(context, value, f"{name}.")
        else:
            found[name] = _evaluate(context, name, value)
    return found


__getattr__ = absent(__name__)
