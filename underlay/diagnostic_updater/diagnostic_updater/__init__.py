"""Subset of diagnostic_updater (Python) for machines without a ROS install."""
