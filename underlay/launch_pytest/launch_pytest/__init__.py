"""Subset of launch_pytest for machines without a ROS install."""

from launch_pytest import actions, tools
from launch_pytest.fixture import fixture

__all__ = ["actions", "fixture", "tools"]
