"""The servo tools behind ``./teleop arm``."""
