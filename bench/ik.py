"""Inverse kinematics on a reachable path at 90 Hz: our solvers beside pink, mink and placo, one process after another.

The path is the tool's along a smooth joint motion, so position and attitude are both reachable by a five-joint arm. Every
solver gets one call a frame, starts where its own last answer was, and is judged by the same forward kinematics. Peers get one
step of their quadratic program a frame, as in their own examples; attitude weighs a tenth of position.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from teleop_common import limits
from teleop_description.assets import mjcf_path, urdf_path
from teleop_ik.kinematics import Chain, Joints, forward, quat_from_mat
from teleop_ik.setup_arms import make_solver, read_chain
from teleop_ik.solver import Bounds, Target, rotation_between

ROOT = Path(__file__).resolve().parents[1]
HZ = 90.0
FRAMES = 1800
ROUNDS = 3
ORIENTATION_COST = 0.1
Answer = Callable[[Target], Joints]


def reachable_path() -> list[Joints]:
    """Return the joints along the path [rad]: up to 1 rad/s, well inside the limits, elevation always below 60°."""
    path = []
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
        joints = answer(target)
        seconds.append(time.perf_counter() - start)
        answers.append(joints)
    return answers, seconds


def ours(name: str, chain: Chain, bounds: Bounds, start: Joints) -> Answer:
    """Return one of our solvers, fed with its own last answer."""
    solver, last = make_solver(name, chain), start

    def answer(target: Target) -> Joints:
        nonlocal last
        last = solver.solve(target, last, last, bounds, 1.0 / HZ).joints
        return last

    return answer


def pink(start: Joints) -> Answer:
    """Return pink with daqp."""
    import numpy as np
    import pink as peer
    import pinocchio as pin

    full = pin.buildModelFromUrdf(str(urdf_path("so101")))
    model = pin.buildReducedModel(full, [full.getJointId("gripper")], pin.neutral(full))
    configuration = peer.Configuration(model, model.createData(), np.array(start))
    task = peer.FrameTask("gripper_frame_link", position_cost=1.0, orientation_cost=ORIENTATION_COST, lm_damping=1e-6)

    def answer(target: Target) -> Joints:
        task.set_target(pin.SE3(np.reshape(target.rotation, (3, 3)), np.array(target.position)))
        velocity = peer.solve_ik(configuration, [task], 1.0 / HZ, solver="daqp")
        configuration.integrate_inplace(velocity, 1.0 / HZ)
        return tuple(configuration.q)

    return answer


def mink(start: Joints) -> Answer:
    """Return mink with daqp, on the MuJoCo model; its tool site is turned by 90° about y from the URDF's tool frame."""
    import mink as peer
    import mujoco
    import numpy as np

    model = mujoco.MjModel.from_xml_path(str(mjcf_path("so101")))
    configuration = peer.Configuration(model)
    configuration.update(np.array([*start, 0.0]))
    task = peer.FrameTask("gripperframe", "site", position_cost=1.0, orientation_cost=ORIENTATION_COST, lm_damping=1e-6)
    limit = [peer.ConfigurationLimit(model)]
    here = forward(read_chain(urdf_path("so101"), limits.load(ROOT / "config/limits/so101.yaml")), start)
    site = configuration.get_transform_frame_to_world("gripperframe", "site").rotation().as_matrix()
    site_from_tool = np.reshape(here.rotation, (3, 3)).T @ site

    def answer(target: Target) -> Joints:
        rotation = peer.SO3.from_matrix(np.reshape(target.rotation, (3, 3)) @ site_from_tool)
        task.set_target(peer.SE3.from_rotation_and_translation(rotation, np.array(target.position)))
        velocity = peer.solve_ik(configuration, [task], 1.0 / HZ, solver="daqp", limits=limit)
        configuration.integrate_inplace(velocity, 1.0 / HZ)
        return tuple(configuration.q[:5])

    return answer


def placo(targets: list[Target], start: Joints) -> tuple[list[Joints], list[float]]:
    """Run placo in an environment of its own: its wheels are built against another Pinocchio than ours."""
    home = ROOT / ".cache" / "bench-placo"
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        requirements = str(ROOT / "requirements" / "bench-placo.txt")
        subprocess.run([str(python), "-m", "pip", "install", "-qq", "-r", requirements], check=True, stdout=sys.stderr)
        (home / "ready").touch()
    job = {
        "urdf": str(urdf_path("so101")),
        "dt": 1.0 / HZ,
        "orientation_cost": ORIENTATION_COST,
        "start": start,
        "targets": [[*t.position, *quat_from_mat(t.rotation)] for t in targets],
    }
    clean = {"PATH": "/usr/bin:/bin"}
    script = str(ROOT / "bench" / "ik_placo.py")
    done = subprocess.run([str(python), script], input=json.dumps(job), capture_output=True, text=True, check=True, env=clean)
    result = json.loads(done.stdout.splitlines()[-1])
    return [tuple(q) for q in result["joints"]], result["seconds"]


def run() -> dict[str, Any]:
    """Return ``path``: the figures of each solver."""
    robot = limits.load(ROOT / "config/limits/so101.yaml")
    chain = read_chain(urdf_path(robot.urdf), robot)
    bounds = Bounds(
        tuple(j.lower for j in robot.joints), tuple(j.upper for j in robot.joints), tuple(j.velocity for j in robot.joints)
    )
    path = reachable_path()
    postures = [forward(chain, joints) for joints in path]
    targets = [Target(posture.position, posture.rotation) for posture in postures]
    makers: dict[str, Callable[[], tuple[list[Joints], list[float]]]] = {
        "ours/analytic": lambda: timed(ours("analytic", chain, bounds, path[0]), targets),
        "ours/differential": lambda: timed(ours("differential", chain, bounds, path[0]), targets),
        "pink": lambda: timed(pink(path[0]), targets),
        "mink": lambda: timed(mink(path[0]), targets),
        "placo": lambda: placo(targets, path[0]),
    }
    result: dict[str, dict[str, float]] = {}
    times: dict[str, list[float]] = {who: [] for who in makers}
    for _ in range(ROUNDS):  # in turn, so that no solver has the machine's quiet minute for itself
        for who, make in makers.items():
            answers, seconds = make()
            times[who] += seconds
            result[who] = figures(chain, targets, answers, times[who])
    return {"path": result}


if __name__ == "__main__":
    json.dump({"ik": run()}, sys.stdout, indent=1)
    print()
