"""Pictures of the scene from its published state; one OpenGL context a picture size, all used from one thread."""

from __future__ import annotations

import io
from collections.abc import Sequence

import mujoco
import numpy as np
from PIL import Image

from teleop_common.errors import ConfigError
from teleop_sim.views import ViewConfig

_MARKER_RADIUS, _MARKER_HEIGHT, _LINE_RADIUS = 0.009, 0.0008, 0.0009  # [m]
_MARKER_COLOUR = np.array([0.08, 0.08, 0.10, 0.55], np.float32)


class SceneRenderer:
    """Renders views of one scene."""

    def __init__(self, model: mujoco.MjModel, tools: Sequence[str], bench_height: float) -> None:
        """Prepare; contexts are made on first use, in the thread that renders.

        Args:
            model: the scene.
            tools: names of the tool sites, for markers.
            bench_height: height of the bench surface in world [m].
        """
        self.model, self.tools, self.bench_height = model, tuple(tools), bench_height
        self.data = mujoco.MjData(model)
        self._renderers: dict[tuple[int, int, bool], mujoco.Renderer] = {}

    def check(self, views: Sequence[ViewConfig]) -> None:
        """Raise ConfigError for a view whose camera the scene lacks."""
        known = [self.model.camera(index).name for index in range(self.model.ncam)]
        for view in views:
            if view.name not in known:
                raise ConfigError("view", view.name, view.name, "one of " + ", ".join(known), "mend cameras.yaml")

    def set_state(self, qpos: Sequence[float]) -> bool:
        """Take the generalised positions of the simulation; False, and unchanged, when they are of another scene."""
        if len(qpos) != self.model.nq or not np.all(np.isfinite(qpos)):
            return False
        self.data.qpos[:] = qpos
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)
        return True

    def picture(self, view: ViewConfig) -> np.ndarray:
        """Return the view as an RGB picture, shape (height, width, 3), uint8.

        Raises:
            ConfigError: no OpenGL context can be made.
        """
        renderer = self._renderer(view)
        renderer.update_scene(self.data, view.name)
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = view.shadows
        if view.markers:
            self._add_markers(renderer.scene)
        picture: np.ndarray = renderer.render()
        return picture

    def jpeg(self, view: ViewConfig) -> bytes:
        """Return the view as a JPEG, see ``picture``."""
        buffer = io.BytesIO()
        Image.fromarray(self.picture(view)).save(buffer, "jpeg", quality=view.quality)
        return buffer.getvalue()

    def focal_length(self, view: ViewConfig) -> float:
        """Return the focal length of the view [px]."""
        fovy = float(np.radians(self.model.camera(view.name).fovy[0]))
        return view.height / 2.0 / float(np.tan(fovy / 2.0))

    def close(self) -> None:
        """Release the contexts, in the thread that rendered."""
        for renderer in self._renderers.values():
            renderer.close()
        self._renderers.clear()

    def _renderer(self, view: ViewConfig) -> mujoco.Renderer:
        key = (view.width, view.height, view.antialias)
        if key not in self._renderers:
            # the number of samples is read when the context is made
            self.model.vis.quality.offsamples = 4 if view.antialias else 0
            try:
                self._renderers[key] = mujoco.Renderer(self.model, view.height, view.width)
            except (RuntimeError, AttributeError, ImportError, mujoco.FatalError) as error:
                text = "an OpenGL context; install Mesa's EGL (libegl1, libopengl0, libgl1-mesa-dri) or set MUJOCO_GL=osmesa"
                raise ConfigError("OpenGL", view.name, str(error), text, "or start with cameras:=false") from error
        return self._renderers[key]

    def _add_markers(self, scene: mujoco.MjvScene) -> None:
        """Draw a plumb line from each finger tip to a disc on the bench: how high and where, without cast shadows' price."""
        for tool in self.tools:
            x, y, z = self.data.site(tool).xpos
            height = max(z - self.bench_height, _MARKER_HEIGHT)
            _add_cylinder(scene, (x, y, self.bench_height), _MARKER_RADIUS, _MARKER_HEIGHT)
            _add_cylinder(scene, (x, y, self.bench_height + height / 2), _LINE_RADIUS, height / 2)


def _add_cylinder(scene: mujoco.MjvScene, centre: Sequence[float], radius: float, half_height: float) -> None:
    """Add an upright, translucent, unphysical cylinder to the picture, while there is room for it."""
    if scene.ngeom >= scene.maxgeom:
        return
    mujoco.mjv_initGeom(
        scene.geoms[scene.ngeom],
        mujoco.mjtGeom.mjGEOM_CYLINDER,
        np.array([radius, half_height, 0.0]),
        np.array(centre),
        np.eye(3).ravel(),
        _MARKER_COLOUR,
    )
    scene.ngeom += 1
