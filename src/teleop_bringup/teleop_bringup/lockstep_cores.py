"""The cores of the graph, made as their nodes make them, but without ROS: for ``lockstep``."""

from __future__ import annotations

from dataclasses import dataclass

from teleop_bringup.emulated_arms import EmulatedArms
from teleop_common.cell import Cell
from teleop_common.driver import Driver, driver_config
from teleop_common.limits import RobotLimits
from teleop_common.records import Pose, Vec3
from teleop_description.arm_spec import ArmOptions
from teleop_description.assets import urdf_path
from teleop_description.scene import SceneOptions, build
from teleop_ik.arm import Arm
from teleop_ik.retargeter import Retargeter
from teleop_ik.setup_arms import make_arms, read_chain
from teleop_ik.solver import Solver
from teleop_safety import shapes, space
from teleop_safety.collision import CollisionFilter
from teleop_safety.envelope import Envelope, Open
from teleop_safety.guard import Guard
from teleop_safety.settings import Settings
from teleop_session import session
from teleop_session.bindings import Binding
from teleop_session.session import SessionCore
from teleop_sim.pacing import Pacer
from teleop_sim.physics import Physics
from teleop_sim.simulation import Simulation

# numbers that a node draws at random at its start
EPOCH, ENGAGE, INSTANCE = 1, 1, 1


@dataclass(frozen=True)
class Options:
    """What a run may vary; the defaults are those of the live graph.

    Attributes:
        arms: arms in use.
        solver: inverse kinematics, as the parameter of the retargeter.
        frame_hz: rate of the operator's frames [Hz].
        frame_jitter: frames arrive up to this long after their stamp, evenly spread [s]; they stay in order.
        jitter_seed: seed of that.
        feedback_delay: joint states arrive this long after their measurement [s].
        joint_state_hz: rate of the joint states [Hz].
        tick_hz: rate at which due physics steps are done [Hz].
        sim_state_hz: rate at which the operator sees the simulation [Hz].
        physics_hz: physics steps per second [Hz].
        servo: stiffness and damping of the servos, friction of the pads.
        start: start pose of every arm [rad]; empty: home.
        cubes_seed: places of the cubes.
        collision: whether the guard's collision filter is on.
        leash: ``simulation`` or ``hardware``.
        feedback: ``closed`` or ``open`` loop, as the parameter of the retargeter.
        extrapolate: carry joint states on by their age with the measured velocity before the retargeter sees them, which the live
            graph does not (docs/retargeting.md says why).
        countdown: from squeeze to driving [s].
        scale: translation scale of the hands.
        gains: translation gains along the operator's forward, left and up.
        bindings: what buttons do; the actions that leave the session are nobody's here.
        uptime: what the monotonic clock says at the start [s].
        bus: the arms are emulated servos behind their drivers and buses, in place of the simulation's; rates and servos of the
            simulation then mean nothing.
    """

    arms: tuple[str, ...] = ("left", "right")
    solver: str = "differential"
    frame_hz: float = 90.0
    frame_jitter: float = 0.0
    jitter_seed: int = 0
    feedback_delay: float = 0.0
    joint_state_hz: float = 100.0
    tick_hz: float = 200.0
    sim_state_hz: float = 60.0
    physics_hz: float = 500.0
    servo: ArmOptions = ArmOptions()
    start: tuple[float, ...] = ()
    cubes_seed: int = 0
    collision: bool = True
    leash: str = "simulation"
    feedback: str = "closed"
    extrapolate: bool = False
    countdown: float = 1.0
    scale: float = 1.0
    gains: Vec3 = (1.0, 1.0, 1.0)
    bindings: tuple[Binding, ...] = ()
    uptime: float = 1000.0
    bus: bool = False


@dataclass
class Cores:
    """The cores of one graph."""

    session: SessionCore
    retargeter: Retargeter
    guard: Guard
    simulation: Simulation | EmulatedArms


def make_cores(robot: RobotLimits, cell: Cell, options: Options, solver: Solver | None = None) -> Cores:
    """Return the cores in their start state.

    Args:
        robot: the robot of every arm.
        cell: the cell.
        options: see there.
        solver: in place of the one that ``options`` names.

    Raises:
        ConfigError: what the nodes would refuse at their start.
    """
    arms = make_arms(
        options.arms,
        robot,
        cell,
        read_chain(urdf_path(robot.urdf), robot),
        solver=options.solver,
        leash=options.leash,
        gains=options.gains,
        feedback=options.feedback,
    )
    if solver is not None:
        arms = tuple(Arm(arm.config, solver) for arm in arms)
    envelope: Envelope = Open()
    if options.collision:
        scene = space.build(options.arms, robot, cell, shapes.load(robot))
        envelope = CollisionFilter(options.arms, scene, 0.015, 0.001, len(robot.joints), "hulls")
    leash = robot.leash_hardware if options.leash == "hardware" else robot.leash_simulation
    settings = Settings(leash=leash, countdown=options.countdown)
    guard = Guard(options.arms, robot, settings, envelope, dict.fromkeys(options.arms, ENGAGE))
    return Cores(_session(cell, options), Retargeter(arms), guard, _arms(robot, cell, options))


def _session(cell: Cell, options: Options) -> SessionCore:
    settings = session.Settings(
        arms=options.arms,
        provider="external",
        autostart=True,
        stance="behind",
        view="",
        scale=options.scale,
        origin=Pose((-0.4, 0.0, -0.75)),
        profile="default",
    )
    return SessionCore(settings, cell, {}, options.bindings, EPOCH)


def _arms(robot: RobotLimits, cell: Cell, options: Options) -> Simulation | EmulatedArms:
    if not options.bus:
        return _simulation(robot, cell, options)
    return EmulatedArms(options.arms, robot, cell, options.uptime, options.cubes_seed)


def _simulation(robot: RobotLimits, cell: Cell, options: Options) -> Simulation:
    scene = SceneOptions(options.servo, timestep=1.0 / options.physics_hz)
    physics = Physics(build(options.arms, cell, robot, scene), options.arms, robot, cell)
    start = dict.fromkeys(options.arms, options.start or tuple(j.home for j in robot.all_joints))
    drivers = {}
    for arm in options.arms:
        drivers[arm] = Driver(driver_config(arm, robot), INSTANCE, start[arm])
    return Simulation(physics, drivers, Pacer(1.0 / options.physics_hz), start, options.cubes_seed, options.joint_state_hz)
