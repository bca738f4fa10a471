"""What closed-loop control is accepted by: a scripted operator picks a cube, or stacks one on another, in lockstep."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from teleop_bringup import handoff
from teleop_bringup.lockstep import Lockstep, Log
from teleop_bringup.lockstep_cores import Options
from teleop_bringup.picker import Eyes, Habits, Picker
from teleop_common.cell import Cell
from teleop_common.limits import RobotLimits
from teleop_common.records import Vec3
from teleop_description.scene import CUBE_EDGE, CUBES
from teleop_ik.solver import Solver

LONGEST = 60.0  # [s], after which the operator gives up
SETTLE = 1.0  # [s], after which a cube that was let go lies still
_LEVEL = 0.003  # [m], within which a cube lies where it should, not on its edge and not on something else


class Outcome(NamedTuple):
    """How it ended.

    Attributes:
        success: the cube lies where it should.
        cube: where it lies: x, y, z in world [m] and w, x, y, z.
        off: from where it should lie, horizontally [m].
        tries: times that the fingers were closed on it.
        seconds: that it took.
        log: what went over the topics.
    """

    success: bool
    cube: tuple[float, ...]
    off: float
    tries: int
    seconds: float
    log: Log


def pick(
    robot: RobotLimits,
    cell: Cell,
    options: Options,
    *,
    cube: str = "cube_red",
    solver: Solver | None = None,
    habits: Habits | None = None,
) -> Outcome:
    """Put ``cube`` into the place zone with the arm that is nearer to it; arguments as of ``Lockstep``."""
    chain = Lockstep(None, robot, cell, options, solver)
    where = cube_pose(chain, cube)
    arm = min(options.arms, key=lambda name: _distance(where, cell, name))
    return _perform(chain, cell, arm, cube, "", habits or Habits())


def stack(
    robot: RobotLimits, cell: Cell, options: Options, arm: str, *, solver: Solver | None = None, habits: Habits | None = None
) -> Outcome:
    """Put the cube that is second nearest to ``arm`` on the nearest."""
    chain = Lockstep(None, robot, cell, options, solver)
    onto, cube, *_ = sorted(CUBES, key=lambda name: _distance(cube_pose(chain, name), cell, arm))
    return _perform(chain, cell, arm, cube, onto, habits or Habits())


class HandedOver(NamedTuple):
    """How a hand-off ended.

    Attributes:
        success: the other hand holds the cube alone, in the air.
        nearest: least distance of one hand's fingers from the other's [m].
        tries: times that the taking hand closed its fingers.
        seconds: that it took.
        log: what went over the topics.
        steps: what the giving and the taking hand did last.
    """

    success: bool
    nearest: float
    tries: int
    seconds: float
    log: Log
    steps: tuple[str, str]


def hand_off(robot: RobotLimits, cell: Cell, options: Options, arm: str, *, habits: Habits | None = None) -> HandedOver:
    """Give the cube nearest to ``arm`` to the other arm, in the air between the two."""
    chain = Lockstep(None, robot, cell, options)
    cube = min(CUBES, key=lambda name: _distance(cube_pose(chain, name), cell, arm))
    other = next(name for name in options.arms if name != arm)
    mounts = {name: np.array(cell.mount(name).position) for name in (arm, other)}
    meet = 0.5 * (mounts[arm] + mounts[other]) + handoff.MEET
    physics, how = chain.cores.simulation.physics, habits or Habits()

    def hand(name: str) -> tuple[Eyes, str, Vec3, Habits]:
        return Eyes(physics.model, name, cube, "", cell), name, cell.mount(name).position, how

    giver, taker = handoff.Giver(*hand(arm), meet=meet), handoff.Taker(*hand(other), meet=meet)
    chain.operator = operator = handoff.HandOff(giver, taker)
    nearest = np.inf

    def look() -> bool:
        nonlocal nearest
        nearest = min(nearest, handoff.apart(physics.model, physics.data, arm, other))
        return operator.done

    finished = chain.run_until(look, LONGEST)
    seconds = chain.now
    chain.run(SETTLE)
    lies = np.array(cube_pose(chain, cube)[:3])
    tool = np.array(physics.data.site(f"{other}_{robot.tip_link}").xpos)
    success = finished and lies[2] > cell.bench_height + 0.1 and float(np.linalg.norm(lies - tool)) < CUBE_EDGE
    return HandedOver(success, nearest, taker.tries, seconds, chain.log, (giver.step, taker.step))


def cube_pose(chain: Lockstep, cube: str) -> tuple[float, ...]:
    """Return x, y, z [m] and w, x, y, z of ``cube`` in world as it is now."""
    address = int(chain.cores.simulation.physics.model.joint(cube).qposadr[0])
    return tuple(chain.cores.simulation.physics.data.qpos[address : address + 7].tolist())


def _distance(where: tuple[float, ...], cell: Cell, arm: str) -> float:
    x, y, _ = cell.mount(arm).position
    return float(np.hypot(where[0] - x, where[1] - y))


def _perform(chain: Lockstep, cell: Cell, arm: str, cube: str, onto: str, habits: Habits) -> Outcome:
    eyes = Eyes(chain.cores.simulation.physics.model, arm, cube, onto, cell)
    chain.operator = operator = Picker(eyes, arm, cell.mount(arm).position, habits)
    finished = chain.run_until(lambda: operator.done, LONGEST)
    seconds = chain.now
    chain.run(SETTLE)
    lies = cube_pose(chain, cube)
    if onto:
        base, allowed = np.array(cube_pose(chain, onto)[:3]) + (0.0, 0.0, CUBE_EDGE), CUBE_EDGE / 2
    else:
        base, allowed = np.array([*cell.place_zone, cell.bench_height + CUBE_EDGE / 2]), cell.place_zone_radius
    off = float(np.hypot(lies[0] - base[0], lies[1] - base[1]))
    success = finished and off < allowed and abs(lies[2] - base[2]) < _LEVEL
    return Outcome(success, lies, off, operator.tries, seconds, chain.log)
