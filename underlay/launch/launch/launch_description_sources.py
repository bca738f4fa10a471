"""Descriptions from Python launch files."""

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from launch.entities import LaunchDescription
from launch.launch_context import LaunchContext
from launch.subset import absent, refuse
from launch.utilities import SomeSubstitutionsType, TextSubstitution, normalize_to_list_of_substitutions, text_of


class LaunchDescriptionSource:
    """A description that is ready, or read from a Python launch file when it is needed, once."""

    def __init__(self, launch_description: LaunchDescription | None = None, location: SomeSubstitutionsType = "") -> None:
        """Keep a ready description, or the location to read it from."""
        self._description, self._path = launch_description, normalize_to_list_of_substitutions(location)

    def get_launch_description(self, context: LaunchContext) -> LaunchDescription:
        """Return the description.

        Raises:
            FileNotFoundError: the file does not exist.
            AttributeError: it has no function ``generate_launch_description``.
        """
        if self._description is None:
            self._description = self._read(text_of(context, self._path))
        return self._description

    def try_get_launch_description_without_context(self) -> LaunchDescription | None:
        """Return the description if its location is a fixed text and it can be read, else None."""
        if self._description is None and all(isinstance(part, TextSubstitution) for part in self._path):
            return self.get_launch_description(LaunchContext())
        return self._description

    def _read(self, path: str) -> LaunchDescription:
        if not Path(path).is_file():
            raise FileNotFoundError(f"launch file '{path}': does not exist")
        module = ModuleType("python_launch_file")
        module.__file__ = path
        SourceFileLoader(module.__name__, path).exec_module(module)  # whatever the name of the file ends in
        if not hasattr(module, "generate_launch_description"):
            raise AttributeError(f"launch file '{path}': has no function generate_launch_description")
        description: LaunchDescription = module.generate_launch_description()
        return description


class PythonLaunchDescriptionSource(LaunchDescriptionSource):
    """A description in a Python launch file."""

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        """Keep the path."""
        super().__init__(None, launch_file_path)


class AnyLaunchDescriptionSource(PythonLaunchDescriptionSource):
    """A description in a launch file; of the formats only Python is in this subset."""

    def _read(self, path: str) -> LaunchDescription:
        if not path.endswith(".py"):
            raise refuse("launch", f"the format of launch file '{path}'")
        return super()._read(path)


__getattr__ = absent(__name__)
