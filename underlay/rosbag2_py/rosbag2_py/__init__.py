"""Subset of rosbag2_py for machines without a ROS install."""
