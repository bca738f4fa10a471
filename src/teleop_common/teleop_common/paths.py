"""Where installed configuration lies."""

from __future__ import annotations

from pathlib import Path

from teleop_common.errors import ConfigError


def share(package: str, *parts: str) -> Path:
    """Return a path below the share directory of ``package``.

    Raises:
        ConfigError: the package is not installed.
    """
    # here: the pure cores that name a file of their own are tested without ROS
    from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

    try:
        return Path(get_package_share_directory(package), *parts)
    except PackageNotFoundError as error:
        raise ConfigError("package", package, None, "an installed package", "build the workspace") from error


def config(name: str, given: str = "") -> Path:
    """Return ``given`` when set, else the installed ``config/<name>``."""
    return Path(given) if given else share("teleop_bringup", "config", name)
