"""The ``emulated_scene`` node: what the emulated arms and their cubes do, on the topic that renderers read in simulation."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from teleop_common import qos, records
from teleop_common.errors import ConfigError
from teleop_common.params import load
from teleop_common.runner import TeleopNode, monotonic_s
from teleop_common.schedule import Rate
from teleop_common.transport import RecordPublisher
from teleop_hw_so101.emulator.emulator import Scene
from teleop_hw_so101.emulator.scene_params import SceneParams
from teleop_hw_so101.emulator.server import Control, default_folder

_RETRY = 0.5  # [s]


class SceneNode(TeleopNode):
    """Asks the emulator's control socket, publishes, and waits for an emulator that is not there."""

    def __init__(self) -> None:
        """Offer the topic."""
        super().__init__("emulated_scene")
        self.params = params = load(self, SceneParams)
        self._folder = Path(params.folder) if params.folder else default_folder()
        self._control: Control | None = None
        self._again = 0.0
        self._steps: Rate | None = None
        self._state = RecordPublisher(self, records.SimState, "/sim/state", qos.STREAM)
        self.publish_config({"params": dataclasses.asdict(params)})
        self.every(params.sim_state_hz, self._tick)

    def _tick(self) -> None:
        now = monotonic_s()
        if self._control is None and now < self._again:
            return
        try:
            if self._control is None:
                self._control = Control(self._folder, timeout=1.0)
            self._publish(self._control.scene(), now)
        except (ConfigError, OSError) as error:
            self.get_logger().warning(f"emulator: {error}", throttle_duration_sec=5.0)
            self._hang_up()
            self._again = now + _RETRY

    def _publish(self, scene: Scene, now: float) -> None:
        if self._steps is None:
            self._steps = Rate(1.0 / scene.period)
        steps = round(scene.time / scene.period)
        factor = min(self._steps.update(steps, now) * scene.period, 1.0)
        header = records.Header(self.now_ns(), "world")
        positions, velocities = tuple(scene.qpos), tuple(scene.qvel)
        self._state.publish(records.SimState(header, scene.time, steps, positions, velocities, factor, scene.model_hash))

    def _hang_up(self) -> None:
        if self._control is not None:
            self._control.close()
        self._control = self._steps = None

    def close(self) -> None:
        """Hang up, then the rest."""
        super().close()
        self._hang_up()
