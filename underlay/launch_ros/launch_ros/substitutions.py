"""Where ROS packages and their executables are."""

import os
from pathlib import Path

from ament_index_python.packages import get_package_prefix, get_package_share_directory
from launch import LaunchContext, SomeSubstitutionsType, Substitution
from launch.subset import absent
from launch.substitutions import SubstitutionFailure
from launch.utilities import describe, text_of


class FindPackagePrefix(Substitution):
    """Prefix that a package is installed in."""

    def __init__(self, package: SomeSubstitutionsType) -> None:
        """Keep the name of the package."""
        self._package = package

    def find(self, package_name: str) -> str:
        """Return the directory for this package.

        Raises:
            PackageNotFoundError: there is no such package in AMENT_PREFIX_PATH.
        """
        return str(get_package_prefix(package_name))

    def describe(self) -> str:
        """Return the name of the package."""
        return f"{type(self).__name__}({describe(self._package)})"

    def perform(self, context: LaunchContext) -> str:
        """Return the directory."""
        return self.find(text_of(context, self._package))


class FindPackageShare(FindPackagePrefix):
    """Share directory of a package."""

    def find(self, package_name: str) -> str:
        """Return the directory for this package.

        Raises:
            PackageNotFoundError: there is no such package in AMENT_PREFIX_PATH.
        """
        return str(get_package_share_directory(package_name))


class ExecutableInPackage(FindPackagePrefix):
    """Path of an executable in ``<prefix>/lib/<package>``."""

    def __init__(self, executable: SomeSubstitutionsType, package: SomeSubstitutionsType) -> None:
        """Keep both names."""
        super().__init__(package)
        self._executable = executable

    def perform(self, context: LaunchContext) -> str:
        """Return the path.

        Raises:
            SubstitutionFailure: the package has no such executable.
        """
        package, name = text_of(context, self._package), text_of(context, self._executable)
        directory = Path(self.find(package)) / "lib" / package
        path = directory / name
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise SubstitutionFailure(f"executable '{name}' of package '{package}': not found in '{directory}'; build it")
        return str(path)


__getattr__ = absent(__name__)
