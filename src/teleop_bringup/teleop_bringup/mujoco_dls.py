"""The baseline of closed-loop control: damped least squares with the simulator's own Jacobian.

That is what an action term of a simulated environment does. Each step goes from the *measured* joints,
q = q_meas + Jᵀ(JJᵀ + λ²)⁻¹e, with MuJoCo's ``mj_jacSite`` at those joints: no knowledge of limits or reach;
a step is only cut to the joints' speed.
It cannot leave the simulator; it is here to be compared with.
[Nakamura, Hanafusa 1986; the form and λ = 0.01 of Isaac Lab's differential IK controller]
"""

from __future__ import annotations

import mujoco
import numpy as np

from teleop_common.limits import RobotLimits
from teleop_description.arm_spec import ArmOptions, arm_spec
from teleop_ik.kinematics import Chain, Joints, Mat
from teleop_ik.solver import Bounds, Solution, Target, limit_step, rotation_between, without_yaw

_DAMPING = 0.01


class MujocoDls:
    """The baseline behind the solvers' interface.

    Args:
        robot: the robot.
        chain: its chain, for the caller; the solver computes with MuJoCo alone.
    """

    name = "mujoco_dls"

    def __init__(self, robot: RobotLimits, chain: Chain) -> None:
        """Build a model of one arm."""
        self.chain = chain
        self._model = arm_spec(robot, ArmOptions()).compile()
        self._data = mujoco.MjData(self._model)
        self._site = self._model.site(robot.tip_link).id
        names = [joint.name for joint in robot.joints]
        self._qpos = np.array([self._model.joint(name).qposadr[0] for name in names])
        self._dofs = np.array([self._model.joint(name).dofadr[0] for name in names])
        self._pan = self._model.body(self._model.jnt_bodyid[self._model.joint(names[0]).id]).id

    def solve(self, target: Target, seed: Joints, previous: Joints, bounds: Bounds, dt: float, rate: Joints = ()) -> Solution:
        """See ``teleop_ik.solver.Solver``; positional bounds are not looked at."""
        model, data = self._model, self._data
        data.qpos[self._qpos] = seed
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        jacobian = np.zeros((6, model.nv))
        mujoco.mj_jacSite(model, data, jacobian[:3], jacobian[3:], self._site)
        jacobian = jacobian[:, self._dofs]
        # the yaw of the approach is given up, as by every solver for five joints
        x, y = np.asarray(target.position)[:2] - data.xpos[self._pan][:2]
        reach = float(np.hypot(x, y)) or 1.0
        kept, swing = without_yaw(target.rotation, float(x) / reach, float(y) / reach)
        error = np.concatenate(
            [np.asarray(target.position) - data.site_xpos[self._site], rotation_between(kept, _mat(data.site_xmat[self._site]))]
        )
        step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + _DAMPING**2 * np.eye(6), error)
        goal = tuple((np.asarray(seed) + step).tolist())
        return Solution(limit_step(previous, goal, bounds, dt), (0.0, 0.0, 0.0), abs(swing), ahead=goal)


def _mat(values: np.ndarray) -> Mat:
    a, b, c, d, e, f, g, h, i = values.tolist()
    return (a, b, c, d, e, f, g, h, i)
