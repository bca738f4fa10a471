"""Subset of launch_pytest for machines without a ROS install."""
