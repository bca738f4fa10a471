"""Driver of an arm that stands behind ros2_control controllers."""
