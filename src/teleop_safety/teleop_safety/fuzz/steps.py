"""What can happen in a fuzz run: one table, name → how to do it and how to draw its arguments.

A step is plain values, ``[name, {argument: value}]``, so that a run is a list that can be written down, cut short and kept.
To teach the fuzzer something new, add a row to ``STEPS``.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

from teleop_common.enums import Session
from teleop_safety.fuzz import drawing, trouble
from teleop_safety.fuzz.drawing import Arguments
from teleop_safety.fuzz.world import ARMS, FRAME_NS, START, World, hand, pose
from teleop_safety.settings import Instant

Draw = Callable[[random.Random], Arguments]


class Step(NamedTuple):
    """One row of the table.

    Attributes:
        do: does it to a world; further arguments are those of the step.
        draw: draws the arguments.
        weight: how often it is drawn.
    """

    do: Callable[..., None]
    draw: Draw
    weight: int = 1


# --- the ordinary
def _flow(world: World, periods: int) -> None:
    world.flow(periods)


def _set_grip(world: World, side: str, squeeze: float, tracked: bool = True, connected: bool = True) -> None:
    world.hands[side] = hand(squeeze, tracked, connected)


def _engage(world: World, sides: list[str]) -> None:
    """Open, close and wait until the countdown is over."""
    for squeeze in (0.0, 1.0):
        for side in sides:
            world.hands[side] = hand(squeeze)
        world.flow(3)
    world.flow(round(world.settings.countdown * 1e9 / FRAME_NS))


def _drive(world: World, targets: dict[str, list[float]], speed: float, periods: int) -> None:
    """Engage and go somewhere."""
    _engage(world, list(targets))
    for arm, target in targets.items():
        world.aim(arm, target, speed)
    world.flow(periods)


def _draw_drive(r: random.Random) -> Arguments:
    arms = r.choice((["left"], ["right"], list(ARMS), list(ARMS)))
    return {"targets": {arm: drawing.joints(r) for arm in arms}, "speed": drawing.speed(r), "periods": r.randint(5, 60)}


def _well(world: World) -> None:
    """Everything that is broken is mended; grips are as they were."""
    world.frames_alive = world.session_alive = world.targets_alive = True
    world.session_state, world.pairing, world.head = int(Session.RUNNING), ARMS, pose()
    for driver in world.drivers.values():
        driver.torque = driver.joints_alive = driver.state_alive = True
        driver.estop = driver.blocked = driver.deaf = False
        driver.error = ""
    world.now = Instant(world.now.mono, world.now.mono - START.mono + START.ros)
    world.flow(1)
    world.send("reset")
    world.flow(10)


def _nothing(_random: random.Random) -> Arguments:
    return {}


STEPS: dict[str, Step] = {
    "flow": Step(_flow, lambda r: {"periods": r.randint(1, 25)}, 14),
    "engage": Step(_engage, lambda r: {"sides": r.choice((["left"], ["right"], ["left", "right"], ["left", "right"]))}, 4),
    "drive": Step(_drive, _draw_drive, 10),
    "aim": Step(World.aim, lambda r: {"arm": drawing.side(r), "target": drawing.joints(r), "speed": drawing.speed(r)}, 5),
    "well": Step(_well, _nothing, 8),
    "grip": Step(_set_grip, drawing.grip, 3),
    "head": Step(trouble.head, lambda r: {"tracked": r.random() < 0.5}),
    "wait": Step(trouble.wait, lambda r: {"seconds": r.choice((0.0, 0.001, 0.05, 0.3, 1.2)), "ticks": r.randint(0, 4)}, 2),
    "silence": Step(
        trouble.silence,
        lambda r: {
            "what": r.choice(("frames", "session", "targets", "joints", "state")),
            "arm": drawing.side(r),
            "alive": r.random() < 0.4,
        },
        2,
    ),
    "clock": Step(trouble.clock, lambda r: {"hours": r.choice((-1, 1))}),
    "clock_back": Step(trouble.clock_back, _nothing, 2),
    "again": Step(trouble.again, lambda r: {"back": r.randint(0, 59)}, 3),
    "shuffle": Step(trouble.shuffle, lambda r: {"arm": drawing.side(r), "seed": r.randrange(1000)}, 3),
    "burst": Step(trouble.burst, lambda r: {"frames": r.randint(2, 10), "apart": r.choice((0.0, 0.00005, 0.001))}, 2),
    "odd_frame": Step(trouble.odd_frame, trouble.draw_frame, 2),
    "reconnect": Step(trouble.reconnect, _nothing),
    "odd_targets": Step(trouble.odd_targets, trouble.draw_targets, 4),
    "odd_joints": Step(trouble.odd_joints, trouble.draw_joints, 2),
    "push": Step(trouble.push, lambda r: {"arm": drawing.side(r), "by": r.uniform(-0.5, 0.5)}),
    "driver": Step(trouble.driver, trouble.draw_driver, 2),
    "odd_driver": Step(trouble.odd_driver, trouble.draw_odd_driver),
    "session": Step(trouble.session, trouble.draw_session),
    "home": Step(trouble.home, lambda r: {"arms": r.choice(([], ["left"], ["right"], ["left", "right"], ["third"]))}, 3),
    "own": Step(trouble.own, trouble.draw_own, 4),
    "odd_own": Step(
        trouble.odd_own,
        lambda r: {"arm": r.choice((*ARMS, "third")), "name": r.choice(("policy", "replay")), "acquire": r.random() < 0.5},
    ),
    "odd_external": Step(trouble.odd_external, trouble.draw_external, 2),
    "stop": Step(lambda world: world.send("stop"), _nothing),
    "reset": Step(lambda world: world.send("reset"), _nothing),
    "restart_guard": Step(lambda world: world.restart_guard(), _nothing),
    "reload_guard": Step(lambda world: world.reload_guard(), _nothing),
}

Written = list[Any]  # [name, arguments]


def apply(world: World, written: Written) -> None:
    """Do one written step.

    Raises:
        KeyError: no such step.
        Violation: the envelope was left.
    """
    name, arguments = written
    STEPS[name].do(world, **arguments)


def draw(r: random.Random) -> Written:
    """Draw one step."""
    name = r.choices(list(STEPS), [step.weight for step in STEPS.values()])[0]
    return [name, STEPS[name].draw(r)]
