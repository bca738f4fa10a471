"""Renders the pictures of docs/hardware.md from the simulated cell: ``./teleop exec python tools/pictures.py``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("MUJOCO_GL", "egl")

import mujoco
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from teleop_common import cell as cells
from teleop_common import limits
from teleop_description import scene

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs/images"
ROBOT = limits.load(ROOT / "config/limits/so101.yaml")
CELL = cells.load(ROOT / "config/cell.yaml")
ARMS = ("left", "right")
HOME = [joint.home for joint in ROBOT.all_joints]
WIDTH, HEIGHT = 480, 320
RED = (235, 45, 30)
LEVEL = 0.0486795  # rad of wrist_roll at which the hand is level


Place = tuple[float, float, float]


class View(NamedTuple):
    """A camera.

    Attributes:
        eye: where it is [m].
        look: what it looks at [m].
    """

    eye: Place
    look: Place

    @property
    def distance(self) -> float:
        """From eye to what it looks at [m]."""
        return float(np.linalg.norm(np.subtract(self.look, self.eye)))

    @property
    def angles(self) -> tuple[float, float]:
        """Azimuth and elevation of its look [rad]."""
        x, y, z = np.subtract(self.look, self.eye)
        return float(np.arctan2(y, x)), float(np.arcsin(z / self.distance))


class Stage:
    """The cell without cubes."""

    def __init__(self) -> None:
        """Build the scene."""
        self.model = scene.build(ARMS, CELL, ROBOT, scene.SceneOptions(shadow_size=2048))
        self.model.vis.global_.offwidth, self.model.vis.global_.offheight = WIDTH * 2, HEIGHT * 2
        self.data = mujoco.MjData(self.model)
        self.renderer = mujoco.Renderer(self.model, HEIGHT * 2, WIDTH * 2)
        for name in scene.CUBES:
            self.data.joint(name).qpos[:3] = (3.0, 3.0, -0.5)

    def put(self, poses: dict[str, list[float]]) -> None:
        """Put the arms into ``poses`` [rad]; others are at home."""
        for arm in ARMS:
            for name, angle in zip(ROBOT.arm_names(arm), poses.get(arm, HOME)):
                self.data.joint(name).qpos[0] = angle
        mujoco.mj_forward(self.model, self.data)

    def tool(self, arm: str) -> Place:
        """Return where the tool of ``arm`` is [m]."""
        x, y, z = self.data.site(f"{arm}_{ROBOT.tip_link}").xpos
        return (float(x), float(y), float(z))

    def picture(self, view: View) -> Image.Image:
        """Return what is seen."""
        camera = mujoco.MjvCamera()
        camera.lookat[:], camera.distance = view.look, view.distance
        camera.azimuth, camera.elevation = np.degrees(view.angles)
        self.renderer.update_scene(self.data, camera)
        self.renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = True
        return Image.fromarray(self.renderer.render()).resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)

    def place(self, view: View, point: Place) -> tuple[int, int]:
        """Return where a point of the world [m] is in the picture [px]."""
        azimuth, elevation = view.angles
        forward = np.array([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])
        right = np.array([np.sin(azimuth), -np.cos(azimuth), 0.0])
        way = np.subtract(point, view.eye)
        scale = HEIGHT / 2.0 / np.tan(np.radians(self.model.vis.global_.fovy) / 2.0) / (way @ forward)
        return round(WIDTH / 2.0 + scale * (way @ right)), round(HEIGHT / 2.0 - scale * (way @ np.cross(right, forward)))


def labelled(image: Image.Image, *words: tuple[str, tuple[int, int]]) -> Image.Image:
    """Write words into a picture, each centred at its place [px]."""
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(16)
    for text, place in words:
        draw.text(place, text, fill="white", stroke_fill="black", stroke_width=2, font=font, anchor="mm")
    return image


def arrow(image: Image.Image, start: tuple[int, int], end: tuple[int, int]) -> Image.Image:
    """Draw an arrow [px]."""
    draw = ImageDraw.Draw(image)
    way = np.subtract(end, start) / max(float(np.hypot(*np.subtract(end, start))), 1.0)
    side = np.array([-way[1], way[0]])
    head = [tuple(end), tuple(end - 14 * way + 8 * side), tuple(end - 14 * way - 8 * side)]
    draw.line([start, tuple(end - 10 * way)], fill=RED, width=5)
    draw.polygon(head, fill=RED)
    return image


def in_a_row(*images: Image.Image) -> Image.Image:
    """Put pictures side by side."""
    made = Image.new("RGB", (sum(i.width for i in images) + 8 * (len(images) - 1), images[0].height), (40, 40, 40))
    at = 0
    for image in images:
        made.paste(image, (at, 0))
        at += image.width + 8
    return made


def touching(stage: Stage, reach: list[float]) -> float:
    """Return the pan at which the tips meet in the middle [rad], ``reach`` being the other joints."""
    low, high = 0.0, 1.2
    for _ in range(20):
        pan = (low + high) / 2.0
        stage.put({"left": [pan, *reach]})
        low, high = (pan, high) if stage.tool("left")[1] > 0.004 else (low, pan)
    return low


def main() -> None:
    """Render every picture."""
    stage = Stage()
    behind, above = View((-0.6, 0.0, 0.5), (0.12, 0.0, 0.08)), View((0.099, 0.0, 0.95), (0.1, 0.0, 0.0))
    beside_it = View((0.1, -1.0, 0.2), (0.17, 0.0, 0.13))
    made = {}

    stage.put({})
    words = ((arm, stage.place(behind, (-0.09, y, 0.0))) for arm, y in (("left", 0.2), ("right", -0.2)))
    sides = labelled(stage.picture(behind), *words)
    mounts, pan = stage.picture(above), 0.0388353
    ends = [stage.place(above, (pan, y, 0.12)) for y in (0.19, -0.19)]
    arrow(arrow(mounts, ends[0], ends[1]), ends[1], ends[0])
    made["sides"] = in_a_row(sides, labelled(mounts, ("distance of the pan axes", (WIDTH // 2, ends[0][1] + 20))))

    level = [0.0, 0.0, 0.0, 0.0, LEVEL, 0.0]
    stage.put({"left": [0.9, -1.7, 1.6, 1.2, 0.0, 0.0], "right": level})
    made["zero"] = stage.picture(beside_it)

    reach = [0.0, 0.5, 0.6, LEVEL, 0.0]
    meet = touching(stage, reach)
    stage.put({"left": [0.1, *reach], "right": [-0.1, *reach]})
    apart = stage.picture(behind)
    starts = {arm: stage.place(behind, stage.tool(arm)) for arm in ARMS}
    stage.put({"left": [meet, *reach], "right": [-meet, *reach]})
    met = {arm: stage.place(behind, stage.tool(arm)) for arm in ARMS}
    for arm in ARMS:
        way = np.subtract(met[arm], starts[arm])
        arrow(apart, starts[arm], tuple(np.add(starts[arm], 0.7 * way).round().astype(int)))
    made["clearance"] = in_a_row(apart, stage.picture(behind))

    stage.put({"left": [0.1, *reach], "right": [-0.1, *reach]})
    before = stage.picture(behind)
    stage.put({"left": [-0.35, *reach], "right": [-0.1, *reach]})
    end = stage.place(behind, stage.tool("left"))
    made["direction"] = in_a_row(arrow(before, starts["left"], end), stage.picture(behind))

    for name, picture in made.items():
        path = OUT / f"first_run_{name}.jpg"
        picture.save(path, quality=85)
        print(path)


if __name__ == "__main__":
    main()
