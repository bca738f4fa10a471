"""Subset of robot_state_publisher for machines without a ROS install."""
