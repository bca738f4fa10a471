"""Subset of launch_ros for machines without a ROS install."""
