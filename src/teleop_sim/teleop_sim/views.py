"""Which views there are, and when which of them is to be rendered: the core of ``sim_cameras``."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from teleop_common import yamlfile
from teleop_common.enums import Device, DeviceReason
from teleop_common.errors import ConfigError
from teleop_common.records import DeviceReport

_WINDOW = 2.0  # [s], over which the achieved rate is measured
_ENOUGH = 0.8  # share of the configured rate below which a view is degraded


@dataclass(frozen=True)
class ViewConfig:
    """One view of ``cameras.yaml``.

    Attributes:
        name: name of the camera in the scene.
        arm: arm that carries it; empty for a camera fixed in the cell.
        width: of the picture [px].
        height: of the picture [px].
        hz: rate asked for [Hz].
        quality: of the JPEG, 1 to 95.
        facing: ``workspace`` or ``operator`` (then displays mirror it).
        operator: a view to drive by.
        record: goes into data sets.
        markers: draw the place under each finger tip on the bench.
        shadows: cast shadows.
        antialias: smooth edges.
    """

    name: str
    arm: str
    width: int
    height: int
    hz: float
    quality: int
    facing: str
    operator: bool
    record: bool
    markers: bool
    shadows: bool
    antialias: bool


def load_views(path: str | Path, arms: Collection[str]) -> tuple[ViewConfig, ...]:
    """Read the views of ``arms`` and of the cell; those of other arms are left out.

    Raises:
        ConfigError: names the file, the key, the value and what is allowed.
    """
    top = yamlfile.read(path)
    views = []
    for name, table in top.table("views").items():
        if not name.isidentifier():
            raise ConfigError(
                "key", "views", name, "letters, digits and _: it becomes part of a topic", "rename the view", str(path)
            )
        view = ViewConfig(
            name=name,
            arm=table.text("arm", ""),
            width=int(table.number("width", 16, 1280)),
            height=int(table.number("height", 16, 960)),
            hz=table.number("hz", 0.1, 60.0),
            quality=int(table.number("quality", 1, 95)),
            facing=table.text("facing", "workspace", ("workspace", "operator")),
            operator=table.flag("operator", False),
            record=table.flag("record", False),
            markers=table.flag("markers", False),
            shadows=table.flag("shadows", False),
            antialias=table.flag("antialias", False),
        )
        table.done()
        if not view.arm or view.arm in arms:
            views.append(view)
    top.done()
    return tuple(views)


@dataclass
class _Pace:
    """What one view has done."""

    due: float = 0.0
    wanted: bool = False
    rendered: int = 0
    skipped: int = 0
    seconds: float = 0.0
    achieved_hz: float = 0.0
    window_start: float = 0.0
    window_rendered: int = 0
    window_skipped: int = 0


class Scheduler:
    """Chooses the view to render next: of those wanted and due, the one that waits longest. Late pictures are skipped."""

    def __init__(self, views: Collection[ViewConfig]) -> None:
        """Start with nothing rendered."""
        self.views = {view.name: view for view in views}
        self.paces = {name: _Pace() for name in self.views}

    def next(self, now: float, wanted: Collection[str]) -> tuple[str | None, float]:
        """Return the view to render now, or none, and how long to wait before asking again [s].

        Args:
            now: monotonic time [s].
            wanted: names of the views that somebody looks at.
        """
        for name, pace in self.paces.items():
            if (name in wanted) != pace.wanted:
                pace.wanted = name in wanted
                pace.due = pace.window_start = now
                pace.window_rendered = pace.window_skipped = 0
                pace.achieved_hz = 0.0
        candidates = [(pace.due, name) for name, pace in self.paces.items() if pace.wanted]
        if not candidates:
            return None, 0.1
        due, name = min(candidates)
        if due > now:
            return None, min(due - now, 0.1)
        return name, 0.0

    def rendered(self, name: str, start: float, end: float) -> None:
        """Note that ``name`` was rendered from ``start`` to ``end`` (monotonic [s])."""
        pace, period = self.paces[name], 1.0 / self.views[name].hz
        missed = max(0, int((end - pace.due) / period))
        pace.due += (missed + 1) * period
        pace.rendered += 1
        pace.skipped += missed
        pace.window_rendered += 1
        pace.window_skipped += missed
        pace.seconds = end - start

    def postpone(self, name: str, now: float) -> None:
        """Put ``name`` off by one period: there is nothing new to render."""
        self.paces[name].due = now + 1.0 / self.views[name].hz

    def report(self, name: str, now: float, state_age: float) -> DeviceReport:
        """Return the device report of ``name`` and begin a new window when the last is full.

        Args:
            name: the view.
            now: monotonic time [s].
            state_age: age of the newest simulation state [s]; infinite before the first.
        """
        pace, view = self.paces[name], self.views[name]
        path = f"camera/{name}"
        if state_age > 1.0:
            return DeviceReport(path, Device.DISCONNECTED, DeviceReason.NO_HARDWARE_SIGNAL, "no /sim/state; start the node sim")
        if not pace.wanted:
            return DeviceReport(path, Device.CONNECTED, DeviceReason.NONE, "")
        skipped = pace.window_skipped
        if now - pace.window_start >= _WINDOW:
            pace.achieved_hz = pace.window_rendered / (now - pace.window_start)
            pace.window_start, pace.window_rendered, pace.window_skipped = now, 0, 0
        if pace.achieved_hz and pace.achieved_hz < _ENOUGH * view.hz:
            cost = f"{pace.seconds * 1e3:.0f} ms a picture"
            text = f"{pace.achieved_hz:.1f} of {view.hz:g} Hz, {skipped} skipped, {cost}"
            return DeviceReport(path, Device.DEGRADED, DeviceReason.PARTIAL_FUNCTIONALITY, text)
        return DeviceReport(path, Device.CONNECTED, DeviceReason.NONE, "")
