"""Subset of launch_ros for machines without a ROS install."""

from launch.subset import absent
from launch_ros import actions, parameter_descriptions, substitutions

__all__ = ["actions", "parameter_descriptions", "substitutions"]

__getattr__ = absent(__name__)
