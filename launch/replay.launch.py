"""Replay recorded operator input into the simulated arms: `bag:=PATH`."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    sim = PathJoinSubstitution([FindPackageShare("teleop_bringup"), "launch", "sim.launch.py"])
    return LaunchDescription(
        [
            DeclareLaunchArgument("bag", description="bag to replay (directory or .mcap)"),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(sim),
                launch_arguments={"input": "replay", "bag": LaunchConfiguration("bag")}.items(),
            ),
        ]
    )
