"""Our side: one arm of the retargeter, driven by a hand as in the graph, with one of the solvers."""

from __future__ import annotations

from teleop_common.enums import Authority, PoseFlags
from teleop_common.limits import RobotLimits
from teleop_common.records import ArmAuthority, Controller, Header, JointState, Pose, TrackedPose
from teleop_ik.arm import Arm
from teleop_ik.arm_data import ArmConfig, ArmInput, ArmState
from teleop_ik.kinematics import Joints, quat_from_mat
from teleop_ik.solver import Solver, Target

BENCH = -10.0  # [m], far below: the streams ask of the solver and the pace, not of the floor


class Driven:
    """An arm that was engaged with the hand where the tool was, so that the hand's pose is the target.

    What the retargeter forgives a hand (reach, leash) is asked anew in every frame: here the question is how near the arm
    comes to the pose asked for and when it is back on it, and peers forgive nothing.
    """

    def __init__(self, solver: Solver, robot: RobotLimits, command: Joints, hz: float) -> None:
        """Take the solver, and the joints commanded so far [rad]."""
        # the leash of hardware has room for its lag, and is never in the way of servos that follow at once
        self.arm = Arm(ArmConfig("arm", robot, Pose(), BENCH, robot.leash_hardware), solver)
        fingers = robot.gripper
        self.fingers: Joints = (fingers.limits.home,) if fingers else ()
        self.reference = (*command, *self.fingers)
        self.state = ArmState()
        self.dt = 1.0 / hz

    def step(self, target: Target, measured: Joints) -> Joints:
        """Return the command [rad] for a target, which in the first frame engages the arm."""
        pose = TrackedPose(Pose(target.position, quat_from_mat(target.rotation)), PoseFlags.ALL)
        names = self.arm.names
        given = ArmInput(
            authority=ArmAuthority(arm="arm", state=int(Authority.DRIVING), engage=1, name=names, reference=self.reference),
            hand=Controller(True, pose, pose, 0.0, 1.0),
            world_from_tracking=Pose(),
            heading=0.0,
            yaw=0.0,
            scale=1.0,
            connection=1,
            epoch=1,
            recentred=False,
            feedback=JointState(Header(0), names, (*measured, *self.fingers)),
            age=0.0,
            dt=self.dt,
        )
        anchor = self.state.anchor
        self.state, joints = self.arm.step(self.state, given)
        if anchor is not None:
            self.state = self.state._replace(anchor=anchor)
        assert joints is not None
        self.reference = joints.position
        return joints.position[: len(measured)]
