"""The pieces from which the launch files build the graph.

Arguments are declared here once, with description, unit and choices; each node is one function. Every node respawns after
one second; one that refuses its configuration (exit status 2) ends the whole launch instead, with the node's own line.
"""

from __future__ import annotations

import importlib.util
import secrets
import shutil
from pathlib import Path

from ament_index_python.packages import get_package_prefix
from launch import LaunchContext, LaunchDescriptionEntity
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
    TimerAction,
)
from launch.conditions import IfCondition
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.events.process import ProcessExited
from launch.substitutions import Command, LaunchConfiguration, PathJoinSubstitution, PythonExpression
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from teleop_bringup import checks
from teleop_bringup.exits_node import Ended, Exits
from teleop_common.errors import ConfigError
from teleop_ik.solver import SOLVERS
from teleop_web.params import check_code

CONFIG_ERROR = 2  # exit status of a node that refuses its configuration
RESPAWN_DELAY = 1.0  # [s]

# Ctrl-C on a terminal reaches every process at once; one that hits Python while it starts prints a traceback
_UNINTERRUPTED = "env --block-signal=INT"
_CONFIG = PathJoinSubstitution([FindPackageShare("teleop_bringup"), "config"])
ARGUMENTS = {
    "arms": ("left,right", "arms of the graph, comma-separated; each needs a mount in the cell file", None),
    "input": (
        "web",
        "input provider: headset browser, scripted operator, recorded bag, OpenXR runtime, or another publisher",
        ["web", "debug", "replay", "openxr", "external"],
    ),
    "bag": ("", "bag to replay (directory or .mcap), for input:=replay", None),
    "loop": ("false", "start the replayed bag again at its end", ["true", "false"]),
    "path": ("wave", "scripted path for input:=debug: a name in config/debug_paths, or a YAML file", None),
    "environment_file": ("", "environment file of the OpenXR runtime, loaded before connecting, for input:=openxr", None),
    "cameras": ("true", "render the simulated cameras", ["true", "false"]),
    "web": ("true", "serve the headset page and the cockpit", ["true", "false"]),
    "rviz": ("false", "open RViz, where it is installed", ["true", "false"]),
    "plugins": ("", "folders of input plugins (plugin.yaml), comma-separated, docs/device_status.md", None),
    "record": ("false", "run the recorder: sessions and takes of everything, docs/recording.md", ["true", "false"]),
    "record_folder": ("", "where sessions are kept; empty: ~/xr-teleop/sessions", None),
    "session": ("", "name of the session; empty: from the time of its opening", None),
    "task": ("", "instruction of the takes, for the data set", None),
    "autostart": ("true", "connect and start the session once the provider is there", ["true", "false"]),
    "stance": ("behind", "how the operator stands to the arms", ["behind", "facing", "camera"]),
    "view": ("overshoulder", "camera view in use, for stance:=camera: a name in config/views.yaml", None),
    "solver": ("analytic", "inverse kinematics; analytic is for the SO-101 alone, differential for any arm", list(SOLVERS)),
    "limits_file": (PathJoinSubstitution([_CONFIG, "limits", "so101.yaml"]), "limits file of the robot", None),
    "cell_file": (PathJoinSubstitution([_CONFIG, "cell.yaml"]), "cell file: mounts, bench, obstacles", None),
    "bindings_file": (PathJoinSubstitution([_CONFIG, "bindings.yaml"]), "button bindings", None),
    "bindings_preset": ("default", "preset of the bindings file", None),
    "params_file": (
        PathJoinSubstitution([_CONFIG, "params.yaml"]),
        "parameter file of all nodes; launch arguments outrank it",
        None,
    ),
    "bind": ("0.0.0.0", "address that the HTTPS server listens on", None),
    "https_port": ("8443", "HTTPS port for the headset, 0 takes a free one", None),
    "http_port": ("8080", "HTTP port on localhost for the desktop page, 0 takes a free one", None),
    "pairing_code": ("", "six digits a page must present; empty makes one at each launch", None),
    "cubes_seed": ("0", "seed of the cubes' places", None),
    "side": ("all", "which side of the graph runs here: all, the operator's or the arms'", ["all", "operator", "arms"]),
    "discovery": ("localhost", "how far ROS discovery reaches", ["localhost", "subnet"]),
    "duration": ("0", "end by itself after this long, 0 never [s]", None),
    "log_level": ("info", "least severity logged", ["debug", "info", "warn", "error"]),
}
# of arms behind ros2_control, besides
CONTROLLER_ARGUMENTS = {
    "command": ("trajectory", "what the arms' controllers take", ["trajectory", "array"]),
    "command_topic": ("/{arm}_arm_controller/joint_trajectory", "topic of each arm's controller", None),
    "gripper_topic": ("", "topic of each gripper's controller, empty: the gripper goes with the arm", None),
    "joint_states_topic": ("/joint_states", "where joint states come from", None),
    "joint_prefix": ("{arm}_", "prefix of the controllers' joint names", None),
}
# of arms on their servo buses, besides
HARDWARE_ARGUMENTS = {
    "ports": (
        "auto",
        "serial ports of the arms: auto (found by adapter and servos), emulated (no hardware at all), "
        "or a port for each arm, as in left:/dev/serial/by-id/...,right:...",
        None,
    ),
    "calibrations": ("", "folder of the arms' calibration files, <arm>.json; empty: where ./teleop arm keeps them", None),
    "park": ("false", "at the end, ease the arms to rest and release torque, instead of holding", ["true", "false"]),
    "emulator_log": ("", "file into which emulated servos write what they do, 100 times a second; empty: none", None),
}
ALL_ARGUMENTS = ARGUMENTS | CONTROLLER_ARGUMENTS | HARDWARE_ARGUMENTS


def arguments(*names: str, **defaults: str) -> list[LaunchDescriptionEntity]:
    """Declare launch arguments by name, with other defaults where given."""
    declared: list[LaunchDescriptionEntity] = []
    for name in names or ARGUMENTS:
        default, description, choices = ALL_ARGUMENTS[name]
        extra = {"choices": choices} if choices else {}
        declared.append(DeclareLaunchArgument(name, default_value=defaults.get(name, default), description=description, **extra))
    return declared


def _is(name: str, *values: str) -> PythonExpression:
    return PythonExpression(["'", LaunchConfiguration(name), f"' in {values!r}"])


def _both(a: PythonExpression, b: PythonExpression) -> PythonExpression:
    return PythonExpression([a, " and ", b])


OPERATOR_SIDE = _is("side", "all", "operator")
ARMS_SIDE = _is("side", "all", "arms")
ARMS = ParameterValue(PythonExpression(["'", LaunchConfiguration("arms"), "'.split(',')"]), value_type=list[str])


def _parameter(name: str) -> ParameterValue:
    kind = _TYPES.get(name, str)
    return ParameterValue(LaunchConfiguration(name), value_type=kind)


NODES = {
    "debug_input", "openxr_input", "replay_input", "session", "web_gateway", "device_status", "recorder",
    "retargeter", "guard", "robot_state_publisher", "sim", "sim_cameras", "ros2_control_driver", "so101_driver",
    "emulated_scene",
}  # fmt: skip
"""Nodes of all launch files, of which a parameter file may tell; a driver is so101_driver_<arm> there."""
_TYPES: dict[str, type] = {"autostart": bool, "park": bool, "loop": bool, "https_port": int, "http_port": int, "cubes_seed": int}


def _is_script(package: str, executable: str) -> bool:
    """Return whether a node is a Python script, as all of ours; its start takes long and unblocks SIGINT itself."""
    path = Path(get_package_prefix(package)) / "lib" / package / executable
    return path.is_file() and path.open("rb").read(2) == b"#!"


def node(package: str, executable: str, *parameters: str, when: PythonExpression, name: str = "", **fixed: object) -> Node:
    """Describe one node of the graph; it respawns and is named like its executable, where nothing else is said.

    Args:
        package: its package.
        executable: its executable.
        parameters: launch arguments handed on as parameters of the same name.
        when: condition on which it runs.
        name: its name, where several run.
        fixed: further parameters.
    """
    handed = {name: _parameter(name) for name in parameters}
    assert executable in NODES, executable  # else nobody could set its parameters
    return Node(
        package=package,
        executable=executable,
        name=name or executable,
        exec_name=name or executable,  # else the prefix names the process
        output="screen",
        respawn=True,
        respawn_delay=RESPAWN_DELAY,
        parameters=[LaunchConfiguration("params_file"), {**handed, **fixed}],
        ros_arguments=["--log-level", LaunchConfiguration("log_level")],
        prefix=f"{_UNINTERRUPTED} " if _is_script(package, executable) else "",
        condition=IfCondition(when),
    )


def operator_nodes() -> list[LaunchDescriptionEntity]:
    """Describe the operator's side: the input provider, the session and the pages."""
    provider = PythonExpression(
        ["{'web': 'webxr'}.get('", LaunchConfiguration("input"), "', '", LaunchConfiguration("input"), "')"]
    )
    listed = PythonExpression(
        ["[*{'web': ['webxr'], 'openxr': ['openxr/runtime'], 'external': []}.get('", LaunchConfiguration("input"), "', ['",
         LaunchConfiguration("input"), "']), 'node/retargeter', 'node/guard']"]
    )  # fmt: skip
    # made here and not by the gateway, so that pages find their way back after its respawn
    # no leading zero: a parameter file would turn the text into a number
    code = PythonExpression(["'", LaunchConfiguration("pairing_code"), f"' or '{100_000 + secrets.randbelow(900_000)}'"])
    return [
        node("teleop_input", "debug_input", "path", when=_both(OPERATOR_SIDE, _is("input", "debug"))),
        node("teleop_input", "openxr_input", "environment_file", when=_both(OPERATOR_SIDE, _is("input", "openxr"))),
        node("teleop_input", "replay_input", "bag", "loop", when=_both(OPERATOR_SIDE, _is("input", "replay"))),
        node(
            "teleop_session", "session", "autostart", "stance", "view", "bindings_file", "bindings_preset", "cell_file",
            when=OPERATOR_SIDE, arms=ARMS, provider=ParameterValue(provider, value_type=str),
        ),
        node(
            "teleop_web", "web_gateway", "limits_file", "bind", "https_port", "http_port",
            when=_both(OPERATOR_SIDE, _is("web", "true")), arms=ARMS, pairing_code=ParameterValue(code, value_type=str),
        ),
        node(
            "teleop_diagnostics", "device_status", "limits_file", "plugins", when=OPERATOR_SIDE, arms=ARMS,
            expected=ParameterValue(listed, value_type=list[str]),
            replay=ParameterValue(_is("input", "replay"), value_type=bool),
        ),
        node(
            "teleop_recorder", "recorder", "limits_file", "cell_file", "session", "task",
            when=_both(OPERATOR_SIDE, _is("record", "true")), arms=ARMS,
            folder=ParameterValue(LaunchConfiguration("record_folder"), value_type=str),
        ),
        Node(
            package="rviz2", executable="rviz2", name="rviz2", output="log",
            arguments=["-d", PathJoinSubstitution([_CONFIG, "rviz", "teleop.rviz"])],
            condition=IfCondition(_both(OPERATOR_SIDE, _is("rviz", "true"))),
        ),
    ]  # fmt: skip


def description() -> Command:
    """Describe what prints the URDF of all arms for the TF."""
    return Command(
        # quoted: a path may hold spaces
        [f"{_UNINTERRUPTED} python3 -m teleop_description --arms '", LaunchConfiguration("arms"),
         "' --limits '", LaunchConfiguration("limits_file"), "' --cell '", LaunchConfiguration("cell_file"), "'"]
    )  # fmt: skip


def control_nodes(leash: str = "") -> list[LaunchDescriptionEntity]:
    """Describe what stands between the operator and a driver: retargeter, guard and the arms' TF.

    Args:
        leash: which leash of the limits file holds, ``simulation`` or ``hardware``; empty: what the parameter file says.
    """
    fixed = {"leash": leash} if leash else {}
    return [
        node("teleop_ik", "retargeter", "limits_file", "cell_file", "solver", when=ARMS_SIDE, arms=ARMS, **fixed),
        node("teleop_safety", "guard", "limits_file", "cell_file", when=ARMS_SIDE, arms=ARMS, **fixed),
        node(
            "robot_state_publisher", "robot_state_publisher",
            when=ARMS_SIDE, robot_description=ParameterValue(description(), value_type=str),
        ),
    ]  # fmt: skip


def simulation_nodes() -> list[LaunchDescriptionEntity]:
    """Describe the simulated arms and their cameras."""
    return [
        node("teleop_sim", "sim", "limits_file", "cell_file", "cubes_seed", when=ARMS_SIDE, arms=ARMS),
        *camera_nodes(),
    ]


def camera_nodes() -> list[LaunchDescriptionEntity]:
    """Describe the cameras of a scene that somebody simulates."""
    return [
        node(
            "teleop_sim", "sim_cameras", "limits_file", "cell_file",
            when=_both(ARMS_SIDE, _is("cameras", "true")), arms=ARMS,
        ),
    ]  # fmt: skip


def ros2_control_nodes() -> list[LaunchDescriptionEntity]:
    """Describe the driver of arms behind ros2_control; their controllers run already, or elsewhere."""
    return [
        node(
            "teleop_ros2_control", "ros2_control_driver", "limits_file", "command", "command_topic", "gripper_topic",
            "joint_states_topic", "joint_prefix", when=ARMS_SIDE, arms=ARMS,
        ),
    ]  # fmt: skip


def _refuse(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    chosen = context.launch_configurations
    try:
        checks.arguments(chosen, ALL_ARGUMENTS)
        if chosen.get("params_file"):
            # one file may serve graphs of one arm and of two
            drivers = {f"so101_driver_{arm}" for arm in ("left", "right", *chosen.get("arms", "").split(","))}
            checks.parameters(Path(chosen["params_file"]), NODES - {"so101_driver"} | drivers)
        checks.files(chosen)
        if "ports" in chosen:
            checks.ports(chosen["ports"], [arm for arm in chosen["arms"].split(",") if arm])
        if chosen.get("web") == "true" and chosen.get("side") != "arms":
            checks.address(chosen["bind"])
            check_code(chosen.get("pairing_code", ""))  # here, before it becomes part of an expression
    except ConfigError as error:
        raise RuntimeError(str(error)) from error
    if chosen.get("input") == "openxr" and importlib.util.find_spec("xr") is None:
        raise RuntimeError(
            "launch argument 'input': got 'openxr', but pyopenxr is not installed; ./teleop sim input:=openxr installs it"
        )
    if chosen.get("input") == "replay" and not chosen.get("bag"):
        raise RuntimeError("launch argument 'bag': got '', allowed a bag's directory or .mcap file; add bag:=PATH")
    if chosen.get("rviz") == "true" and shutil.which("rviz2") is None:
        raise RuntimeError(
            "launch argument 'rviz': got 'true', but no rviz2 is installed; install ros-jazzy-rviz2 or leave it false"
        )
    return []


def _config_errors(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """End the launch with a failure when a node refused its configuration: a respawn would refuse it again for ever."""
    if event.returncode != CONFIG_ERROR or context.is_shutdown:
        return []
    message = f"{event.process_name} refused its configuration (its own line above says what and why); nothing runs"

    def stop(_context: LaunchContext) -> None:
        raise RuntimeError(message)

    return [OpaqueFunction(function=stop)]


def _exits() -> list[LaunchDescriptionEntity]:
    """Describe who tells the graph how its processes ended."""
    begun: list[Exits] = []

    def begin(_context: LaunchContext) -> None:
        begun.append(Exits())

    def tell(event: ProcessExited, _context: LaunchContext) -> None:
        # launch numbers its processes: guard-3
        begun[0].tell(Ended(event.process_name.rpartition("-")[0], event.pid, event.returncode))

    return [OpaqueFunction(function=begin), RegisterEventHandler(OnProcessExit(on_exit=tell))]


def surroundings() -> list[LaunchDescriptionEntity]:
    """Describe what every launch file of the graph begins with: refusals, discovery, duration, end on bad configuration."""
    duration = LaunchConfiguration("duration")
    discovery = PythonExpression(["'", LaunchConfiguration("discovery"), "'.upper()"])
    return [
        OpaqueFunction(function=_refuse),
        SetEnvironmentVariable("ROS_AUTOMATIC_DISCOVERY_RANGE", discovery),
        RegisterEventHandler(OnProcessExit(on_exit=_config_errors)),
        *_exits(),
        TimerAction(
            period=duration,
            actions=[EmitEvent(event=Shutdown(reason="duration over"))],
            condition=IfCondition(PythonExpression(["float('", duration, "') > 0"])),
        ),
    ]
