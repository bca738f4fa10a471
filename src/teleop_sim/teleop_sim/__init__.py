"""MuJoCo simulation of the arms and its cameras."""
