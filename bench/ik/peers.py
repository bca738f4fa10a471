"""pink, mink and placo behind one interface: one step of their quadratic program a frame, as in their own examples.

Each comes as its authors ship it, and once more as ``<peer>/limited``, told the arm's greatest speed (pink its acceleration,
too). Attitude weighs a tenth of position. Where joints are measured, a peer starts its step there, which is what its closed-loop
users do (LeRobot seeds placo with the measured joints); otherwise where its own last answer was.
"""

from __future__ import annotations

import atexit
import json
import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from teleop_common.limits import RobotLimits
from teleop_description.assets import mjcf_path, urdf_path
from teleop_ik.kinematics import Chain, Joints, forward
from teleop_ik.solver import Target

ROOT = Path(__file__).resolve().parents[2]
HZ = 90.0
ORIENTATION_COST = 0.1
Answer = Callable[[Target, Joints | None], tuple[Joints, float | None]]  # joints, and the time of the call where it knows better


def pink(chain: Chain, robot: RobotLimits, start: Joints, limited: bool) -> Answer:
    """Return pink with daqp."""
    import numpy as np
    import pink as peer
    import pinocchio as pin

    logging.disable(logging.WARNING)
    full = pin.buildModelFromUrdf(str(urdf_path("so101")))
    model = pin.buildReducedModel(full, [full.getJointId("gripper")], pin.neutral(full))
    limits: list[Any] | None = None
    if limited:
        model.velocityLimit = np.array([j.velocity for j in robot.joints])
        acceleration = peer.limits.AccelerationLimit(model, np.array([j.acceleration for j in robot.joints]))
        limits = [peer.limits.ConfigurationLimit(model), peer.limits.VelocityLimit(model), acceleration]
    configuration = peer.Configuration(model, model.createData(), np.array(start))
    task = peer.FrameTask("gripper_frame_link", position_cost=1.0, orientation_cost=ORIENTATION_COST, lm_damping=1e-6)

    def answer(target: Target, measured: Joints | None) -> tuple[Joints, None]:
        if measured is not None:
            configuration.update(np.array(measured))
        task.set_target(pin.SE3(np.reshape(target.rotation, (3, 3)), np.array(target.position)))
        velocity = peer.solve_ik(configuration, [task], 1.0 / HZ, solver="daqp", limits=limits)
        if limited:
            acceleration.set_last_integration(velocity, 1.0 / HZ)
        configuration.integrate_inplace(velocity, 1.0 / HZ)
        return tuple(configuration.q.tolist()), None

    return answer


def mink(chain: Chain, robot: RobotLimits, start: Joints, limited: bool) -> Answer:
    """Return mink with daqp, on the MuJoCo model; its tool site is turned by 90° about y from the URDF's tool frame."""
    import mink as peer
    import mujoco
    import numpy as np

    logging.disable(logging.WARNING)
    model = mujoco.MjModel.from_xml_path(str(mjcf_path("so101")))
    configuration = peer.Configuration(model)
    configuration.update(np.array([*start, 0.0]))
    task = peer.FrameTask("gripperframe", "site", position_cost=1.0, orientation_cost=ORIENTATION_COST, lm_damping=1e-6)
    limits: list[Any] = [peer.ConfigurationLimit(model)]
    if limited:
        limits.append(peer.VelocityLimit(model, {j.name: j.velocity for j in robot.joints}))
    here = forward(chain, start)
    site = configuration.get_transform_frame_to_world("gripperframe", "site").rotation().as_matrix()
    site_from_tool = np.reshape(here.rotation, (3, 3)).T @ site

    def answer(target: Target, measured: Joints | None) -> tuple[Joints, None]:
        if measured is not None:
            configuration.update(np.array([*measured, 0.0]))
        rotation = peer.SO3.from_matrix(np.reshape(target.rotation, (3, 3)) @ site_from_tool)
        task.set_target(peer.SE3.from_rotation_and_translation(rotation, np.array(target.position)))
        velocity = peer.solve_ik(configuration, [task], 1.0 / HZ, solver="daqp", limits=limits)
        configuration.integrate_inplace(velocity, 1.0 / HZ)
        return tuple(configuration.q[:5].tolist()), None

    return answer


class _Placo:
    """placo in a process and an environment of its own: its wheels are built against another Pinocchio than ours."""

    server: subprocess.Popen[str] | None = None

    @classmethod
    def ask(cls, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to one request.

        Raises:
            RuntimeError: placo raised.
        """
        if cls.server is None:
            home = ROOT / ".cache" / "bench-placo"
            python = home / "bin" / "python"
            if not (home / "ready").exists():
                subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
                requirements = str(ROOT / "requirements" / "bench-placo.txt")
                subprocess.run([str(python), "-m", "pip", "install", "-qq", "-r", requirements], check=True, stdout=sys.stderr)
                (home / "ready").touch()
            command = [str(python), str(Path(__file__).with_name("placo_server.py"))]
            pipe = subprocess.PIPE
            cls.server = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env={"PATH": "/usr/bin:/bin"})
            atexit.register(cls.server.kill)
        assert cls.server.stdin is not None
        assert cls.server.stdout is not None
        cls.server.stdin.write(json.dumps(request) + "\n")
        cls.server.stdin.flush()
        while not (line := cls.server.stdout.readline()).startswith("{"):  # placo says a word of its own now and then
            if not line:
                raise SystemExit("bench: placo ended; see its words above")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer


def placo(chain: Chain, robot: RobotLimits, start: Joints, limited: bool) -> Answer:
    """Return placo."""
    _Placo.ask(
        {
            "start": start,
            "urdf": str(urdf_path("so101")),
            "dt": 1.0 / HZ,
            "orientation_cost": ORIENTATION_COST,
            "velocity": min(j.velocity for j in robot.joints) if limited else 0.0,
        }
    )

    def answer(target: Target, measured: Joints | None) -> tuple[Joints, float]:
        done = _Placo.ask({"target": [*target.position, *target.rotation], "measured": measured})
        return tuple(done["joints"]), done["seconds"]

    return answer


PEERS: dict[str, Callable[[Chain, RobotLimits, Joints, bool], Answer]] = {"pink": pink, "mink": mink, "placo": placo}
