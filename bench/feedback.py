"""What the age of feedback costs, and what closing the loop buys: figures of docs/retargeting.md.

Everything runs in lockstep (``teleop_bringup.lockstep``): the figures are the same each time. ``python -m bench.feedback``
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from teleop_bringup.lockstep import Hands, Lockstep
from teleop_bringup.lockstep_cores import Options
from teleop_common import cell, limits
from teleop_common.enums import PoseFlags
from teleop_common.records import Controller, Pose, Quat, SimState, TrackedPose, Vec3
from teleop_common.spatial import quat_from_axis_angle, quat_multiply
from teleop_description.arm_spec import ArmOptions
from teleop_description.assets import urdf_path
from teleop_ik.kinematics import Chain, forward
from teleop_ik.setup_arms import read_chain

ROOT = Path(__file__).resolve().parents[1]
ALL = int(PoseFlags.ALL)
BEGIN, LENGTH = 2.0, 7.0  # [s]: when the hand starts, and how long it moves
SERVOS = {
    "stiff (3 ms)": ArmOptions(),
    "60 ms lag": ArmOptions(kv=60.0),
    "2 deg droop": ArmOptions(kp=14.5, kv=0.27),
}
# droops the same, and does not overshoot of its own
DAMPED = ArmOptions(kp=14.5, kv=1.5)
SOLVERS = ("differential", "analytic")


@dataclass
class Tracer:
    """Draws an eight of 12 by 6 cm, 4 cm deep, in 4 s, rocking the hand by 10 degrees; a path on which no limit bites."""

    end: float = math.inf

    def offset(self, now: float) -> Vec3:
        """Return how far the hand is from its rest at ``now`` [s], world axes [m]; from ``end`` on it stands."""
        t = max(min(now, self.end) - BEGIN, 0.0)
        a, grown = 2.0 * math.pi * t / 4.0, min(t, 1.0)
        return (grown * 0.02 * math.sin(2.0 * a + 1.0), grown * 0.06 * math.sin(a), grown * 0.03 * math.sin(2.0 * a))

    def turn(self, now: float) -> Quat:
        """Return the hand's attitude, OpenXR axes."""
        t = max(min(now, self.end) - BEGIN, 0.0)
        a = math.radians(10.0) * math.sin(2.0 * math.pi * t / 3.0)
        return quat_multiply(quat_from_axis_angle((1.0, 0.0, 0.0), a), quat_from_axis_angle((0.0, 0.0, 1.0), a))

    def hands(self, now: float, seen: SimState) -> Hands:
        """See ``lockstep.Operator``."""
        x, y, z = self.offset(now)
        pose = TrackedPose(Pose((0.25 - y, 1.2 + z, -0.4 - x), self.turn(now)), ALL)
        squeeze = 1.0 if now > 0.5 else 0.0
        rest = TrackedPose(Pose((-0.25, 1.2, -0.4)), ALL)
        head = TrackedPose(Pose((0.0, 1.6, 0.0)), ALL)
        return Hands(head, Controller(True, rest, rest), Controller(True, pose, pose, 0.0, squeeze))


class Study:
    """Runs of one robot in one cell."""

    def __init__(self) -> None:
        """Read robot and cell."""
        self.robot = limits.load(ROOT / "config/limits/so101.yaml")
        self.cell = cell.load(ROOT / "config/cell.yaml")
        self.chain: Chain = read_chain(urdf_path(self.robot.urdf), self.robot)

    def tool(self, joints: tuple[float, ...]) -> np.ndarray:
        """Return the tool (3,) in the arm's base [m]."""
        return np.array(forward(self.chain, joints[: len(self.robot.joints)]).position)

    def drive(self, **options: object) -> Lockstep:
        """Return the chain after the whole path; joint states as often as physics allows, so that their age is what is asked."""
        chosen = Options(joint_state_hz=500.0, tick_hz=500.0, collision=False, **options)  # type: ignore[arg-type]
        chain = Lockstep(Tracer(), self.robot, self.cell, chosen)
        chain.run(BEGIN + LENGTH)
        return chain

    def commanded(self, chain: Lockstep) -> np.ndarray:
        """Return the tool at each target's joints (n, 3), unguarded, from the time the hand moves [m]."""
        return np.array([self.tool(arm.position) for arm in _targets(chain)])

    def behind(self, chain: Lockstep) -> tuple[float, float]:
        """Return rms and 99th percentile of the distance between measured tool and hand [mm], both counted from the start."""
        samples = [(s.header.stamp - chain.log.frames[0].header.stamp, s) for s in chain.log.joints["right"]]
        start = next(self.tool(s.position) for t, s in samples if t >= 1e9 * (BEGIN - 0.01))
        off = [
            self.tool(s.position) - start - np.array(Tracer().offset(1e-9 * t)) for t, s in samples if t >= 1e9 * (BEGIN + 1.0)
        ]
        lengths = 1e3 * np.linalg.norm(off, axis=1)
        return float(np.sqrt(np.mean(lengths**2))), float(np.percentile(lengths, 99))


def _targets(chain: Lockstep) -> list:
    begin = chain.log.frames[0].header.stamp + round(1e9 * BEGIN)
    return [arm for t in chain.log.targets if t.origin_stamp >= begin for arm in t.arms if arm.arm == "right"]


def age_table(study: Study) -> None:
    """Print what feedback of an age costs: against the hand, and against fresh feedback."""
    print("Tool behind the hand: rms, p99 [mm]; target off that of fresh feedback: rms, max [mm].\n")
    print("| servos | solver | Hz | feedback | behind | off |")
    print("|---|---|---|---|---|---|")
    for servo, model in SERVOS.items():
        for solver in SOLVERS:
            for hz in (30.0, 60.0, 90.0):
                fresh = None
                for name, delay, extrapolate in (
                    ("fresh", 0.0, False),
                    ("one step old", 1.0 / hz, False),
                    ("one step old, extrapolated", 1.0 / hz, True),
                    ("100 ms old", 0.1, False),
                    ("100 ms old, extrapolated", 0.1, True),
                ):
                    chain = study.drive(servo=model, solver=solver, frame_hz=hz, feedback_delay=delay, extrapolate=extrapolate)
                    tools = study.commanded(chain)
                    fresh = tools if fresh is None else fresh
                    off = 1e3 * np.linalg.norm(tools - fresh, axis=1)
                    rms, p99 = study.behind(chain)
                    print(
                        f"| {servo} | {solver} | {hz:.0f} | {name} | {rms:.2f}, {p99:.2f} "
                        f"| {np.sqrt(np.mean(off**2)):.3f}, {off.max():.3f} |",
                        flush=True,
                    )


def push_table(study: Study) -> None:
    """Print what a push of 1 s does in closed and in open loop, on drooping servos; the hand moves on for its first half."""
    print("Target, command off the arm [rad]; back within 2 mm after [s]; overshoot [mm]; rest off the hand [mm].\n")
    print("| solver | loop | torque [Nm] | target off | command off | back | overshoot | rest off |")
    print("|---|---|---|---|---|---|---|---|")
    for solver in SOLVERS:
        for torque in (2.0, 4.0):
            for loop in ("closed", "open"):
                print(
                    f"| {solver} | {loop} | {torque:g} | "
                    + " | ".join(f"{value:.3g}" for value in pushed(study, solver, loop, torque))
                    + " |"
                )


def pushed(study: Study, solver: str, loop: str, torque: float) -> tuple[float, ...]:
    """Return the figures of one push: see ``push_table``."""
    options = Options(solver=solver, feedback=loop, servo=DAMPED, joint_state_hz=500.0, tick_hz=500.0, collision=False)
    hand = Tracer(end=BEGIN + 2.5)
    chain = Lockstep(hand, study.robot, study.cell, options)
    chain.run(BEGIN)
    begin = study.tool(chain.measured("right"))
    physics = chain.cores.simulation.physics
    chain.run(2.0)
    physics.push("right", (torque, 0.0, 0.0, 0.0, 0.0, 0.0))
    chain.run(1.0)
    physics.push("right", (0.0,) * 6)
    released = chain.elapsed
    chain.run(3.0)
    stamps = {s.header.stamp - chain.log.frames[0].header.stamp: s.position[:5] for s in chain.log.joints["right"]}
    after = [(1e-9 * (t - released), study.tool(q)) for t, q in stamps.items() if t >= released]
    rest = after[-1][1]
    way = (rest - after[0][1]) / max(float(np.linalg.norm(rest - after[0][1])), 1e-9)
    late = [t for t, tool in after if np.linalg.norm(tool - rest) > 0.002]
    beyond = max(float((tool - rest) @ way) for _, tool in after)
    aside = begin + np.array(hand.offset(hand.end)) - rest
    return (
        _lead(chain, [(t.header.stamp, a.position) for t in chain.log.targets for a in t.arms if a.arm == "right"]),
        _lead(chain, [(c.header.stamp, c.position) for c in chain.log.commands["right"]]),
        late[-1] if late else 0.0,
        1e3 * beyond,
        1e3 * float(np.linalg.norm(aside)),
    )


def _lead(chain: Lockstep, asked: list[tuple[int, tuple[float, ...]]]) -> float:
    """Return how far any arm joint was asked from where it was measured at that moment [rad]."""
    measured = {s.header.stamp: s.position for s in chain.log.joints["right"]}
    stamps = np.array(sorted(measured))
    worst = 0.0
    for stamp, position in asked:
        then = measured[int(stamps[max(int(np.searchsorted(stamps, stamp, side="right")) - 1, 0)])]
        worst = max(worst, *(abs(q - m) for q, m in zip(position[:5], then[:5], strict=True)))
    return worst


if __name__ == "__main__":
    made = Study()
    push_table(made)
    print()
    age_table(made)
