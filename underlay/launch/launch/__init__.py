"""Subset of launch for machines without a ROS install."""
