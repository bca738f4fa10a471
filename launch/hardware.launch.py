"""Real arms on their servo buses, or emulated ones; torque is off until somebody turns it on."""

from launch import LaunchDescription

from teleop_bringup import graph, hardware

SIMULATION_ONLY = ("cubes_seed",)


def generate_launch_description():
    names = [name for name in graph.ARGUMENTS if name not in SIMULATION_ONLY]
    return LaunchDescription(
        [
            *graph.arguments(*names, *graph.HARDWARE_ARGUMENTS),
            *graph.surroundings(),
            *hardware.nodes(),
            *graph.control_nodes(leash="hardware"),
            *graph.operator_nodes(),
        ]
    )
