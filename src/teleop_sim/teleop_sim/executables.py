"""Entry points of the package's executables."""

from __future__ import annotations

import ctypes.util
import os
import sys
from collections.abc import Callable

from teleop_common.errors import ConfigError
from teleop_common.start import start


def sim() -> None:
    """Run the node ``sim``."""
    start("teleop_sim.sim_node", "SimNode")


def sim_cameras() -> None:
    """Run the node ``sim_cameras``; status 2 where nothing can be rendered."""
    missing = without_opengl(os.environ.get("MUJOCO_GL", "egl"), ctypes.util.find_library)
    if missing is not None:
        sys.stderr.write(f"{missing}\n")
        sys.exit(2)
    start("teleop_sim.cameras_node", "CamerasNode")


def without_opengl(backend: str, find: Callable[[str], str | None]) -> ConfigError | None:
    """Return what MuJoCo's import would fail on, not saying why: EGL without the libraries that it needs.

    Args:
        backend: MUJOCO_GL.
        find: returns a shared library's file by its name, None when the loader knows none.
    """
    if backend != "egl" or (find("EGL") and (find("OpenGL") or find("GL"))):
        return None
    lacks = "libOpenGL" if find("EGL") else "libEGL"
    remedy = "install them (Debian/Ubuntu: libegl1, libopengl0, libgl1-mesa-dri) or start with cameras:=false"
    return ConfigError("OpenGL", "sim_cameras", f"no {lacks}", "EGL and OpenGL, to render without a display", remedy)
