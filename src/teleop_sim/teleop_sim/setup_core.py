"""Making the core of the ``sim`` node from its parameters and files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from teleop_common.cell import Cell
from teleop_common.driver import Driver, configured
from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits
from teleop_description.arm_spec import ArmOptions
from teleop_description.scene import SceneOptions, build, model_hash
from teleop_sim.pacing import Pacer
from teleop_sim.physics import Physics
from teleop_sim.simulation import Simulation

if TYPE_CHECKING:  # its module needs ROS, this one does not
    from teleop_sim.sim_params import SimParams


def start_poses(positions: Sequence[float], arms: Sequence[str], limits: RobotLimits) -> dict[str, tuple[float, ...]]:
    """Return the start pose of each arm [rad] from the flat parameter; home where it is empty.

    Raises:
        ConfigError: a wrong count, or a position outside the mechanical range.
    """
    joints = limits.all_joints
    if not positions:
        return {arm: tuple(j.home for j in joints) for arm in arms}
    if len(positions) != len(joints) * len(arms):
        wanted = f"{len(joints)} positions for each of {', '.join(arms)}"
        raise ConfigError("parameter", "start_positions", len(positions), wanted, "mend the list or leave it empty")
    poses = {}
    for index, arm in enumerate(arms):
        pose = tuple(float(p) for p in positions[index * len(joints) : (index + 1) * len(joints)])
        for joint, value in zip(joints, pose, strict=True):
            low, high = joint.lower - limits.mechanical_margin, joint.upper + limits.mechanical_margin
            if not low <= value <= high:
                raise ConfigError("start position", f"{arm}_{joint.name}", value, f"{low:.4f} to {high:.4f} rad", "stay inside")
        poses[arm] = pose
    return poses


def create(params: SimParams, limits: RobotLimits, cell: Cell, instances: Sequence[int]) -> tuple[Simulation, str]:
    """Return the simulation and the hash of its model.

    Args:
        params: parameters of the node.
        limits: the robot.
        cell: the cell.
        instances: a random number an arm, the drivers' first instances.

    Raises:
        ConfigError: an arm without a mount or named twice, a robot that cannot be simulated, a bad start pose.
    """
    if len(set(params.arms)) != len(params.arms) or not params.arms:
        raise ConfigError("parameter", "arms", list(params.arms), "different names, at least one", "mend the arms argument")
    options = SceneOptions(ArmOptions(kp=params.kp, kv=params.kv), timestep=1.0 / params.physics_hz)
    model = build(params.arms, cell, limits, options)
    start = start_poses(params.start_positions, params.arms, limits)
    drivers = {}
    for arm, instance in zip(params.arms, instances, strict=True):
        drivers[arm] = Driver(configured(arm, limits, params, estop_release=params.estop_release), instance, start[arm])
    physics = Physics(model, params.arms, limits, cell)
    pacer = Pacer(1.0 / params.physics_hz, params.max_behind)
    return Simulation(physics, drivers, pacer, start, params.cubes_seed, params.joint_state_hz), model_hash(model)
