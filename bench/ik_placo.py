"""Runs placo over a path, in its own environment: a job as JSON on standard input, joints and times on standard output."""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import placo


def pose(values: list[float]) -> np.ndarray:
    """Return the 4x4 transform of a position and a quaternion (x, y, z, w)."""
    px, py, pz, x, y, z, w = values
    matrix = np.eye(4)
    matrix[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    matrix[:3, 3] = (px, py, pz)
    return matrix


def main() -> None:
    """Read the job, follow the path, print the answer."""
    job = json.load(sys.stdin)
    robot = placo.RobotWrapper(job["urdf"], placo.Flags.ignore_collisions)
    names = list(robot.joint_names())[: len(job["start"])]
    for name, value in zip(names, job["start"], strict=True):
        robot.set_joint(name, value)
    robot.update_kinematics()
    solver = placo.KinematicsSolver(robot)
    solver.mask_fbase(True)
    solver.dt = job["dt"]
    task = solver.add_frame_task("gripper_frame_link", pose(job["targets"][0]))
    task.configure("tool", "soft", 1.0, job["orientation_cost"])
    answers, seconds = [], []
    for target in job["targets"]:
        matrix = pose(target)
        start = time.perf_counter()
        task.T_world_frame = matrix
        solver.solve(True)
        robot.update_kinematics()
        seconds.append(time.perf_counter() - start)
        answers.append([robot.get_joint(name) for name in names])
    print(json.dumps({"joints": answers, "seconds": seconds}))


if __name__ == "__main__":
    main()
