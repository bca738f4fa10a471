"""Subset of tf2_ros (Python) for machines without a ROS install."""
