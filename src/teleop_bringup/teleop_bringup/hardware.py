"""The real arms of the graph: one driver an arm on its serial port, or on emulated servos."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from launch import LaunchContext, LaunchDescriptionEntity
from launch.actions import ExecuteProcess, OpaqueFunction
from launch.substitutions import LaunchConfiguration

from teleop_bringup import checks, graph
from teleop_common import limits
from teleop_hw_so101 import calibration

SEED = 1  # of the emulated units
# the emulator is a process among others, which waits for its turn where servos do not [s]
_EMULATED_TIMEOUT = 0.03


def _drivers(found: dict[str, str], folder: str, patient: bool = False) -> list[LaunchDescriptionEntity]:
    described = []
    for arm, port in found.items():
        fixed = {"reply_timeout": _EMULATED_TIMEOUT} if patient or checks.emulated(port) else {}
        calibration = str(Path(folder, f"{arm}.json")) if folder else ""
        described.append(
            graph.node(
                "teleop_hw_so101", "so101_driver", "limits_file", "park",
                when=graph.ARMS_SIDE, name=f"so101_driver_{arm}", arm=arm, port=port, calibration=calibration,
                **fixed,
            )
        )  # fmt: skip
    return described


def _describe(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    given = context.launch_configurations
    arms = [arm for arm in given["arms"].split(",") if arm]
    if given["ports"] != checks.EMULATED:
        return _drivers(checks.ports(given["ports"], arms), given["calibrations"])
    if given["side"] == "operator":
        return []
    return _emulated(arms, limits.load(given["limits_file"]), given["emulator_log"])


def _emulated(arms: list[str], robot: limits.RobotLimits, log: str) -> list[LaunchDescriptionEntity]:
    # not imported above: it brings MuJoCo
    from teleop_hw_so101.emulator.unit import make_unit

    parent = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    # one a graph, found again at the next start
    folder = Path(parent, f"xr-teleop-emulated-{os.getuid()}-{os.environ.get('ROS_DOMAIN_ID', '0')}")
    folder.mkdir(mode=0o700, exist_ok=True)
    files = []
    for arm in arms:
        # written here, so that the drivers find them whoever starts first
        calibration.save(make_unit(arm, robot, SEED).calibration, folder / f"{arm}.json", overwrite=True)
        files += ["--calibration", f"{arm}={folder / f'{arm}.json'}"]
    written = ["--log", log] if log else []
    emulator = ExecuteProcess(
        cmd=["python3", "-m", "teleop_hw_so101.emulator.cli", "--arms", ",".join(arms), "--folder", str(folder), *files, *written,
             "--limits-file", robot.source, "--cell-file", LaunchConfiguration("cell_file")],
        name="emulator", output="screen",
    )  # fmt: skip
    scene = graph.node("teleop_hw_so101", "emulated_scene", when=graph.ARMS_SIDE, folder=str(folder))
    found = {arm: str(folder / arm) for arm in arms}
    return [emulator, scene, *graph.camera_nodes(), *_drivers(found, str(folder), patient=True)]


def nodes() -> list[LaunchDescriptionEntity]:
    """Describe the drivers of the arms, and the emulator where it stands in for them."""
    return [OpaqueFunction(function=_describe)]
