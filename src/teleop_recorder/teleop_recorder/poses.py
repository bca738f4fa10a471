"""World poses of everything that moves, from what was measured: by forward kinematics in the scene's own model."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from teleop_recorder.hdf5 import Channel

_POSITION, _ORIENTATION = "m, world", "quaternion w x y z, world"


class ScenePoses:
    """Poses of the arms' links and of the free bodies of a scene.

    Args:
        model: the scene; joints and bodies of an arm are prefixed ``<arm>_``.
        arms: names of the arms.
    """

    def __init__(self, model: mujoco.MjModel, arms: Sequence[str]) -> None:
        """Find what moves."""
        self.model, self._data = model, mujoco.MjData(model)
        self._joints: dict[str, int] = {}
        for number in range(model.njnt):
            joint = model.joint(number)
            if joint.type[0] in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
                self._joints[joint.name] = int(joint.qposadr[0])
        names = [model.body(n).name for n in range(model.nbody)]
        self.links = {arm: tuple(n for n in names if n.startswith(f"{arm}_")) for arm in arms}
        self._links = {arm: np.array([model.body(n).id for n in links]) for arm, links in self.links.items()}
        owned = {name for links in self.links.values() for name in links}
        self._bodies = {n: model.body(n).id for n in names if n not in owned and model.body(n).dofnum[0] == 6}

    def channels(self) -> dict[str, Channel]:
        """Return the data sets below ``state/``: an arm's links, (L, 3) and (L, 4); a body's pose."""
        made = {}
        for arm, links in self.links.items():
            made[f"state/{arm}/positions"] = Channel((len(links), 3), "f8", np.nan, _POSITION)
            made[f"state/{arm}/orientations"] = Channel((len(links), 4), "f8", np.nan, _ORIENTATION)
        for name in self._bodies:
            made[f"state/{name}/position"] = Channel((3,), "f8", np.nan, _POSITION)
            made[f"state/{name}/orientation"] = Channel((4,), "f8", np.nan, _ORIENTATION)
        return made

    def from_state(self, qpos: Sequence[float]) -> dict[str, np.ndarray]:
        """Return the values of all channels for a state of the simulation; none when it is of another scene.

        Args:
            qpos: positions of all joints of the model.
        """
        if len(qpos) != self.model.nq:
            return {}
        self._data.qpos[:] = qpos
        return self._read(True)

    def from_joints(self, names: Sequence[str], positions: Sequence[float]) -> dict[str, np.ndarray]:
        """Return the values of the arms' channels for measured joints [rad]; where bodies are, nobody knows then.

        Args:
            names: prefixed joint names; unknown ones are passed over.
            positions: of the joints, in that order.
        """
        for name, position in zip(names, positions, strict=True):
            if name in self._joints:
                self._data.qpos[self._joints[name]] = position
        return self._read(False)

    def _read(self, bodies: bool) -> dict[str, np.ndarray]:
        mujoco.mj_kinematics(self.model, self._data)
        values = {}
        for arm, ids in self._links.items():
            values[f"state/{arm}/positions"] = self._data.xpos[ids]
            values[f"state/{arm}/orientations"] = self._data.xquat[ids]
        for name, number in self._bodies.items() if bodies else ():
            values[f"state/{name}/position"] = self._data.xpos[number]
            values[f"state/{name}/orientation"] = self._data.xquat[number]
        return values
