"""Fuzz runs: drawn from a seed, played, and when the envelope is left, cut down to the steps that it takes."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from teleop_common.limits import RobotLimits
from teleop_safety.fuzz import drawing, steps
from teleop_safety.fuzz.oracle import Violation
from teleop_safety.fuzz.steps import Written
from teleop_safety.fuzz.world import Setup, World

_EPISODE = 3000  # calls of the guard in one run


@dataclass
class Found:
    """A violation.

    Attributes:
        text: what did not hold.
        setup: how the run began.
        steps: what was done.
    """

    text: str
    setup: Setup
    steps: list[Written]


@dataclass
class Report:
    """What a fuzz run did.

    Attributes:
        steps: calls of the guard.
        runs: how many were begun.
        moves: motion commits of one arm.
        found: violations, cut down.
    """

    steps: int = 0
    runs: int = 0
    moves: int = 0
    found: list[Found] = field(default_factory=list)


def draw_setup(r: random.Random, real: float = 0.0) -> Setup:
    """Draw how a run begins; a share of ``real`` has the collision filter itself."""
    setup = Setup(
        quick=r.random() < 0.7,
        low_pass=r.choice((0.0, 0.01)),
        walls=r.random() < 0.4,
        start=tuple(drawing.joints(r)) if r.random() < 0.5 else (),
        torque=r.random() < 0.9,
    )
    return setup._replace(real=True) if real and r.random() < real else setup


def play(robot: RobotLimits, setup: Setup, written: Iterable[Written]) -> tuple[World, str]:
    """Play steps; return the world after them and what did not hold, empty when all did."""
    world = World(robot, setup)
    for step in written:
        text = attempt(world, step)
        if text:
            return world, text
    return world, ""


def attempt(world: World, step: Written) -> str:
    """Do one step; return what did not hold."""
    try:
        steps.apply(world, step)
    except Violation as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - whatever the guard raises is a finding
        return f"E8: the guard raised {type(error).__name__}: {error}"
    return ""


def shrink(robot: RobotLimits, found: Found, budget: int = 200) -> Found:
    """Leave out steps as long as the same sentence stays broken; ``budget`` bounds the trials."""
    written, text, size = list(found.steps), found.text, max(1, len(found.steps) // 2)
    while size and budget > 0:
        i, smaller = 0, False
        while i < len(written) and budget > 0:
            budget -= 1
            shorter = written[:i] + written[i + size :]
            _world, again = play(robot, found.setup, shorter)
            if again.split(":")[0] == text.split(":")[0]:
                written, text, smaller = shorter, again, True
            else:
                i += size
        if not smaller or size > 1:
            size //= 2
    return Found(text, found.setup, written)


def fuzz(robot: RobotLimits, count: int, seed: int, stop_after: int = 1, tell: Any = None, real: float = 0.0) -> Report:
    """Call the guard at least ``count`` times, from ``seed``; end early after ``stop_after`` violations.

    Args:
        robot: the robot of both arms.
        count: calls of the guard.
        seed: of everything that is drawn.
        stop_after: see above.
        tell: called with the report after each run.
        real: share of the runs that have the collision filter itself, which takes some ten times as long.
    """
    report = Report()
    while report.steps < count:
        r = random.Random(f"{seed}:{report.runs}")
        setup, written = draw_setup(r, real), []
        world, text = World(robot, setup), ""
        while not text and world.steps < min(_EPISODE, count - report.steps):
            written.append(steps.draw(r))
            text = attempt(world, written[-1])
        report.runs += 1
        report.steps += world.steps
        report.moves += world.moves
        if text:
            report.found.append(shrink(robot, Found(text, setup, written)))
            if len(report.found) >= stop_after:
                break
        if tell is not None:
            tell(report)
    return report
