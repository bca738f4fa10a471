"""Shared, robot-agnostic parts of the teleoperation graph: records, wire codec, spatial maths, configuration, node shell."""
