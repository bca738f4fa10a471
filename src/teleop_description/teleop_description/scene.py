"""The simulated work cell: arms on a bench, five cubes, a place zone, lights and cameras, composed with ``MjSpec``."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from teleop_common.cell import Cell
from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits
from teleop_description import cameras
from teleop_description.arm_spec import CONTACT_SOLIMP, CONTACT_SOLREF, ArmOptions, arm_spec

CUBE_EDGE = 0.04  # [m]
_NUDGE = 0.012  # [m], how far a seed moves a cube from its slot
CUBES = {
    "cube_red": (0.80, 0.13, 0.12, 1.0),
    "cube_green": (0.16, 0.58, 0.24, 1.0),
    "cube_blue": (0.13, 0.32, 0.78, 1.0),
    "cube_orange": (0.93, 0.45, 0.08, 1.0),
    "cube_violet": (0.50, 0.22, 0.66, 1.0),
}
PLACE_ZONE = "place_zone"
BENCH, FLOOR, BACKDROP = "bench", "floor", "backdrop"
_BENCH_THICKNESS = 0.04  # [m]
_FLOOR_DROP = 0.75  # [m], how far the floor that catches escaped cubes lies below the bench
_CHECK = 0.05  # [m], edge of a square of the bench's checker
_ARM_COLOUR = {"left": (0.98, 0.78, 0.16, 1.0), "right": (0.24, 0.62, 0.82, 1.0)}


@dataclass(frozen=True)
class SceneOptions:
    """What a person may want to change about the scene.

    Attributes:
        arm: the simulated arms.
        timestep: physics step [s].
        shadow_size: edge of the shadow map [px]; 0 draws no shadows. The gripper's shadow is the operator's height cue.
    """

    arm: ArmOptions = ArmOptions()
    timestep: float = 0.002
    shadow_size: int = 1024


def compose(arms: Sequence[str], cell: Cell, limits: RobotLimits, options: SceneOptions | None = None) -> mujoco.MjSpec:
    """Return the scene with one arm a name of ``arms``, its bodies, joints, actuators and camera prefixed ``<arm>_``.

    Raises:
        ConfigError: an arm without a mount, more than one cube slot too few, or a robot that cannot be simulated.
    """
    options = options or SceneOptions()
    spec = mujoco.MjSpec()
    spec.modelname = "xr_teleop"
    spec.option.timestep = options.timestep
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    # a pinched cube creeps out of the fingers at the default ratio of 1
    spec.option.impratio = 10.0
    _look(spec, options)
    _surroundings(spec, cell)
    _cubes(spec, cell)
    for index, arm in enumerate(arms):
        mount = cell.mount(arm)
        x, y, z, w = mount.orientation
        frame = spec.worldbody.add_frame(pos=mount.position, quat=(w, x, y, z))
        child = arm_spec(limits, options.arm)
        for material in child.materials:
            if arm in _ARM_COLOUR and max(material.rgba[:3]) > 0.5:
                material.rgba = _ARM_COLOUR[arm]
        for actuator in child.actuators:
            # one group an arm, so that one flag of the solver makes that arm limp
            actuator.group = index
        spec.attach(child, prefix=f"{arm}_", frame=frame)
    cameras.add_views(spec, cell.bench_height)
    return spec


def build(arms: Sequence[str], cell: Cell, limits: RobotLimits, options: SceneOptions | None = None) -> mujoco.MjModel:
    """Return the compiled scene, see ``compose``."""
    return compose(arms, cell, limits, options).compile()


def cube_poses(cell: Cell, seed: int) -> dict[str, tuple[float, ...]]:
    """Return where ``seed`` puts each cube: shuffled over the slots, nudged and turned a little.

    Returns:
        Name → position [m] and quaternion (w, x, y, z) in the world, as MuJoCo's free joints have them.
    """
    generator = np.random.default_rng(seed)
    slots = generator.permutation(len(cell.cube_slots))
    height = cell.bench_height + CUBE_EDGE / 2
    poses: dict[str, tuple[float, ...]] = {}
    for name, slot in zip(CUBES, slots, strict=False):
        x, y = (np.asarray(cell.cube_slots[slot]) + generator.uniform(-_NUDGE, _NUDGE, 2)).tolist()
        turn = generator.uniform(-math.pi / 4, math.pi / 4)
        poses[name] = (x, y, height, math.cos(turn / 2), 0.0, 0.0, math.sin(turn / 2))
    return poses


def model_hash(model: mujoco.MjModel) -> str:
    """Return a hash of all numbers of the model, independent of where its files lie: 16 hexadecimal digits."""
    digest = hashlib.sha256(mujoco.mj_versionString().encode())
    for name in sorted(dir(model)):
        if name.startswith("_") or "path" in name:
            continue
        value = getattr(model, name)
        if isinstance(value, np.ndarray):
            digest.update(name.encode() + str(value.shape).encode() + np.ascontiguousarray(value).tobytes())
    digest.update(repr([model.opt.timestep, model.opt.integrator, model.opt.cone, model.opt.impratio]).encode())
    return digest.hexdigest()[:16]


def _look(spec: mujoco.MjSpec, options: SceneOptions) -> None:
    """Set light, shadow and sky."""
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 1280, 960
    spec.visual.quality.shadowsize = options.shadow_size
    spec.visual.headlight.ambient = (0.38, 0.38, 0.40)
    spec.visual.headlight.diffuse = (0.22, 0.22, 0.22)
    spec.visual.headlight.specular = (0.0, 0.0, 0.0)
    spec.visual.map.znear, spec.visual.map.zfar = 0.02, 12.0
    # the extent sets near and far planes and the region that the shadow map covers
    spec.stat.center, spec.stat.extent = (0.25, 0.0, 0.0), 1.0
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=(0.62, 0.68, 0.75),
        rgb2=(0.30, 0.33, 0.38),
        width=64,
        height=384,
    )
    # steep, slightly from behind the operator: the shadow of a gripper falls nearly below it
    spec.worldbody.add_light(
        name="key",
        type=mujoco.mjtLightType.mjLIGHT_SPOT,
        pos=(-0.05, 0.25, 1.7),
        dir=(0.16, -0.13, -1.0),
        cutoff=42.0,
        exponent=4.0,
        diffuse=(0.62, 0.61, 0.58),
        specular=(0.15, 0.15, 0.15),
        castshadow=options.shadow_size > 0,
    )


def _surroundings(spec: mujoco.MjSpec, cell: Cell) -> None:
    """Add bench, floor, backdrop, place zone and the cell's obstacles."""
    world = spec.worldbody
    (cx, cy), (sx, sy), top = cell.bench_centre, cell.bench_size, cell.bench_height
    spec.add_texture(
        name="checker",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=(0.62, 0.60, 0.56),
        rgb2=(0.54, 0.52, 0.49),
        width=256,
        height=256,
    )
    surface = spec.add_material(name="bench_surface", texrepeat=(1.0 / _CHECK, 1.0 / _CHECK), texuniform=True, specular=0.1)
    surface.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "checker"
    box, plane = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_PLANE
    half = _BENCH_THICKNESS / 2
    world.add_geom(name=BENCH, type=box, pos=(cx, cy, top - half), size=(sx / 2, sy / 2, half), material="bench_surface")
    # catches what was swept off the bench: a cube in free fall for ever is a bad state to record and to reset from
    world.add_geom(name=FLOOR, type=plane, pos=(cx, cy, top - _FLOOR_DROP), size=(4, 4, 0.1), rgba=(0.36, 0.37, 0.40, 1.0))
    # non-physical on purpose: the guard does not know it, so an arm must not be able to lean on it
    world.add_geom(
        name=BACKDROP,
        type=box,
        pos=(cx + 1.5, cy, top + 0.25),
        size=(0.01, 3.0, 1.0),
        contype=0,
        conaffinity=0,
        rgba=(0.50, 0.55, 0.60, 1.0),
    )
    zx, zy = cell.place_zone
    world.add_geom(
        name=PLACE_ZONE,
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        pos=(zx, zy, top + 0.0004),
        size=(cell.place_zone_radius, 0.0004, 0.0),
        contype=0,
        conaffinity=0,
        rgba=(0.12, 0.68, 0.52, 1.0),
    )
    for item in cell.boxes:
        w, z = np.cos(item.yaw / 2), np.sin(item.yaw / 2)
        size = [edge / 2 for edge in item.size]
        world.add_geom(
            name=f"box_{item.name}", type=box, pos=item.position, quat=(w, 0, 0, z), size=size, rgba=(0.6, 0.6, 0.62, 1)
        )


def _cubes(spec: mujoco.MjSpec, cell: Cell) -> None:
    """Add the cubes on the slots of the cell, in their order."""
    if len(cell.cube_slots) < len(CUBES):
        count = len(cell.cube_slots)
        raise ConfigError("key", "cube_slots", count, f"at least {len(CUBES)} places", "add places to the cell file", cell.source)
    edge = CUBE_EDGE / 2
    for (name, rgba), (x, y) in zip(CUBES.items(), cell.cube_slots, strict=False):
        body = spec.worldbody.add_body(name=name, pos=(x, y, cell.bench_height + edge))
        body.add_freejoint(name=name)
        geom = body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_BOX, size=(edge, edge, edge), rgba=rgba)
        geom.mass, geom.condim, geom.friction = 0.05, 4, (1.0, 0.01, 0.0005)
        geom.solref, geom.solimp = CONTACT_SOLREF, CONTACT_SOLIMP
