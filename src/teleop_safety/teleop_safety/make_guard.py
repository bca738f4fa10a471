"""The guard's core from its parameters and files."""

from __future__ import annotations

import random
from collections.abc import Callable

from teleop_common import cell, limits, paths
from teleop_common.errors import ConfigError
from teleop_safety import shapes, space
from teleop_safety.collision import CollisionFilter
from teleop_safety.envelope import Envelope, Open
from teleop_safety.guard import Guard
from teleop_safety.guard_params import GuardParams
from teleop_safety.refine import Refinement


def make_core(params: GuardParams) -> Guard:
    """Return the core of ``params``.

    Raises:
        ConfigError: an arm, a file or a number that cannot be used.
    """
    robot = limits.load(paths.config("limits/so101.yaml", params.limits_file))
    room = cell.load(paths.config("cell.yaml", params.cell_file))
    if params.squeeze_open >= params.squeeze_close:
        allowed = f"below squeeze_close ({params.squeeze_close:g})"
        raise ConfigError("parameter", "squeeze_open", params.squeeze_open, allowed, "swap or mend the two")
    limits.check_arms(params.arms)
    for arm in params.arms:
        room.mount(arm)
    envelope: Envelope = Open()
    if params.collision:
        scene = space.build(params.arms, robot, room, shapes.load(robot))
        now = "hulls" if params.geometry == "pieces" else params.geometry
        envelope = CollisionFilter(params.arms, scene, params.margin, params.floor, len(robot.joints), now)
    leash = robot.leash_hardware if params.leash == "hardware" else robot.leash_simulation
    engage = {arm: random.getrandbits(32) for arm in params.arms}
    return Guard(params.arms, robot, params.settings(leash), envelope, engage)


def refine(params: GuardParams, core: Guard, ready: Callable[[CollisionFilter], None]) -> Refinement | None:
    """Have the links cut into pieces, when these are to be measured; ``ready`` gets the filter, in another thread."""
    rough = core.envelope
    if not isinstance(rough, CollisionFilter) or params.geometry != "pieces":
        return None
    file = paths.config("limits/so101.yaml", params.limits_file)
    return Refinement(limits.load(file), str(file), lambda made: ready(rough.in_pieces(made)))
