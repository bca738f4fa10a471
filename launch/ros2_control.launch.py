"""Arms behind ros2_control controllers, which run already: another robot by its limits and cell files (docs/integration.md)."""

from launch import LaunchDescription

from teleop_bringup import graph

SIMULATION_ONLY = ("cameras", "cubes_seed")


def generate_launch_description():
    names = [name for name in graph.ARGUMENTS if name not in SIMULATION_ONLY]
    return LaunchDescription(
        [
            *graph.arguments(*names, *graph.CONTROLLER_ARGUMENTS, solver="differential"),
            *graph.surroundings(),
            *graph.ros2_control_nodes(),
            *graph.control_nodes(leash="hardware"),
            *graph.operator_nodes(),
        ]
    )
