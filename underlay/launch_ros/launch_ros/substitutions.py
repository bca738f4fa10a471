"""Where ROS packages and their executables are."""

from __future__ import annotations

import os
from pathlib import Path

from ament_index_python.packages import get_package_prefix, get_package_share_directory
from launch import LaunchContext, SomeSubstitutionsType, Substitution
from launch.subset import absent
from launch.substitutions import SubstitutionFailure
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

__all__ = ["ExecutableInPackage", "FindPackagePrefix", "FindPackageShare"]


class FindPackagePrefix(Substitution):
    """Prefix that a package is installed in."""

    def __init__(self, package: SomeSubstitutionsType) -> None:
        """Keep the name of the package."""
        self._package = normalize_to_list_of_substitutions(package)

    def find(self, package_name: str) -> str:
        """Return the directory for this package.

        Raises:
            PackageNotFoundError: there is no such package in AMENT_PREFIX_PATH.
        """
        return str(get_package_prefix(package_name))

    def describe(self) -> str:
        """Return the name of the package."""
        return f"{type(self).__name__}({' + '.join(part.describe() for part in self._package)})"

    def perform(self, context: LaunchContext) -> str:
        """Return the directory."""
        return self.find(perform_substitutions(context, self._package))


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
        self._executable = normalize_to_list_of_substitutions(executable)

    def perform(self, context: LaunchContext) -> str:
        """Return the path.

        Raises:
            SubstitutionFailure: the package has no such executable.
        """
        package, name = perform_substitutions(context, self._package), perform_substitutions(context, self._executable)
        directory = Path(self.find(package)) / "lib" / package
        path = directory / name
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise SubstitutionFailure(f"executable '{name}' of package '{package}': not found in '{directory}'; build it")
        return str(path)


__getattr__ = absent("launch_ros", __name__)
