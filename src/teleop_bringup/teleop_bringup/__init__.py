"""Launch files and configuration of the teleoperation graph, and its system tests."""
