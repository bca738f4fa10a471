"""The guard's check of a step beside its parts and beside MuJoCo, on one path of two arms that meet and part again.

Both arms are asked to swing towards each other and back at 90 Hz, measured joints lagging by 60 ms, and the guard commits what it
may of that, so that most steps are far from contact and some are pressed on the margin and slide. Everybody judges the same: the
steps that the guard on pieces had to judge, and the configurations where they lead.

- ``ours/pieces``, ``ours/hulls``, ``ours/capsules``: the filter's verdict on a step, checked everywhere along it and on the way
  to it from the measurement; ``ours/cut`` are those on pieces that it did not let pass;
- ``ours/commit``: the whole of it, from a targets message to commands and authority, both arms, pieces, sliding;
- ``static/capsules``, ``static/hulls``, ``static/pieces``: distances of every pair at one configuration, no rule;
- ``mujoco/hulls``, ``mujoco/pieces``: ``mj_geomDistance`` of the same solids and pairs.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np
import pinocchio as pin

from teleop_common import cell, limits
from teleop_common.enums import Authority, PoseFlags, Session
from teleop_common.records import (
    Controller,
    DriverState,
    Header,
    JointState,
    JointTarget,
    JointTargets,
    SessionState,
    TeleopFrame,
    TrackedPose,
)
from teleop_safety import pieces, shapes, space
from teleop_safety.collision import CollisionFilter
from teleop_safety.envelope import Envelope, Pose, Verdict
from teleop_safety.guard import Guard
from teleop_safety.layer import Solid
from teleop_safety.settings import Instant, Settings
from teleop_safety.space import Space

ROOT = Path(__file__).resolve().parents[1]
ARMS = ("left", "right")
FRAMES = 1800
FRAME = 11_111_111
LAG = 5  # frames by which measured joints follow the commit
MARGIN, FLOOR = 0.015, 0.001
EVERY = 8  # of the configurations are judged by what may take milliseconds each


def swing(k: int) -> dict[str, tuple[float, ...]]:
    """Return the joints of both arms at frame ``k`` [rad]: reaching forwards, meeting about once in 6 s."""
    t = k / 90.0
    pan = 0.28 * (1.0 - math.cos(t))
    lift, elbow, flex = 0.2 + 0.2 * math.sin(0.7 * t), 0.1 * math.sin(1.3 * t), 0.3 + 0.2 * math.sin(0.9 * t)
    reach = (lift, elbow, flex, 0.0486795 + 0.5 * math.sin(1.1 * t), 0.3)
    return {"left": (pan, *reach), "right": (-pan, *reach)}


def percentiles(seconds: list[float], pairs: int) -> dict[str, float]:
    """Return the figures of one contender."""
    p50, p99 = np.percentile(np.array(seconds) * 1e6, [50, 99])
    return {"p50_us": round(float(p50), 1), "p99_us": round(float(p99), 1), "pairs": pairs}


class Asked(NamedTuple):
    """A step that the guard had judged: start and goal of the arms, and measured joints; and whether it was cut."""

    start: Pose
    goal: Pose
    measured: Pose
    cut: bool

    def joints(self) -> np.ndarray:
        """Return where the step leads, all joints [rad]."""
        return np.array([q for arm in ARMS for q in (self.goal.get(arm) or self.start[arm])])


class Listening:
    """The envelope of a filter that keeps the steps that it is asked to judge."""

    enabled = True

    def __init__(self, envelope: CollisionFilter) -> None:
        """Have heard nothing yet."""
        self.geometry, self.clearance = envelope.geometry, envelope.clearance
        self.asked: list[Asked] = []
        self._judge = envelope.judge

    def judge(self, start: Pose, goal: Pose, measured: Pose) -> Verdict:
        """Judge and keep."""
        verdict = self._judge(start, goal, measured)
        self.asked.append(Asked(start, goal, measured, verdict.least < 1.0 or bool(verdict.floor)))
        return verdict


def timed(call: Callable[[Any], Any], arguments: list[Any]) -> list[float]:
    """Return how long each call took [s]."""
    seconds = []
    for argument in arguments:
        begun = time.perf_counter()
        call(argument)
        seconds.append(time.perf_counter() - begun)
    return seconds


def of_mujoco(scene: Space, solids: tuple[Solid, ...], pairs: list[tuple[int, int]]) -> Callable[[np.ndarray], None]:
    """Return the call that measures every pair of solids with MuJoCo, placed by Pinocchio."""
    spec = mujoco.MjSpec()
    for i, each in enumerate(solids):
        mesh = spec.add_mesh(name=f"mesh{i}", uservert=each.corners.flatten().tolist())
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
        spec.worldbody.add_body(name=f"body{i}", mocap=True).add_geom(
            name=f"geom{i}", type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f"mesh{i}", contype=0, conaffinity=0
        )
    model = spec.compile()
    data, own = mujoco.MjData(model), scene.model.createData()
    ids = [(model.geom(f"geom{a}").id, model.geom(f"geom{b}").id) for a, b in pairs]
    quaternion = np.empty(4)

    def call(q: np.ndarray) -> None:
        pin.forwardKinematics(scene.model, own, q)
        for i, each in enumerate(solids):
            place = own.oMi[each.joint]
            mujoco.mju_mat2Quat(quaternion, place.rotation.flatten())
            data.mocap_pos[i], data.mocap_quat[i] = place.translation, quaternion
        mujoco.mj_kinematics(model, data)
        for a, b in ids:
            mujoco.mj_geomDistance(model, data, a, b, 1.0, None)

    return call


def static(scene: Space, geometry: pin.GeometryModel) -> Callable[[np.ndarray], None]:
    """Return the call that measures every pair of ``geometry`` once with Pinocchio and coal."""
    own, placed = scene.model.createData(), geometry.createData()
    results = list(placed.distanceResults)

    def call(q: np.ndarray) -> None:
        pin.computeDistances(scene.model, own, geometry, placed, q)
        min(result.min_distance for result in results)

    return call


def commits(guard: Guard, names: dict[str, tuple[str, ...]]) -> list[float]:
    """Drive both arms along the path through the whole core and return the time of each targets call [s]."""
    at, epoch = Instant(10**12, 10**18), 1
    tracked = TrackedPose(flags=int(PoseFlags.ALL))
    measured = [swing(0)] * LAG
    seconds = []
    for sequence, k in enumerate(range(-120, FRAMES), 1):
        at = Instant(at.mono + FRAME, at.ros + FRAME)
        header = Header(at.ros)
        for arm in ARMS:
            guard.on_joint_state(at, arm, JointState(header, names[arm], measured[0][arm], (1.0,) * len(names[arm])))
            if k % 9 == 0:
                goal = guard.arms[arm].reference or swing(0)[arm]
                guard.on_driver_state(at, arm, DriverState(header, 1, names[arm], True, goal=goal))
        guard.on_session(at, SessionState(header, int(Session.RUNNING), "bench", epoch=epoch, arm=ARMS, hand=ARMS))
        hand = Controller(True, tracked, tracked, squeeze=1.0 if k > -110 else 0.0)
        guard.on_frame(at, TeleopFrame(header, "bench", 1, sequence, head=tracked, left=hand, right=hand))
        pose = swing(max(k, 0))
        arms = tuple(
            JointTarget(arm, "operator", guard.arms[arm].engage, (0,) * len(names[arm]), names[arm], pose[arm]) for arm in ARMS
        )
        targets = JointTargets(header, at.ros, 1, sequence, 0, epoch, arms=arms)
        begun = time.perf_counter()
        guard.on_targets(at, targets)
        if k >= 0:
            seconds.append(time.perf_counter() - begun)
        if k >= 0 and any(state.authority != Authority.DRIVING for state in guard.arms.values()):
            raise RuntimeError(f"frame {k}: the bench must drive both arms, found {[s.reason for s in guard.arms.values()]}")
        measured = [*measured[1:], {arm: state.reference or pose[arm] for arm, state in guard.arms.items()}]
    return seconds


def run() -> dict[str, Any]:
    """Return the figures of each contender."""
    robot, room = limits.load(ROOT / "config/limits/so101.yaml"), cell.load(ROOT / "config/cell.yaml")
    scene = space.build(ARMS, robot, room, shapes.load(robot))
    cut = pieces.cached(robot)
    if cut is None:
        cut = pieces.make(robot)
        pieces.store(pieces.cache(robot), cut)
    parts, result = space.in_pieces(scene, cut), {}
    grip = len(robot.joints)
    filters = {each: CollisionFilter(ARMS, scene, MARGIN, FLOOR, grip, each) for each in ("hulls", "capsules")}
    filters["pieces"] = filters["hulls"].in_pieces(cut)
    pairs = {"pieces": len(parts.pairs), "hulls": scene.floor, "capsules": scene.floor}
    names = {arm: robot.arm_names(arm) for arm in ARMS}

    def drive(envelope: Envelope) -> list[float]:
        return commits(Guard(ARMS, robot, Settings(leash=robot.leash_simulation), envelope, dict.fromkeys(ARMS, 1)), names)

    listening = Listening(filters["pieces"])
    drive(listening)
    asked = listening.asked
    for geometry, envelope in filters.items():
        seconds = timed(lambda step, judge=envelope.judge: judge(*step[:3]), asked)
        result[f"ours/{geometry}"] = percentiles(seconds, pairs[geometry])
    result["ours/cut"] = percentiles([t for t, step in zip(seconds, asked) if step.cut], pairs["pieces"])
    result["ours/commit"] = percentiles(drive(filters["pieces"]), pairs["pieces"])
    some = [step.joints() for step in asked[::EVERY]]
    for geometry, model in (("capsules", scene.coarse), ("hulls", scene.fine), ("pieces", parts.geometry)):
        result[f"static/{geometry}"] = percentiles(timed(static(scene, model), some), pairs[geometry])
    theirs = {"hulls": (scene.hulls, list(scene.pairs[: scene.floor]))}
    theirs["pieces"] = (parts.solids, [(pair.one, pair.two) for pair in parts.pairs])
    for geometry, (solids, chosen) in theirs.items():
        result[f"mujoco/{geometry}"] = percentiles(timed(of_mujoco(scene, solids, chosen), some), pairs[geometry])
    return result


if __name__ == "__main__":
    json.dump({"guard": run()}, sys.stdout, indent=1)
    print()
