"""The limits file of a robot: its chain, joint limits, speeds, home pose and leash. One file per robot."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from teleop_common import yamlfile
from teleop_common.errors import ConfigError


def check_arms(arms: tuple[str, ...]) -> None:
    """Check the arms that a node is to serve.

    Raises:
        ConfigError: none, or one named twice.
    """
    if not arms or len(set(arms)) != len(arms):
        raise ConfigError("parameter", "arms", list(arms), "at least one arm, each once", "mend the arms argument")


@dataclass(frozen=True)
class JointLimits:
    """Limits of one joint; a sliding one's are in m instead of rad.

    Attributes:
        name: joint name in the URDF, without an arm's prefix.
        lower: smallest commanded position [rad].
        upper: largest commanded position [rad].
        velocity: largest commanded speed [rad/s].
        acceleration: largest commanded growth of speed [rad/s²].
        home: home position [rad].
    """

    name: str
    lower: float
    upper: float
    velocity: float
    acceleration: float
    home: float


@dataclass(frozen=True)
class Gripper:
    """The gripper joint.

    Attributes:
        limits: its limits.
        closed: position that the released trigger asks for [rad] — see ``open``.
        open: position of the open gripper [rad]; the trigger closes it from here to ``closed``.
    """

    limits: JointLimits
    closed: float
    open: float


@dataclass(frozen=True)
class RobotLimits:
    """All that the graph needs to know of one robot besides its URDF.

    Attributes:
        robot: name of the robot.
        urdf: a model name of teleop_description, ``package://<ROS package>/<path>``, or the path of a URDF file.
        base_link: first link of the chain.
        tip_link: tool centre point.
        joints: arm joints from base to tip, the gripper apart.
        gripper: the gripper, or None.
        velocity_ceiling: speed that no joint may be configured above [rad/s], the servo's own.
        mechanical_margin: how far the mechanical range exceeds the limits on each side [rad].
        leash: largest distance of target from measured joints [rad], by driver kind: simulation, hardware.
        floor_clearance: least height of hand, wrist and forearm above the bench [m].
        source: the file.
    """

    robot: str
    urdf: str
    base_link: str
    tip_link: str
    joints: tuple[JointLimits, ...]
    gripper: Gripper | None
    velocity_ceiling: float
    mechanical_margin: float
    leash_simulation: float
    leash_hardware: float
    floor_clearance: float
    source: str

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all joints, arm joints first, then the gripper, without prefix."""
        return tuple(j.name for j in self.all_joints)

    @property
    def all_joints(self) -> tuple[JointLimits, ...]:
        """Limits of all joints, arm joints first, then the gripper."""
        return self.joints + ((self.gripper.limits,) if self.gripper else ())

    def arm_names(self, arm: str) -> tuple[str, ...]:
        """Names of all joints of ``arm``, prefixed: ``left_shoulder_pan``."""
        return tuple(f"{arm}_{name}" for name in self.names)


def _joint(name: str, table: yamlfile.Table, ceiling: float) -> JointLimits:
    lower = table.number("lower", -100.0, 100.0)
    upper = table.number("upper", -100.0, 100.0)
    if lower >= upper:
        raise table.error("lower", lower, f"below upper ({upper:g} rad)", "swap or mend the two")
    return JointLimits(
        name=name,
        lower=lower,
        upper=upper,
        velocity=table.number("velocity", 0.01, ceiling),
        acceleration=table.number("acceleration", 0.1, 1000.0),
        home=table.number("home", lower, upper),
    )


def _urdf(text: str, source: str | Path) -> str:
    """Return what names the URDF; a relative path is one from the limits file's folder."""
    if "://" in text or ("/" not in text and not text.endswith((".urdf", ".xml"))):
        return text
    return str(Path(source).parent / Path(text).expanduser())


def load(path: str | Path) -> RobotLimits:
    """Read and check a limits file.

    Raises:
        ConfigError: names the file, the key, the value and what is allowed.
    """
    top = yamlfile.read(path)
    ceiling = top.number("velocity_ceiling", 0.01, 100.0)
    joints = []
    for name, table in top.table("joints").items():
        joints.append(_joint(name, table, ceiling))
        table.done()
    if not joints:
        raise ConfigError("key", "joints", {}, "at least one joint", "list the arm's joints from base to tip", str(path))
    gripper = None
    if "gripper" in top.data:
        table = top.table("gripper")
        limits = _joint(table.text("joint"), table, ceiling)
        gripper = Gripper(
            limits, table.number("closed", limits.lower, limits.upper), table.number("open", limits.lower, limits.upper)
        )
        table.done()
    leash = top.table("leash")
    robot = RobotLimits(
        robot=top.text("robot"),
        urdf=_urdf(top.text("urdf"), path),
        base_link=top.text("base_link"),
        tip_link=top.text("tip_link"),
        joints=tuple(joints),
        gripper=gripper,
        velocity_ceiling=ceiling,
        mechanical_margin=top.number("mechanical_margin", 0.0, 1.0),
        leash_simulation=leash.number("simulation", 0.01, 2.0),
        leash_hardware=leash.number("hardware", 0.01, 2.0),
        floor_clearance=top.number("floor_clearance", -1.0, 1.0),
        source=str(path),
    )
    leash.done()
    top.done()
    return robot
