"""Subset of rosidl_runtime_py for machines without a ROS install."""
