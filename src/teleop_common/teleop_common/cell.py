"""The cell file: where the arms stand, the bench and what surrounds them. Read by simulation, guard and TF alike."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from teleop_common import spatial, yamlfile
from teleop_common.errors import ConfigError
from teleop_common.records import Pose, Vec3


@dataclass(frozen=True)
class Box:
    """A fixed box.

    Attributes:
        name: unique name.
        position: centre in world [m].
        size: full edge lengths [m].
        yaw: rotation about world +z [rad].
    """

    name: str
    position: Vec3
    size: Vec3
    yaw: float


@dataclass(frozen=True)
class HeldObject:
    """What a closed gripper is taken to hold: a ball, since nobody knows how it is turned.

    Attributes:
        radius: of the ball [m].
        centre: in the frame of the robot's tip link [m].
        slack: a gripper that is measured farther open than its command by more than this holds something [rad].
    """

    radius: float
    centre: Vec3
    slack: float


@dataclass(frozen=True)
class Cell:
    """The work cell.

    Attributes:
        mounts: arm name → pose of its base link in world [m].
        bench_height: height of the bench surface in world [m].
        bench_centre: x, y of the bench's middle in world [m].
        bench_size: full edge lengths of the bench surface in x and y [m].
        boxes: obstacles (walls, fixtures).
        place_zone: x, y of the middle of the place zone on the bench [m].
        place_zone_radius: its radius [m].
        source: the file.
        cube_slots: x, y of the places of the simulated cubes on the bench [m].
        held_object: what a gripper that holds something holds, None for nothing that counts.
    """

    mounts: dict[str, Pose]
    bench_height: float
    bench_centre: tuple[float, float]
    bench_size: tuple[float, float]
    boxes: tuple[Box, ...]
    place_zone: tuple[float, float]
    place_zone_radius: float
    source: str
    cube_slots: tuple[tuple[float, float], ...] = ()
    held_object: HeldObject | None = None

    def mount(self, arm: str) -> Pose:
        """Return the base pose of ``arm`` in world.

        Raises:
            ConfigError: the cell has no such mount.
        """
        if arm not in self.mounts:
            raise ConfigError(
                "arm", arm, arm, "one of " + ", ".join(self.mounts), "add a mount or mend the arms argument", self.source
            )
        return self.mounts[arm]


def load(path: str | Path) -> Cell:
    """Read and check a cell file.

    Raises:
        ConfigError: names the file, the key, the value and what is allowed.
    """
    top = yamlfile.read(path)
    mounts = {}
    for name, table in top.table("mounts").items():
        x, y, z = table.numbers("position", 3, -5.0, 5.0)
        mounts[name] = Pose((x, y, z), spatial.quat_from_yaw(table.number("yaw", -3.15, 3.15, 0.0)))
        table.done()
    bench = top.table("bench")
    zone = top.table("place_zone")
    boxes = []
    for table in top.tables("boxes", ()):
        x, y, z = table.numbers("position", 3, -10.0, 10.0)
        sx, sy, sz = table.numbers("size", 3, 0.001, 20.0)
        boxes.append(Box(table.text("name"), (x, y, z), (sx, sy, sz), table.number("yaw", -3.15, 3.15, 0.0)))
        table.done()
    slots = []
    listed = top.raw("cube_slots", ())
    if not isinstance(listed, list | tuple):
        raise top.error("cube_slots", listed, "a list of [x, y]")
    for index, slot in enumerate(listed):
        x, y = yamlfile.Table({str(index): slot}, top.source, "cube_slots").numbers(str(index), 2, -5.0, 5.0)
        slots.append((x, y))
    held = None
    if top.raw("held_object", None) is not None:
        table = top.table("held_object")
        x, y, z = table.numbers("centre", 3, -0.5, 0.5, (0.0, 0.0, 0.0))
        held = HeldObject(table.number("radius", 0.001, 0.5), (x, y, z), table.number("slack", 0.02, 3.0, 0.15))
        table.done()
    cx, cy = bench.numbers("centre", 2, -5.0, 5.0)
    sx, sy = bench.numbers("size", 2, 0.1, 10.0)
    zx, zy = zone.numbers("centre", 2, -5.0, 5.0)
    cell = Cell(
        mounts=mounts,
        bench_height=bench.number("height", -2.0, 2.0),
        bench_centre=(cx, cy),
        bench_size=(sx, sy),
        boxes=tuple(boxes),
        place_zone=(zx, zy),
        place_zone_radius=zone.number("radius", 0.01, 1.0),
        source=str(path),
        cube_slots=tuple(slots),
        held_object=held,
    )
    for table in (bench, zone, top):
        table.done()
    return cell
