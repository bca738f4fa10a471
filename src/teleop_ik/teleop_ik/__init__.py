"""Retargeting of hands to joints: anchor, stance, inverse kinematics."""
