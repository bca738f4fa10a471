"""A reachable path at 90 Hz: one call a frame, timed, and judged by the same forward kinematics.

The path is the tool's along a smooth joint motion, so position and attitude are both reachable by a five-joint arm. Every solver
starts where its own last answer was.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from bench.ik.peers import Answer
from bench.ik.streams import HZ
from teleop_ik.kinematics import Chain, Joints, forward
from teleop_ik.solver import Bounds, Solver, Target, rotation_between

FRAMES = 1800
ROUNDS = 3


def reachable_path() -> list[Joints]:
    """Return the joints along the path [rad]: up to 1 rad/s, well inside the limits, elevation always below 60°."""
    path: list[Joints] = []
    for k in range(FRAMES):
        t = k / HZ
        lift, elbow = -0.5 + 0.45 * math.sin(0.9 * t), 0.7 + 0.4 * math.sin(1.1 * t + 0.5)
        approach = 0.5 + 0.4 * math.sin(0.7 * t)
        path.append((0.8 * math.sin(0.8 * t), lift, elbow, approach - lift - elbow, 0.05 + 0.9 * math.sin(0.6 * t)))
    return path


def percentile(values: list[float], share: float) -> float:
    """Return the value below which ``share`` of ``values`` lie."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def figures(chain: Chain, targets: list[Target], answers: list[Joints], seconds: list[float]) -> dict[str, float]:
    """Return the figures of one solver; the first 10 frames are its way onto the path."""
    position, rotation = [], []
    for target, joints in zip(targets[10:], answers[10:]):
        posture = forward(chain, joints)
        position.append(math.dist(posture.position, target.position))
        rotation.append(math.hypot(*rotation_between(target.rotation, posture.rotation)))
    return {
        "p50_us": 1e6 * percentile(seconds, 0.5),
        "p99_us": 1e6 * percentile(seconds, 0.99),
        "position_error_p99_mm": 1e3 * percentile(position, 0.99),
        "rotation_error_p99_deg": math.degrees(percentile(rotation, 0.99)),
    }


def timed(answer: Answer, targets: list[Target]) -> tuple[list[Joints], list[float]]:
    """Return the answers of one solver and the time of each call [s]."""
    answers, seconds = [], []
    for target in targets:
        start = time.perf_counter()
        joints, took = answer(target, None)
        seconds.append(time.perf_counter() - start if took is None else took)
        answers.append(joints)
    return answers, seconds


def solving(solver: Solver, bounds: Bounds, start: Joints) -> Answer:
    """Return one of our solvers, fed with its own last answer."""
    last, rate = start, (0.0,) * len(start)

    def answer(target: Target, measured: Joints | None) -> tuple[Joints, None]:
        nonlocal last, rate
        joints = solver.solve(target, last, last, bounds, 1.0 / HZ, rate).joints
        rate = tuple([HZ * (b - a) for a, b in zip(last, joints)])
        last = joints
        return joints, None

    return answer


def run(chain: Chain, makers: dict[str, Callable[[Joints], Answer]]) -> dict[str, dict[str, float]]:
    """Return the figures of each of ``makers``, which take the first joints of the path [rad]."""
    path = reachable_path()
    postures = [forward(chain, joints) for joints in path]
    targets = [Target(posture.position, posture.rotation) for posture in postures]
    result: dict[str, dict[str, float]] = {}
    times: dict[str, list[float]] = {who: [] for who in makers}
    for _ in range(ROUNDS):  # in turn, so that no solver has the machine's quiet minute for itself
        for who, make in makers.items():
            answers, seconds = timed(make(path[0]), targets)
            times[who] += seconds
            result[who] = figures(chain, targets, answers, times[who])
    return result
