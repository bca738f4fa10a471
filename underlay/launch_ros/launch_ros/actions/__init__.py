"""Actions of launch_ros."""

from launch.subset import absent
from launch_ros.actions.node import Node
from launch_ros.actions.scope import PushROSNamespace, PushRosNamespace, SetParameter

__all__ = ["Node", "PushROSNamespace", "PushRosNamespace", "SetParameter"]

__getattr__ = absent(__name__)
