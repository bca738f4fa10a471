"""Parameters of the node ``retargeter``."""

from __future__ import annotations

from dataclasses import dataclass

from teleop_common.params import param
from teleop_ik.setup_arms import MARGIN
from teleop_ik.solver import SOLVERS
from teleop_ik.wrist import GAINS, WRISTS


@dataclass(frozen=True)
class RetargeterParams:
    """See each description."""

    arms: tuple[str, ...] = param(("left", "right"), "arms to retarget, each a mount of the cell file")
    limits_file: str = param("", "limits file of the robot; empty: limits/so101.yaml of teleop_bringup")
    cell_file: str = param("", "cell file; empty: cell.yaml of teleop_bringup")
    solver: str = param(
        "differential",
        "inverse kinematics: differential (one damped step, any arm), analytic (closed form, the SO-101 only), velocity "
        "(resolved rate, soft), levenberg_marquardt (to convergence), qp (Pink, when installed), point_dls (three "
        "joints, for comparison)",
        choices=SOLVERS,
    )
    pose: str = param("grip", "pose of the controller that drives the tool", choices=("grip", "aim"))
    feedback: str = param(
        "closed",
        "closed: solves start from the measured joints and a leash ties targets to them; open: the last command stands for "
        "the arm",
        choices=("closed", "open"),
    )
    leash: str = param("simulation", "which leash of the limits file holds", choices=("simulation", "hardware"))
    gains: tuple[float, ...] = param(
        (1.0, 1.0, 1.0), "translation gains along the operator's forward, left and up", minimum=0.0, maximum=10.0
    )
    trigger_gain: float = param(
        1.0, "gain of the trigger's travel: with 2 the gripper is closed at half of it", minimum=0.5, maximum=5.0
    )
    trigger_dead_zone: float = param(
        0.03, "share of the trigger's travel at either end that does nothing", minimum=0.0, maximum=0.4
    )
    margin: float = param(
        MARGIN,
        "clearance of an arm's own links that it keeps by itself; no less than the guard's margin",
        unit="m",
        minimum=0.0,
        maximum=0.2,
    )
    wrist: str = param(
        "ik",
        "ik: the tool's attitude follows the hand's; direct: the last joints (three at most) ride the hand's attitude since the "
        "engage, exaggerated, and only position is left to inverse kinematics",
        choices=WRISTS,
    )
    wrist_gains: tuple[float, ...] = param(
        GAINS,
        "wrist: direct: turn of the tool for a turn of the hand about the operator's forward (roll), left (pitch) and up (yaw)",
        unit="rad/rad",
        minimum=-5.0,
        maximum=5.0,
    )
