"""Plays hard streams to an arm with servos, and judges what it did. Pure: who is driven comes as an argument."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from bench.ik.closest import Closest, Search
from bench.ik.servo import Servo, follow, settled
from bench.ik.streams import HZ, Still, Stream
from teleop_ik.kinematics import Chain, Joints, forward
from teleop_ik.solver import Bounds, Target, rotation_between

STANDS = 1e-6  # [rad], a step shorter than this is none
MOVED = (1e-4, math.radians(0.05))  # [m], [rad], beyond either the closest pose has moved
ON_HAND = (1e-3, math.radians(1.0))  # [m], [rad], within both the tool is on the hand
REACHABLE = (1e-5, math.radians(0.1))  # [m], [rad], within which the closest pose is the asked one
SPARE = 0.15  # [s], aim: on the hand again after needed joint travel / greatest speed, and this
SETTLING = 0.2  # [s], for which a still hand is held after engaging outside a limit
OUTSIDE = (math.radians(3.0), math.radians(15.0))
Driver = Callable[[Target, Joints], Joints]  # the next command for a target, from measured joints; may raise
Maker = Callable[[Joints], Driver]  # a driver for an arm that is commanded these joints


class Run(NamedTuple):
    """What happened, one entry a frame.

    Attributes:
        start: first command, before the first frame [rad].
        commands: [rad].
        measured: joints when the frame was over [rad].
        raised: how often the driver raised an exception.
    """

    start: Joints
    commands: tuple[Joints, ...]
    measured: tuple[Joints, ...]
    raised: int


def play(targets: tuple[Target, ...], make: Maker, servo: Servo, measured: Joints) -> Run:
    """Return what an arm at rest at ``measured`` does; after an exception it repeats its last command."""
    state, command = settled(servo, measured)
    drive = make(command)
    start, commands, places, raised = command, [], [], 0
    for target in targets:
        try:
            command = drive(target, state.measured)
        except Exception:  # noqa: BLE001 - whatever a peer raises is counted
            raised += 1
        state = follow(servo, state, command, 1.0 / HZ)
        commands.append(command)
        places.append(state.measured)
    return Run(start, tuple(commands), tuple(places), raised)


def speeds(run: Run) -> list[Joints]:
    """Return the speed of the commands in each frame [rad/s]."""
    before = (run.start, *run.commands)
    return [tuple([HZ * (b - a) for a, b in zip(then, now)]) for then, now in zip(before, run.commands)]


def worst(run: Run) -> tuple[float, float]:
    """Return the greatest speed [rad/s] and change of speed [rad/s²] of any joint."""
    rates = speeds(run)
    speed = max(abs(v) for rate in rates for v in rate)
    rest = (0.0,) * len(run.start)
    return speed, max(HZ * abs(b - a) for then, now in zip((rest, *rates), rates) for a, b in zip(then, now))


def frozen(stream: Stream, run: Run, search: Search) -> int:
    """Return the number of steps that stood still although the closest reachable pose had moved."""
    count, near = 0, run.start
    for k in range(1, len(run.commands)):
        now, then = stream.targets[k], stream.targets[k - 1]
        if now == then or math.dist(run.commands[k], run.commands[k - 1]) >= STANDS:
            continue
        before = search.closest(then)
        near = before.joints
        after = search.closest(now, near if math.dist(now.position, then.position) < 0.02 else None)
        moved, turned = math.dist(before.position, after.position), math.hypot(*rotation_between(before.rotation, after.rotation))
        count += moved > MOVED[0] or turned > MOVED[1]
    return count


def residual(chain: Chain, stream: Stream, run: Run, search: Search) -> float:
    """Return the worst distance [m] of the resting tool from the closest reachable point, the hand resting, too."""
    errors = []
    for still in stream.stills:
        best = search.closest(stream.targets[still.last])
        errors.append(math.dist(forward(chain, run.measured[still.last]).position, best.position))
    return max(errors)


def off_hand(chain: Chain, joints: Joints, target: Target, attitude: bool) -> bool:
    """Return whether the tool is off the hand."""
    posture = forward(chain, joints)
    if math.dist(posture.position, target.position) > ON_HAND[0]:
        return True
    return attitude and math.hypot(*rotation_between(target.rotation, posture.rotation)) > ON_HAND[1]


def back(chain: Chain, targets: tuple[Target, ...], run: Run, still: Still, attitude: bool) -> float | None:
    """Return the time [s] from a hand's coming to rest until the tool is on it for good, None when it never is."""
    for k in range(still.last, still.first - 1, -1):
        if off_hand(chain, run.measured[k], targets[k], attitude):
            return None if k == still.last else (k + 1 - still.first + 1) / HZ
    return 0.0


def allowance(run: Run, still: Still, bounds: Bounds, servo: Servo) -> float:
    """Return within what time [s] the arm shall be back: its own joint travel at the greatest speed, and SPARE.

    A joint that moves away when the hand comes to rest brakes first, which lengthens its travel. Servos take their delay and
    three time constants longer.
    """
    before, then, last = (run.start, *run.commands)[still.first - 1], run.commands[still.first - 1], run.commands[still.last]
    longest = 0.0
    for a, b, c, top, gain in zip(before, then, last, bounds.velocity, bounds.acceleration):
        away = max(0.0, min(top, -math.copysign(HZ, c - b) * (b - a)))
        longest = max(longest, away / gain + (abs(c - b) + 0.5 * away * away / gain) / top)
    return longest + SPARE + servo.delay + 3.0 * servo.lag


def reachable(stream: Stream, search: Search) -> list[tuple[Still, bool]]:
    """Return the rests of a hand whose position can be had, and whether its attitude can."""
    places: list[tuple[Still, Closest]] = [(still, search.closest(stream.targets[still.last])) for still in stream.stills]
    return [(still, place.turn < REACHABLE[1]) for still, place in places if place.distance < REACHABLE[0]]


def figures(chain: Chain, stream: Stream, run: Run, search: Search) -> dict[str, float | int | None]:
    """Return the figures of one run; ``return_s`` is None when a rest ended with the tool off the hand."""
    speed, acceleration = worst(run)
    returns = [back(chain, stream.targets, run, *rest) for rest in reachable(stream, search)]
    return {
        "worst_speed_rad_s": speed,
        "worst_acceleration_rad_s2": acceleration,
        "frozen_steps": frozen(stream, run, search),
        "return_s": None if None in returns else max(r for r in returns if r is not None),
        "residual_mm": 1e3 * residual(chain, stream, run, search),
        "raised": run.raised,
    }


def late(chain: Chain, stream: Stream, run: Run, search: Search, bounds: Bounds, servo: Servo) -> float:
    """Return by how much [s] the worst return missed its allowance; negative: none did, infinite: it never came."""
    values = []
    for still, attitude in reachable(stream, search):
        took = back(chain, stream.targets, run, still, attitude)
        values.append(math.inf if took is None else took - allowance(run, still, bounds, servo))
    return max(values)


def reengage(chain: Chain, make: Maker, servo: Servo, home: Joints, bounds: Bounds) -> float | None:
    """Return the greatest change of a joint [rad] when an arm outside a limit is engaged with a still hand; None: it raised."""
    change = 0.0
    for joint, (low, high) in enumerate(zip(bounds.lower, bounds.upper)):
        for beyond in OUTSIDE:
            for place in (low - beyond, high + beyond):
                command = tuple([place if i == joint else q for i, q in enumerate(home)])
                measured = tuple([q + d for q, d in zip(command, servo.droop)]) if servo.droop else command
                posture = forward(chain, measured)
                run = play((Target(posture.position, posture.rotation),) * round(SETTLING * HZ), make, servo, measured)
                if run.raised:
                    return None
                change = max(change, *(abs(a - b) for q in run.commands for a, b in zip(q, run.start)))
    return change
