"""Subset of the ros2 command line for machines without a ROS install."""
