"""The graph's messages as immutable records: what cores read and return.

Each class mirrors one message of ``teleop_interfaces`` (or a standard one) field by field; units, frames and meanings
are the comments of that ``.msg`` file. Leaf types are flattened: a time is an ``int`` of nanoseconds, a point or vector
a tuple ``(x, y, z)`` in [m], a quaternion a tuple ``(x, y, z, w)``. Sequences are tuples. Enumerations are in ``enums``.
"""

from __future__ import annotations

from typing import NamedTuple

Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]
IDENTITY_QUAT: Quat = (0.0, 0.0, 0.0, 1.0)
ORIGIN: Vec3 = (0.0, 0.0, 0.0)


class Header(NamedTuple):
    """std_msgs/Header."""

    stamp: int = 0
    frame_id: str = ""


class Pose(NamedTuple):
    """geometry_msgs/Pose."""

    position: Vec3 = ORIGIN
    orientation: Quat = IDENTITY_QUAT


class Transform(NamedTuple):
    """geometry_msgs/Transform."""

    translation: Vec3 = ORIGIN
    rotation: Quat = IDENTITY_QUAT


class TransformStamped(NamedTuple):
    """geometry_msgs/TransformStamped."""

    header: Header = Header()
    child_frame_id: str = ""
    transform: Transform = Transform()


class TFMessage(NamedTuple):
    """tf2_msgs/TFMessage."""

    transforms: tuple[TransformStamped, ...] = ()


class TrackedPose(NamedTuple):
    """A pose with its validity flags."""

    pose: Pose = Pose()
    flags: int = 0


class Controller(NamedTuple):
    """One hand's controller."""

    connected: bool = False
    grip: TrackedPose = TrackedPose()
    aim: TrackedPose = TrackedPose()
    trigger: float = 0.0
    squeeze: float = 0.0
    thumbstick_x: float = 0.0
    thumbstick_y: float = 0.0
    primary: bool = False
    secondary: bool = False
    thumbstick_click: bool = False
    menu: bool = False


class TeleopFrame(NamedTuple):
    """One sample of the operator."""

    header: Header = Header()
    provider: str = ""
    connection: int = 0
    sequence: int = 0
    monotonic_ns: int = 0
    available_ns: int = 0
    sample_ns: int = 0
    device_clock_ns: int = 0
    convention: int = 0
    head: TrackedPose = TrackedPose()
    left: Controller = Controller()
    right: Controller = Controller()
    world_from_tracking: Transform = Transform()
    recentred: bool = False

    def hand(self, side: str) -> Controller:
        """Return the controller of ``side`` (``left`` or ``right``)."""
        return self.left if side == "left" else self.right


class JointTarget(NamedTuple):
    """One arm's unguarded target."""

    arm: str = ""
    owner: str = ""
    engage: int = 0
    reason: tuple[int, ...] = ()
    name: tuple[str, ...] = ()
    position: tuple[float, ...] = ()
    tool: Pose = Pose()
    residual_position: float = 0.0
    residual_rotation: float = 0.0
    solver: str = ""
    feedback_stamp: int = 0
    feedback_age: float = 0.0
    seed: tuple[float, ...] = ()
    status: int = 0


class JointTargets(NamedTuple):
    """Targets of both arms for one frame."""

    header: Header = Header()
    origin_stamp: int = 0
    connection: int = 0
    frame_sequence: int = 0
    authority_sequence: int = 0
    session_epoch: int = 0
    step_time_ns: int = 0
    dt: float = 0.0
    arms: tuple[JointTarget, ...] = ()


class JointCommand(NamedTuple):
    """The guard's committed command to one driver."""

    header: Header = Header()
    origin_stamp: int = 0
    commit: int = 0
    commit_time_ns: int = 0
    dt: float = 0.0
    connection: int = 0
    frame_sequence: int = 0
    authority: int = 0
    name: tuple[str, ...] = ()
    requested: tuple[float, ...] = ()
    position: tuple[float, ...] = ()
    measured: tuple[float, ...] = ()
    feedback_stamp: int = 0
    reason: tuple[int, ...] = ()


class ArmAuthority(NamedTuple):
    """Who may move one arm."""

    arm: str = ""
    state: int = 0
    engage: int = 0
    hand: str = ""
    owner: str = ""
    must_open: bool = False
    name: tuple[str, ...] = ()
    reference: tuple[float, ...] = ()
    countdown_remaining: float = 0.0
    reason: str = ""
    counters: tuple[int, ...] = ()


class AuthorityState(NamedTuple):
    """Authority of every arm."""

    header: Header = Header()
    sequence: int = 0
    arms: tuple[ArmAuthority, ...] = ()


class DriverState(NamedTuple):
    """State of one arm's driver."""

    header: Header = Header()
    instance: int = 0
    name: tuple[str, ...] = ()
    torque_on: bool = False
    estop: bool = False
    goal: tuple[float, ...] = ()
    command_age: float = -1.0
    status: tuple[int, ...] = ()
    voltage: tuple[float, ...] = ()
    temperature: tuple[float, ...] = ()
    current: tuple[float, ...] = ()
    load: tuple[float, ...] = ()
    sample_age: tuple[float, ...] = ()
    write_hz: float = 0.0
    read_hz: float = 0.0
    error: str = ""


class EstopState(NamedTuple):
    """The guard's e-stop latch."""

    header: Header = Header()
    latched: bool = False
    source: str = ""
    latched_drivers: tuple[str, ...] = ()


class ClearancePair(NamedTuple):
    """One pair of bodies and how far apart they are."""

    links: tuple[str, str] = ("", "")
    distance: float = 0.0
    points: tuple[Vec3, Vec3] = (ORIGIN, ORIGIN)
    blocking: bool = False


class GuardState(NamedTuple):
    """What the collision filter sees."""

    header: Header = Header()
    enabled: bool = True
    geometry: str = ""
    holding: bool = False
    clearance_committed: float = 0.0
    clearance_measured: float = 0.0
    scale: float = 1.0
    pairs: tuple[ClearancePair, ...] = ()


class GuardEvent(NamedTuple):
    """Something the guard did or was asked."""

    header: Header = Header()
    commit: int = 0
    kind: str = ""
    arm: str = ""
    text: str = ""


class Haptics(NamedTuple):
    """A buzz for one controller."""

    header: Header = Header()
    hand: str = ""
    amplitude: float = 0.0
    duration: float = 0.0


class SessionState(NamedTuple):
    """The teleoperation session."""

    header: Header = Header()
    state: int = 0
    provider: str = ""
    profile: str = ""
    epoch: int = 0
    stance: str = "behind"
    view: str = ""
    yaw: float = 0.0
    scale: float = 1.0
    arm: tuple[str, ...] = ()
    hand: tuple[str, ...] = ()
    error: str = ""


class SimState(NamedTuple):
    """Complete state of the simulation."""

    header: Header = Header()
    sim_time: float = 0.0
    physics_step: int = 0
    qpos: tuple[float, ...] = ()
    qvel: tuple[float, ...] = ()
    real_time_factor: float = 0.0
    model_hash: str = ""


class String(NamedTuple):
    """std_msgs/String."""

    data: str = ""


class JointState(NamedTuple):
    """sensor_msgs/JointState."""

    header: Header = Header()
    name: tuple[str, ...] = ()
    position: tuple[float, ...] = ()
    velocity: tuple[float, ...] = ()
    effort: tuple[float, ...] = ()


class ProcessExit(NamedTuple):
    """A process of the launch ended."""

    header: Header = Header()
    node: str = ""
    pid: int = 0
    exit_code: int = 0
    term_signal: int = 0


class DeviceReport(NamedTuple):
    """One device as its provider sees it."""

    path: str = ""
    state: int = 0
    reason: int = 0
    error: str = ""


class ProviderReport(NamedTuple):
    """A provider's own report."""

    header: Header = Header()
    schema_version: int = 1
    report_time_ns: int = 0
    host: str = ""
    pid: int = 0
    provider_id: str = ""
    state: int = 0
    error: str = ""
    devices: tuple[DeviceReport, ...] = ()
    reason: int = 0


class ProviderStatus(NamedTuple):
    """A provider as the aggregator concludes."""

    id: str = ""
    type: int = 0
    name: str = ""
    state: int = 0
    reason: int = 0
    error: str = ""
    pid: int = 0
    exit_code: int = 0
    term_signal: int = 0
    since_ns: int = 0


class DeviceStatus(NamedTuple):
    """A device as the aggregator concludes."""

    id: str = ""
    path: str = ""
    type: str = ""
    description: str = ""
    provider_id: str = ""
    state: int = 0
    reason: int = 0
    error: str = ""
    since_ns: int = 0


class StatusSnapshot(NamedTuple):
    """Every provider and device of the session."""

    header: Header = Header()
    updated_at_ns: int = 0
    providers: tuple[ProviderStatus, ...] = ()
    devices: tuple[DeviceStatus, ...] = ()


class RecorderState(NamedTuple):
    """The recorder."""

    header: Header = Header()
    recording: bool = False
    session_path: str = ""
    episode: int = 0
    frames: int = 0
    missed: int = 0
    task: str = ""
    error: str = ""
    notice: str = ""
