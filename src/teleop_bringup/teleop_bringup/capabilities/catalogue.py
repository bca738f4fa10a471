"""Every input, solver, renderer, recorder and kind of arm, with what it needs. Pure but for the machine that is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from teleop_bringup.capabilities import openxr_runtime
from teleop_bringup.capabilities.machine import Machine

_SET_UP = "run any ./teleop command (such as ./teleop exec true): it installs what is missing"
_PIP = "./teleop exec pip install -r requirements/"
_WEB = ("aiohttp", "cryptography")


class Need(NamedTuple):
    """Something that must be there.

    Attributes:
        modules: Python modules.
        remedy: what to do when one is missing.
    """

    modules: tuple[str, ...]
    remedy: str = _SET_UP


class Entry(NamedTuple):
    """One thing that the graph can use.

    Attributes:
        kind: input, arm, solver, renderer or recorder.
        name: as it is named where it is chosen.
        use: how to choose it.
        needs: what must be there, else it does not work.
        unready: what must be up besides: returns why it is not and what to do, or nothing.
    """

    kind: str
    name: str
    use: str
    needs: tuple[Need, ...] = ()
    unready: Callable[[Machine], str] | None = None


class Capability(NamedTuple):
    """Whether one thing works here.

    Attributes:
        kind: input, arm, solver, renderer or recorder.
        name: its name.
        use: how to choose it.
        works: all it needs is installed.
        ready: it works, and what must be up besides is.
        missing: what is not there.
        remedy: what to do, empty when it is ready.
    """

    kind: str
    name: str
    use: str
    works: bool
    ready: bool
    missing: tuple[str, ...]
    remedy: str


def _page(machine: Machine) -> str:
    root = machine.environment.get("TELEOP_ROOT", ".")
    if machine.exists(f"{root}/src/teleop_web/web/dist/vr.html"):
        return ""
    return "the page is not built; " + _SET_UP


def _egl(machine: Machine) -> str:
    opengl = machine.has_library("OpenGL") or machine.has_library("GL")
    if machine.has_library("EGL") and opengl and machine.files("/usr/share/glvnd/egl_vendor.d", "*.json"):
        return ""
    return "no EGL with OpenGL: sudo apt-get install libegl1 libopengl0 libgl1-mesa-dri, or cameras:=false"


def _rviz(machine: Machine) -> str:
    return "" if machine.has_program("rviz2") else "no rviz2 on the path: install ros-jazzy-rviz2 and source that ROS"


def _serial(machine: Machine) -> str:
    if machine.files("/dev", "ttyACM*") or machine.files("/dev", "ttyUSB*"):
        return ""
    return "no serial port: plug the arms in, then ./teleop arm find; or ports:=emulated"


_MODEL = Need(("numpy", "pinocchio", "coal"))
_LAUNCH = "./teleop sim input:="
CATALOGUE = (
    Entry("input", "web", _LAUNCH + "web", (Need(_WEB),), _page),
    Entry("input", "openxr", _LAUNCH + "openxr", (Need(("xr",), _LAUNCH + "openxr installs it"),), openxr_runtime.unready),
    Entry("input", "debug", _LAUNCH + "debug"),
    Entry("input", "replay", _LAUNCH + "replay bag:=PATH", (Need(("rosbag2_py",)),)),
    Entry("input", "external", _LAUNCH + "external"),
    Entry("arm", "simulated", "./teleop sim", (Need(("mujoco",)),)),
    Entry("arm", "so101", "./teleop launch hardware.launch.py", (Need(("serial",)),), _serial),
    Entry("arm", "emulated", "./teleop launch hardware.launch.py ports:=emulated", (Need(("serial", "mujoco")),)),
    Entry("arm", "ros2_control", "./teleop launch ros2_control.launch.py", (Need(("trajectory_msgs",)),)),
    Entry("solver", "differential", "solver:=differential", (_MODEL,)),
    Entry("solver", "analytic", "solver:=analytic", (_MODEL,)),
    Entry("solver", "velocity", "solver:=velocity", (_MODEL,)),
    Entry("solver", "levenberg_marquardt", "solver:=levenberg_marquardt", (_MODEL,)),
    Entry("solver", "qp", "solver:=qp", (_MODEL, Need(("pink", "qpsolvers", "daqp"), _PIP + "qp.txt -c requirements/lock.txt"))),
    Entry("solver", "point_dls", "solver:=point_dls", (_MODEL,)),
    Entry("renderer", "cameras", "cameras:=true", (Need(("mujoco", "PIL")),), _egl),
    Entry("renderer", "pages", "web:=true", (Need(_WEB),), _page),
    Entry("renderer", "rviz", "rviz:=true", (), _rviz),
    Entry("recorder", "sessions", "record:=true", (Need(("rosbag2_py", "h5py")),)),
    Entry("recorder", "videos", "record:=true", (Need(("av",)),)),
    Entry("recorder", "lerobot", "./teleop episodes export", (Need(("pyarrow", "av", "h5py")),)),
)


def survey(machine: Machine) -> list[Capability]:
    """Return what works on ``machine``, in the order of the catalogue."""
    found = []
    for entry in CATALOGUE:
        short = [(need, tuple(m for m in need.modules if not machine.has_module(m))) for need in entry.needs]
        short = [(need, missing) for need, missing in short if missing]
        # what is not installed comes first: nothing else can be told before that
        remedies = dict.fromkeys(need.remedy for need, _ in short)
        remedy = "; ".join(remedies) if short else entry.unready(machine) if entry.unready else ""
        names = tuple(name for _, missing in short for name in missing)
        found.append(Capability(entry.kind, entry.name, entry.use, not short, not remedy, names, remedy))
    return found
