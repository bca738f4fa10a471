"""Scripted operators: paths of head and hands read from YAML.

The file (axes of OpenXR: x right, y up, z backwards; metres, degrees, seconds)::

    description: what it does            # text
    loop: true                           # start again at the end, default false: stay at the last keyframe
    rest:                                # poses that the tracks start from; all three must be there
      head:  {position: [0.0, 1.6, 0.0], turn: [0, 0, 0]}
      left:  {position: [-0.2, 1.1, -0.35]}
      right: {position: [0.2, 1.1, -0.35]}
    tracks:                              # keyframes of head, left, right; `both` goes to left and right
      both:
        - {t: 0.0}
        - {t: 0.2, squeeze: 1}
        - {t: 1.5}
        - {t: 2.5, offset: [0, 0, -0.1], trigger: 0.5}

Keys of a keyframe: ``t`` (ascending), ``offset`` from the rest position, ``turn`` (rotation vector applied to the rest
attitude), ``trigger``, ``squeeze``, ``thumbstick`` [x, y], ``primary``, ``secondary``, ``thumbstick_click``, ``menu``,
``tracked``, ``connected``. What is left out stays as it was. Offset and turn move along a minimum-jerk profile, trigger
and thumbstick linearly, everything else changes at its keyframe.
"""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass
from pathlib import Path

from teleop_common import spatial, yamlfile
from teleop_common.enums import PoseFlags
from teleop_common.records import ORIGIN, Controller, Pose, Quat, TrackedPose, Vec3

THINGS = ("head", "left", "right")
_SWITCHES = ("primary", "secondary", "thumbstick_click", "menu", "tracked", "connected")
_ESTIMATED = int(PoseFlags.POSITION_VALID | PoseFlags.ORIENTATION_VALID)


@dataclass(frozen=True)
class Key:
    """One keyframe, complete: what the file left out is filled in.

    Attributes:
        t: time [s].
        offset: from the rest position [m], OpenXR axes.
        turn: rotation vector [rad], applied to the rest attitude.
        trigger: [0, 1].
        squeeze: [0, 1].
        thumbstick: x, y in [-1, 1].
        primary: A or X.
        secondary: B or Y.
        thumbstick_click: stick pressed.
        menu: menu button.
        tracked: all four flags, else only the two VALID ones (an estimate).
        connected: false gives an absent controller.
    """

    t: float = 0.0
    offset: Vec3 = ORIGIN
    turn: Vec3 = ORIGIN
    trigger: float = 0.0
    squeeze: float = 0.0
    thumbstick: tuple[float, float] = (0.0, 0.0)
    primary: bool = False
    secondary: bool = False
    thumbstick_click: bool = False
    menu: bool = False
    tracked: bool = True
    connected: bool = True


@dataclass(frozen=True)
class Track:
    """The keyframes of one thing.

    Attributes:
        rest: the pose that offsets start from, OpenXR axes.
        keys: at least one, in ascending time.
    """

    rest: Pose
    keys: tuple[Key, ...]

    def at(self, t: float) -> tuple[TrackedPose, Key]:
        """Return the pose at ``t`` [s] and a keyframe that holds the other values at ``t``."""
        i = bisect.bisect_right(self.keys, t, key=_time) - 1
        if i < 0:
            i, t = 0, self.keys[0].t
        a = self.keys[i]
        b = self.keys[min(i + 1, len(self.keys) - 1)]
        u = 0.0 if b.t <= a.t else min((t - a.t) / (b.t - a.t), 1.0)
        # minimum jerk between two points at rest [Flash and Hogan 1985]
        s = u * u * u * (10.0 + u * (6.0 * u - 15.0))
        offset, turn = _between(a.offset, b.offset, s), _between(a.turn, b.turn, s)
        x, y, z = self.rest.position
        pose = Pose((x + offset[0], y + offset[1], z + offset[2]), spatial.quat_multiply(_rotation(turn), self.rest.orientation))
        now = Key(
            t,
            offset,
            turn,
            a.trigger + u * (b.trigger - a.trigger),
            a.squeeze,
            (
                a.thumbstick[0] + u * (b.thumbstick[0] - a.thumbstick[0]),
                a.thumbstick[1] + u * (b.thumbstick[1] - a.thumbstick[1]),
            ),
            *(getattr(a, name) for name in _SWITCHES),
        )
        return TrackedPose(pose, int(PoseFlags.ALL) if a.tracked else _ESTIMATED), now


@dataclass(frozen=True)
class DebugPath:
    """A scripted operator.

    Attributes:
        name: file name without its ending.
        description: what it does.
        loop: starts again at its end.
        duration: time of the last keyframe [s].
        tracks: by ``head``, ``left``, ``right``.
    """

    name: str
    description: str
    loop: bool
    duration: float
    tracks: dict[str, Track]

    def at(self, t: float) -> tuple[TrackedPose, Controller, Controller]:
        """Return head, left and right controller ``t`` [s] after the start, OpenXR axes."""
        t = max(t, 0.0)
        t = t % self.duration if self.loop else min(t, self.duration)
        head, _ = self.tracks["head"].at(t)
        return head, _controller(*self.tracks["left"].at(t)), _controller(*self.tracks["right"].at(t))


def load(path: str | Path) -> DebugPath:
    """Read a path file.

    Raises:
        ConfigError: names the file, the key, the value and what is allowed.
    """
    top = yamlfile.read(path)
    rest_table, tracks_table = top.table("rest"), top.table("tracks")
    rests = {}
    for name in THINGS:
        table = rest_table.table(name)
        x, y, z = table.numbers("position", 3, -10.0, 10.0)
        rests[name] = Pose((x, y, z), _rotation(_turn(table, ORIGIN)))
        table.done()
    rest_table.done()
    rows = {name: tracks_table.tables(name, ()) for name in THINGS}
    both = tracks_table.tables("both", ())
    if both and (rows["left"] or rows["right"]):
        raise tracks_table.error("both", "beside left or right", "either both, or left and right", "write the hands apart")
    tracks_table.done()
    keys = {name: _keys(both if both and name != "head" else rows[name]) for name in THINGS}
    duration = max(track[-1].t for track in keys.values())
    loop = top.flag("loop", False)
    if loop and duration <= 0.0:
        raise top.error("loop", True, "false for a path that lasts 0 s", "give the path a second keyframe")
    tracks = {name: Track(rests[name], keys[name]) for name in THINGS}
    loaded = DebugPath(Path(path).stem, top.text("description", ""), loop, duration, tracks)
    top.done()
    return loaded


def _keys(rows: list[yamlfile.Table]) -> tuple[Key, ...]:
    keys: list[Key] = []
    for row in rows:
        last = keys[-1] if keys else Key()
        t = row.number("t", 0.0, 3600.0)
        if keys and t <= last.t:
            raise row.error("t", t, f"more than {last.t:g}, the keyframe before", "keyframes stand in ascending time")
        x, y, z = row.numbers("offset", 3, -5.0, 5.0, last.offset)
        stick_x, stick_y = row.numbers("thumbstick", 2, -1.0, 1.0, last.thumbstick)
        trigger, squeeze = row.number("trigger", 0.0, 1.0, last.trigger), row.number("squeeze", 0.0, 1.0, last.squeeze)
        switches = [row.flag(name, getattr(last, name)) for name in _SWITCHES]
        keys.append(Key(t, (x, y, z), _turn(row, last.turn), trigger, squeeze, (stick_x, stick_y), *switches))
        row.done()
    return tuple(keys) or (Key(),)


def _turn(table: yamlfile.Table, default: Vec3) -> Vec3:
    x, y, z = table.numbers("turn", 3, -360.0, 360.0, tuple(math.degrees(v) for v in default))
    return (math.radians(x), math.radians(y), math.radians(z))


def _time(key: Key) -> float:
    return key.t


def _between(a: Vec3, b: Vec3, s: float) -> Vec3:
    return (a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), a[2] + s * (b[2] - a[2]))


def _rotation(rotvec: Vec3) -> Quat:
    angle = math.hypot(*rotvec)
    return spatial.quat_from_axis_angle(rotvec, angle) if angle > 0.0 else (0.0, 0.0, 0.0, 1.0)


def _controller(pose: TrackedPose, key: Key) -> Controller:
    if not key.connected:
        return Controller()
    return Controller(
        True,
        pose,
        pose,
        key.trigger,
        key.squeeze,
        *key.thumbstick,
        primary=key.primary,
        secondary=key.secondary,
        thumbstick_click=key.thumbstick_click,
        menu=key.menu,
    )
