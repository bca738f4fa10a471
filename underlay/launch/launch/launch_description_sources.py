"""Descriptions from Python launch files."""

from __future__ import annotations

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from launch.launch_context import LaunchContext
from launch.launch_description import LaunchDescription
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.subset import absent, refuse
from launch.substitution import TextSubstitution
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

__all__ = [
    "AnyLaunchDescriptionSource",
    "InvalidPythonLaunchFileError",
    "LaunchDescriptionSource",
    "PythonLaunchDescriptionSource",
    "get_launch_description_from_python_launch_file",
    "load_python_launch_file_as_module",
]


class InvalidPythonLaunchFileError(Exception):
    """A launch file lacks ``generate_launch_description``."""


def load_python_launch_file_as_module(python_launch_file_path: str) -> ModuleType:
    """Import a launch file, whatever its name ends in."""
    loader = SourceFileLoader("python_launch_file", python_launch_file_path)
    spec = importlib.util.spec_from_loader(loader.name, loader)
    if spec is None:
        raise ImportError(f"launch file '{python_launch_file_path}': cannot be imported")
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def get_launch_description_from_python_launch_file(python_launch_file_path: str) -> LaunchDescription:
    """Return what the file's ``generate_launch_description`` returns.

    Raises:
        InvalidPythonLaunchFileError: the file has no such function.
    """
    module = load_python_launch_file_as_module(python_launch_file_path)
    generate = getattr(module, "generate_launch_description", None)
    if generate is None:
        raise InvalidPythonLaunchFileError(
            f"launch file '{python_launch_file_path}': has no function generate_launch_description"
        )
    description: LaunchDescription = generate()
    return description


class LaunchDescriptionSource:
    """A description that is read when it is needed, once."""

    def __init__(
        self,
        launch_description: LaunchDescription | None = None,
        location: SomeSubstitutionsType = "",
        method: str = "unspecified",
    ) -> None:
        """Keep a ready description, or the location to read it from."""
        self._description = launch_description
        self._location = normalize_to_list_of_substitutions(location)
        self._expanded: str | None = None
        self.method = method

    @property
    def location(self) -> str:
        """Path of the file, or what stands for it before the launch runs."""
        return self._expanded if self._expanded is not None else "".join(part.describe() for part in self._location)

    def get_launch_description(self, context: LaunchContext) -> LaunchDescription:
        """Return the description.

        Raises:
            FileNotFoundError: the file does not exist.
        """
        if self._expanded is None:
            self._expanded = perform_substitutions(context, self._location)
        if self._description is None:
            if not Path(self._expanded).is_file():
                raise FileNotFoundError(f"launch file '{self._expanded}': does not exist")
            self._description = self.read(self._expanded)
        return self._description

    def try_get_launch_description_without_context(self) -> LaunchDescription | None:
        """Return the description if its location is a fixed text and it can be read, else None."""
        if self._description is None and all(isinstance(part, TextSubstitution) for part in self._location):
            return self.get_launch_description(LaunchContext())
        return self._description

    def read(self, location: str) -> LaunchDescription:
        """Return the description in a file."""
        raise NotImplementedError(f"{type(self).__name__}.read() is missing")


class PythonLaunchDescriptionSource(LaunchDescriptionSource):
    """A description in a Python launch file."""

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        """Keep the path."""
        super().__init__(None, launch_file_path, "interpreted python launch file")

    def read(self, location: str) -> LaunchDescription:
        """Return the description in the file."""
        return get_launch_description_from_python_launch_file(location)


class AnyLaunchDescriptionSource(PythonLaunchDescriptionSource):
    """A description in a launch file; of the formats only Python is in this subset."""

    def read(self, location: str) -> LaunchDescription:
        """Return the description in the file.

        Raises:
            NotImplementedError: the file is not Python.
        """
        if not location.endswith(".py"):
            raise refuse("launch", f"the format of launch file '{location}'")
        return super().read(location)


__getattr__ = absent("launch", __name__)
