"""Real arms on their servo bus."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction


def _refuse(_context):
    raise RuntimeError("hardware.launch.py needs the servo driver, which this version does not have; rehearse with sim.launch.py")


def generate_launch_description():
    return LaunchDescription(
        [
            DeclareLaunchArgument("arms", default_value="left,right", description="arms of the graph, comma-separated"),
            DeclareLaunchArgument("ports", default_value="auto", description="serial ports of the arms"),
            DeclareLaunchArgument(
                "park", default_value="false", description="ease the arms to rest at the end", choices=["true", "false"]
            ),
            OpaqueFunction(function=_refuse),
        ]
    )
