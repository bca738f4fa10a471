"""The ``sim_cameras`` node: renders the configured views from the published simulation state."""

from __future__ import annotations

import array
import dataclasses
import os
import platform
import threading
import time

os.environ.setdefault("MUJOCO_GL", "egl")  # read when mujoco is imported, so before the imports below
os.environ.setdefault("LP_NUM_THREADS", "1")  # a software rasteriser that takes every core takes it from the control loop

from sensor_msgs.msg import CameraInfo, CompressedImage  # noqa: E402

from teleop_common import cell, limits, paths, qos, records  # noqa: E402
from teleop_common.enums import Provider  # noqa: E402
from teleop_common.errors import ConfigError  # noqa: E402
from teleop_common.params import load  # noqa: E402
from teleop_common.runner import TeleopNode, monotonic_s  # noqa: E402
from teleop_common.transport import RecordPublisher, subscribe  # noqa: E402
from teleop_description.scene import build  # noqa: E402
from teleop_sim.cameras_params import CamerasParams  # noqa: E402
from teleop_sim.rendering import SceneRenderer  # noqa: E402
from teleop_sim.views import Scheduler, ViewConfig, load_views  # noqa: E402


class CamerasNode(TeleopNode):
    """Shell around ``Scheduler`` and ``SceneRenderer``."""

    def __init__(self) -> None:
        """Read the views and start the rendering thread."""
        super().__init__("sim_cameras")
        self.params = params = load(self, CamerasParams)
        os.nice(params.niceness)
        robot = limits.load(paths.config("limits/so101.yaml", params.limits_file))
        room = cell.load(paths.config("cell.yaml", params.cell_file))
        views = load_views(paths.config("cameras.yaml", params.cameras_file), params.arms)
        tools = [f"{arm}_{robot.tip_link}" for arm in params.arms]
        self.renderer = SceneRenderer(build(params.arms, room, robot), tools, room.bench_height)
        self.renderer.check(views)
        self.scheduler = Scheduler(views)
        for name in set(params.always) - set(self.scheduler.views):
            raise ConfigError("parameter", "always", name, "one of " + ", ".join(self.scheduler.views), "mend the list")
        self._newest: records.SimState | None = None
        self._heard = float("-inf")
        self._images, self._infos, self._reports = {}, {}, {}
        for name in self.scheduler.views:
            base = f"/teleop/cameras/{name}"
            self._images[name] = self.create_publisher(CompressedImage, f"{base}/image/compressed", qos.IMAGE)
            self._infos[name] = self.create_publisher(CameraInfo, f"{base}/camera_info", qos.IMAGE)
            self._reports[name] = RecordPublisher(self, records.ProviderReport, f"/teleop/devices/camera/{name}", qos.STREAM)
        self.publish_config({"params": dataclasses.asdict(params), "views": [dataclasses.asdict(view) for view in views]})
        subscribe(self, records.SimState, "/sim/state", self._on_state, qos.NEWEST)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._render_loop, name="renderer", daemon=True)
        self._thread.start()
        self.every(1.0, self._report)

    def _on_state(self, state: records.SimState) -> None:
        self._newest, self._heard = state, monotonic_s()

    def _render_loop(self) -> None:
        """Render until told to stop; contexts are made, used and released in this thread."""
        shown: dict[str, int] = {}
        try:
            while not self._stopping.is_set():
                wanted = {n for n, p in self._images.items() if n in self.params.always or p.get_subscription_count()}
                name, wait = self.scheduler.next(monotonic_s(), wanted)
                state = self._newest
                if name is None:
                    self._stopping.wait(wait)
                elif state is None or shown.get(name) == state.header.stamp:
                    self.scheduler.postpone(name, monotonic_s())
                else:
                    shown[name] = state.header.stamp
                    self._render(self.scheduler.views[name], state)
        except BaseException as error:  # noqa: BLE001 - handed to the main thread, which ends the process
            self.fail(error)
        finally:
            self.renderer.close()

    def _render(self, view: ViewConfig, state: records.SimState) -> None:
        start = monotonic_s()
        if not self.renderer.set_state(state.qpos):
            text = (
                f"/sim/state: got {len(state.qpos)} positions, allowed {self.renderer.model.nq}; start both nodes with equal arms"
            )
            self.get_logger().error(text, throttle_duration_sec=5.0)
            self.scheduler.postpone(view.name, start)
            return
        image = CompressedImage(format="jpeg")
        # an array is taken over as it is; bytes would be checked one by one
        image.data = array.array("B", self.renderer.jpeg(view))
        image.header.stamp.sec, image.header.stamp.nanosec = divmod(state.header.stamp, 1_000_000_000)
        image.header.frame_id = f"{view.name}_optical"
        self._images[view.name].publish(image)
        self._infos[view.name].publish(self._info(view, image))
        self.scheduler.rendered(view.name, start, monotonic_s())

    def _info(self, view: ViewConfig, image: CompressedImage) -> CameraInfo:
        focal, cx, cy = self.renderer.focal_length(view), view.width / 2.0, view.height / 2.0
        info = CameraInfo(header=image.header, width=view.width, height=view.height, distortion_model="plumb_bob")
        info.d = [0.0] * 5
        info.k = [focal, 0.0, cx, 0.0, focal, cy, 0.0, 0.0, 1.0]
        info.r = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
        info.p = [focal, 0.0, cx, 0.0, 0.0, focal, cy, 0.0, 0.0, 0.0, 1.0, 0.0]
        return info

    def _report(self) -> None:
        now, host = monotonic_s(), platform.node()
        for name, publisher in self._reports.items():
            device = self.scheduler.report(name, now, now - self._heard)
            header = records.Header(self.now_ns(), "")
            mono_ns = time.monotonic_ns()
            report = records.ProviderReport(
                header, 1, mono_ns, host, os.getpid(), f"camera/{name}", Provider.AVAILABLE, "", (device,)
            )
            publisher.publish(report)
            if "skipped" in device.error:
                self.get_logger().warning(f"{name}: {device.error}", throttle_duration_sec=10.0)

    def close(self) -> None:
        """End the rendering thread, then the rest."""
        self._stopping.set()
        self._thread.join(2.0)
        super().close()
