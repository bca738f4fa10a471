"""From files and parameters to arms that can step: everything that may refuse a start."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from teleop_common.cell import Cell
from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits
from teleop_common.records import Vec3
from teleop_description import folds, hand
from teleop_description.assets import digest, urdf_path
from teleop_description.folds import Fold
from teleop_ik.analytic import Analytic
from teleop_ik.arm import Arm
from teleop_ik.arm_data import ArmConfig
from teleop_ik.differential import Differential
from teleop_ik.kinematics import Chain, chain_from_urdf
from teleop_ik.levenberg_marquardt import LevenbergMarquardt
from teleop_ik.point_dls import PointDls
from teleop_ik.solver import SOLVERS, Solver
from teleop_ik.velocity import Velocity
from teleop_ik.wrist import GAINS

MARGIN = 0.015  # [m], the guard's default

_PLAIN: dict[str, Callable[[Chain], Solver]] = {
    "differential": Differential,
    "velocity": Velocity,
    "levenberg_marquardt": LevenbergMarquardt,
    "point_dls": PointDls,
}


def make_solver(name: str, chain: Chain, source: str = "") -> Solver:
    """Return the solver called ``name`` for ``chain``.

    Raises:
        ConfigError: no such solver, or it does not know this robot.
    """
    if name == "analytic":
        return Analytic(chain, source=source)
    if name == "qp":
        try:
            from teleop_ik.qp import Qp
        except ImportError as error:
            remedy = "pip install -r requirements/qp.txt -c requirements/lock.txt, or use solver:=differential"
            raise ConfigError("solver", "qp", str(error), "pin-pink, qpsolvers and daqp installed", remedy, source) from error
        quadratic: Solver = Qp(chain, source)
        return quadratic
    if name in _PLAIN:
        return _PLAIN[name](chain)
    raise ConfigError("solver", "solver", name, f"one of {', '.join(SOLVERS)}", "mend the parameter", source)


def read_chain(urdf: Path, limits: RobotLimits) -> Chain:
    """Return the chain of ``limits`` out of a URDF file.

    Raises:
        ConfigError: the URDF has no such chain.
    """
    names = tuple(joint.name for joint in limits.joints)
    return chain_from_urdf(urdf.read_text(encoding="utf-8"), limits.base_link, limits.tip_link, names, str(urdf))


def model_hash(limits: RobotLimits) -> str:
    """Return a hash of the robot's model: the bytes of URDF and meshes, and the chain in use. The same on every machine.

    Raises:
        ConfigError: no such URDF.
    """
    return digest(limits, f"model {limits.tip_link}")


def from_parameters(
    parameters: Mapping[str, Any], limits: RobotLimits, cell: Cell, borders: tuple[Fold, ...] | None = None
) -> tuple[Arm, ...]:
    """Return the arms as the parameters of the node ``retargeter`` describe them.

    Args:
        parameters: name → value, lists or tuples alike; all of them.
        limits: limits of the robot.
        cell: the work cell.
        borders: of the arm's folds; None: those of the model here.

    Raises:
        ConfigError: see ``make_arms``; or gains that are not three.
    """
    return make_arms(
        tuple(parameters["arms"]),
        limits,
        cell,
        read_chain(urdf_path(limits.urdf), limits),
        solver=parameters["solver"],
        leash=parameters["leash"],
        pose=parameters["pose"],
        gains=_three("gains", parameters["gains"], "forward, left, up"),
        dead_zone=parameters["trigger_dead_zone"],
        trigger_gain=parameters.get("trigger_gain", 1.0),
        feedback=parameters.get("feedback", "closed"),  # a recording of before the parameter
        wrist=parameters.get("wrist", "ik"),
        wrist_gains=_three("wrist_gains", parameters.get("wrist_gains", GAINS), "roll, pitch, yaw"),
        margin=parameters.get("margin", MARGIN),
        borders=borders,
    )


def _three(name: str, values: Sequence[float], what: str) -> Vec3:
    if len(values) != 3:
        raise ConfigError("parameter", name, list(values), f"three numbers: {what}", "mend the parameter")
    return (values[0], values[1], values[2])


def make_arms(
    arms: tuple[str, ...],
    limits: RobotLimits,
    cell: Cell,
    chain: Chain,
    *,
    solver: str = "analytic",
    leash: str = "simulation",
    pose: str = "grip",
    gains: Vec3 = (1.0, 1.0, 1.0),
    dead_zone: float = 0.03,
    trigger_gain: float = 1.0,
    feedback: str = "closed",
    wrist: str = "ik",
    wrist_gains: Vec3 = GAINS,
    margin: float = MARGIN,
    borders: tuple[Fold, ...] | None = None,
) -> tuple[Arm, ...]:
    """Return the arms; ``borders`` of their folds are those of the model here at ``margin`` [m] when None.

    Raises:
        ConfigError: an unknown arm, one named twice, none, a solver that does not know the robot, or a collision mesh that
            cannot be read.
    """
    if not arms or len(set(arms)) != len(arms):
        raise ConfigError("parameter", "arms", list(arms), "at least one arm, each named once", "mend the argument arms")
    made = make_solver(solver, chain, limits.source)
    length = limits.leash_hardware if leash == "hardware" else limits.leash_simulation
    body = hand.load(limits)
    made_borders = folds.load(limits, margin) if borders is None else borders
    configs = [
        ArmConfig(
            name=arm,
            limits=limits,
            mount=cell.mount(arm),
            bench=cell.bench_height,
            leash=length,
            hand=body,
            pose=pose,
            gains=gains,
            dead_zone=dead_zone,
            trigger_gain=trigger_gain,
            feedback=feedback,
            folds=made_borders,
            wrist=wrist,
            wrist_gains=wrist_gains,
        )
        for arm in arms
    ]
    return tuple(Arm(config, made) for config in configs)
