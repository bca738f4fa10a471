"""Runs placo in its own environment: a request as one line of JSON on standard input, its answer as one on standard output."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
import placo


def pose(values: list[float]) -> np.ndarray:
    """Return the 4x4 transform of a position and the nine elements of a rotation."""
    matrix = np.eye(4)
    matrix[:3, 3] = values[:3]
    matrix[:3, :3] = np.reshape(values[3:], (3, 3))
    return matrix


class Arm:
    """A robot with one task, as placo's examples have it: one step of the quadratic program a call."""

    def __init__(self, job: dict[str, Any]) -> None:
        """Take ``urdf``, ``dt``, ``start``, ``orientation_cost``, and ``velocity`` (0: as placo comes, without speed limits)."""
        self.robot = placo.RobotWrapper(job["urdf"], placo.Flags.ignore_collisions)
        self.names = list(self.robot.joint_names())[: len(job["start"])]
        self.place(job["start"])
        self.solver = placo.KinematicsSolver(self.robot)
        self.solver.mask_fbase(True)
        self.solver.dt = job["dt"]
        if job["velocity"] > 0.0:
            for name in self.names:
                self.robot.set_velocity_limit(name, job["velocity"])
            self.solver.enable_velocity_limits(True)
        self.task = self.solver.add_frame_task("gripper_frame_link", np.eye(4))
        self.task.configure("tool", "soft", 1.0, job["orientation_cost"])

    def place(self, joints: list[float]) -> None:
        """Be at ``joints``."""
        for name, value in zip(self.names, joints, strict=True):
            self.robot.set_joint(name, value)
        self.robot.update_kinematics()

    def step(self, job: dict[str, Any]) -> dict[str, Any]:
        """Answer one target, from measured joints where they are given."""
        matrix = pose(job["target"])
        if job["measured"]:
            self.place(job["measured"])
        start = time.perf_counter()
        self.task.T_world_frame = matrix
        self.solver.solve(True)
        self.robot.update_kinematics()
        seconds = time.perf_counter() - start
        return {"joints": [self.robot.get_joint(name) for name in self.names], "seconds": seconds}


def main() -> None:
    """Answer requests until there are no more: ``start`` makes an arm, ``target`` asks it."""
    arm: Arm | None = None
    for line in sys.stdin:
        job = json.loads(line)
        try:
            answer: dict[str, Any] = {}
            if "start" in job:
                arm = Arm(job)
            elif arm is not None:
                answer = arm.step(job)
        except Exception as error:  # noqa: BLE001 - whatever a peer raises is counted
            answer = {"error": str(error) or type(error).__name__}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
