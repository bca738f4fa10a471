"""The main job: two simulated arms, driven from a headset, a script or a recording."""

from launch import LaunchDescription

from teleop_bringup import graph


def generate_launch_description():
    return LaunchDescription(
        [
            *graph.arguments(),
            *graph.surroundings(),
            *graph.simulation_nodes(),
            *graph.control_nodes(),
            *graph.operator_nodes(),
        ]
    )
