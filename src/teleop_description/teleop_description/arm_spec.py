"""One arm as a MuJoCo specification: the installed MJCF, with the URDF's names, the servo's gains and lighter meshes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import mujoco

from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits
from teleop_description import cameras
from teleop_description.assets import mesh_dir, mjcf_path
from teleop_description.meshes import decimated, read_stl, slabs

PADS = ("fixed_jaw_pad", "moving_jaw_pad")
# the MJCF's tool site is the URDF's gripper_frame_link turned by 90° about y; this is the URDF's own attitude (w, x, y, z)
# share of triangles kept and snapping grid [m]: coarse for the eye, finer for contact and close-ups
_VISUAL, _COLLISION = (0.02, 0.0015), (0.06, 0.0005)
# collision meshes that are cut across the finger, each with the mesh's axis along it: one hull would fill the hollow in which
# a cube is held
_FINGERS = {"wrist_roll_follower_so101_v1": 2, "moving_jaw_so101_v1": 1}
_SLAB = 0.02  # [m]
# stiff contact: at the default a cube sinks 5 mm into the fingers under the servo's full force
CONTACT_SOLREF, CONTACT_SOLIMP = (0.004, 1.0), (0.99, 0.999, 0.001, 0.5, 2.0)
_TOOL_SITE, _TOOL_QUAT = "gripperframe", (0.0, 0.0, 1.0, 0.0)


@dataclass(frozen=True)
class ArmOptions:
    """What a person may want to change about the simulated arm.

    Attributes:
        kp: stiffness of the position servo [Nm/rad]. The default is upstream's, identified for the servo's P = 16; the
            wheel's older 17.8 sags 22 mm at the tool.
        kv: damping of the position servo [Nm·s/rad].
        pad_friction: sliding friction of the finger pads [1]; rubber holds a cube in transport, at 1.0 it slips out.
        hull_vertices: most corners of a collision hull; a hull of all corners costs several times the contact time.
    """

    kp: float = 998.22
    kv: float = 2.731
    pad_friction: float = 2.0
    hull_vertices: int = 40


def arm_spec(limits: RobotLimits, options: ArmOptions) -> mujoco.MjSpec:
    """Return one arm, without prefix, standing at its base link's origin.

    Bodies and the tool site carry the URDF's link names, so that TF, guard and simulation speak of the same things.
    Joint and control ranges are the mechanical range: limits ± ``mechanical_margin``.

    Raises:
        ConfigError: no MJCF is known for the robot, or its joints are not those of the limits file.
    """
    path = mjcf_path(limits.urdf)
    spec = mujoco.MjSpec.from_file(str(path))
    found = tuple(joint.name for joint in spec.joints)
    if found != limits.names:
        raise ConfigError(
            "joints", limits.robot, list(limits.names), "those of the MJCF: " + ", ".join(found), "mend", limits.source
        )
    for mesh in spec.meshes:
        mesh.name = mesh.name or mesh.file.removesuffix(".stl")
        # the wrist camera is near the fingers
        settings = _COLLISION if mesh.name in _FINGERS else _VISUAL
        mesh.file = str(decimated(mesh_dir(limits.urdf) / mesh.file, *settings))
    for geom in list(spec.geoms):
        if geom.meshname and geom.classname.name == "collision":
            _refine_collision(spec, geom, mesh_dir(limits.urdf) / f"{geom.meshname}.stl", options)
    for body in spec.bodies:
        if body.name != "world":
            body.name += "_link"
    tool = spec.site(_TOOL_SITE)
    tool.name, tool.quat = limits.tip_link, _TOOL_QUAT
    for joint in limits.all_joints:
        mechanical = [joint.lower - limits.mechanical_margin, joint.upper + limits.mechanical_margin]
        spec.joint(joint.name).range = mechanical
        actuator = spec.actuator(joint.name)
        actuator.ctrlrange = mechanical
        actuator.set_to_position(kp=options.kp, kv=options.kv)
    for name in PADS:
        pad = spec.geom(name)
        # the hulls of the jaws touch a cube in a point each; the pads give flat faces to hold it by
        pad.contype = pad.conaffinity = 1
        pad.condim = 4
        pad.solref, pad.solimp = CONTACT_SOLREF, CONTACT_SOLIMP
        pad.friction = [options.pad_friction, 0.02, 0.001]
    cameras.add_wrist_camera(spec, limits.tip_link)
    return spec


def _refine_collision(spec: mujoco.MjSpec, geom: mujoco.MjsGeom, source: Path, options: ArmOptions) -> None:
    """Give a collision geom a finer mesh than the visual one, and a finger a hull a slab."""
    fine = decimated(source, *_COLLISION)
    if geom.meshname not in _FINGERS:
        name = f"{geom.meshname}_hull"
        if spec.mesh(name) is None:
            spec.add_mesh(name=name, file=str(fine), maxhullvert=options.hull_vertices)
        geom.meshname = name
        return
    for index, points in enumerate(slabs(read_stl(fine), _FINGERS[geom.meshname], _SLAB)):
        mesh = spec.add_mesh(name=f"{geom.meshname}_slab{index}", uservert=points.ravel(), maxhullvert=options.hull_vertices)
        part = geom.parent.add_geom(geom.classname, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=mesh.name)
        part.pos, part.quat = geom.pos, geom.quat
        part.solref, part.solimp = CONTACT_SOLREF, CONTACT_SOLIMP
    spec.delete(geom)
