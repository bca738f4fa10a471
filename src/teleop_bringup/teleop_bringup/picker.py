"""A scripted operator who picks a cube with eyes and a hand: what it knows of the cell it sees in ``/sim/state``.

It looks at the state as it was a reaction time ago, compares where fingers and cube are with where they should be, and moves its
hand accordingly, no faster than a person. It sets no joint, and knows nothing of solver or servo. A cube that slipped is taken
up again.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

import mujoco
import numpy as np

from teleop_bringup.lockstep import Hands
from teleop_common.cell import Cell
from teleop_common.enums import PoseFlags
from teleop_common.records import Controller, Pose, SimState, TrackedPose, Vec3
from teleop_common.spatial import quat_from_axis_angle, quat_multiply, quat_normalized
from teleop_description.scene import CUBE_EDGE

Array = np.ndarray

_ALL = int(PoseFlags.ALL)
_REST = {"left": (-0.25, 1.2, -0.4), "right": (0.25, 1.2, -0.4)}  # hands at rest, OpenXR axes [m]
_PAD = -0.0064  # [m], face of the fixed finger's pad along the tool's x; the other finger closes from -x
OPEN, _CLOSED = 0.47, 1.0  # trigger, half pulled and pulled: the fingers 65 mm apart, and closed
_GAP = 0.011  # [m], by which the fixed finger keeps off the cube
PAN_AXIS = 0.0388  # [m], in front of the base
# the farther from the pan axis, the more the fingers lean outwards: [m], lean there, and growth of the lean [rad], [rad/m]
_NEAR, _LEAN, _MORE, _MOST = 0.25, math.radians(20.0), math.radians(220.0), math.radians(55.0)


@dataclass(frozen=True)
class Habits:
    """How the person moves.

    Attributes:
        reaction: age of what the eyes tell [s].
        gain: share of a seen error that the hand makes up for in a second [1/s].
        speed: fastest hand [m/s].
        turn: fastest turn of the hand [rad/s].
        acceleration: fastest change of the hand's speed [m/s²].
        tremor: amplitude of a shaking hand [m].
    """

    reaction: float = 0.1
    gain: float = 3.0
    speed: float = 0.15
    turn: float = 0.9
    acceleration: float = 1.5
    tremor: float = 0.0005


class Sight(NamedTuple):
    """What the eyes make out, world axes [m].

    Attributes:
        tool: point between the finger tips.
        attitude: rotation matrix (3, 3) of the tool; z is the approach, x the closing direction.
        cube: centre of the cube to pick.
        cube_attitude: its rotation matrix (3, 3).
        base: centre of what it is to be put on: place zone or cube.
        opening: angle of the gripper [rad].
    """

    tool: Array
    attitude: Array
    cube: Array
    cube_attitude: Array
    base: Array
    opening: float


class Eyes:
    """Makes positions out of a published state."""

    def __init__(self, model: mujoco.MjModel, arm: str, cube: str, onto: str, cell: Cell) -> None:
        """Look with ``arm`` at ``cube``, to be put on the cube ``onto`` or, when empty, into the place zone."""
        self._model, self._data = model, mujoco.MjData(model)
        self._site = model.site(f"{arm}_gripper_frame_link").id
        self._gripper = int(model.joint(f"{arm}_gripper").qposadr[0])
        self._cube, self._onto = model.body(cube).id, model.body(onto).id if onto else -1
        self._zone = np.array([*cell.place_zone, cell.bench_height])

    def see(self, state: SimState) -> Sight:
        """Return what the state shows."""
        data = self._data
        data.qpos[:] = state.qpos
        mujoco.mj_kinematics(self._model, data)
        base = data.xpos[self._onto] + (0.0, 0.0, CUBE_EDGE / 2) if self._onto >= 0 else self._zone
        return Sight(
            data.site_xpos[self._site].copy(),
            data.site_xmat[self._site].reshape(3, 3).copy(),
            data.xpos[self._cube].copy(),
            data.xmat[self._cube].reshape(3, 3).copy(),
            np.array(base),
            float(data.qpos[self._gripper]),
        )


@dataclass
class Picker:
    """The operator.

    Attributes:
        eyes: what it sees.
        arm: whose hand it uses.
        mount: base of that arm in world [m].
        habits: how it moves.
        short: how far before the cube's centre the finger tips stop [m].
        tries: times that it closed the fingers on the cube.
        step: what it is doing: see ``_STEPS``.
    """

    eyes: Eyes
    arm: str
    mount: Vec3
    habits: Habits = Habits()
    short: float = 0.0
    tries: int = 0
    step: str = "rest"
    _since: float = 0.0
    _last: float = 0.0
    _offset: Array = field(default_factory=lambda: np.zeros(3))
    _velocity: Array = field(default_factory=lambda: np.zeros(3))
    _turned: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
    _trigger: float = _CLOSED
    _face: int = -1
    _began: Array | None = None
    _memory: deque[tuple[float, SimState]] = field(default_factory=deque)

    @property
    def done(self) -> bool:
        """Whether the hand has let go for good."""
        return self.step == "done"

    def hands(self, now: float, seen: SimState) -> Hands:
        """Return what the devices say at ``now`` [s]."""
        idle = self._controller("right" if self.arm == "left" else "left", np.zeros(3), 0.0, 0.0)
        return both(self.arm, self.controller(now, seen), idle)

    def controller(self, now: float, seen: SimState) -> Controller:
        """Return what the controller in its own hand says at ``now`` [s]."""
        sight = self._look(now, seen)
        dt, self._last = min(now - self._last, 0.1), now
        if sight is not None:
            self._act(now, dt, sight)
        squeeze = 0.0 if self.step in ("rest", "done") else 1.0
        shake = self.habits.tremor * np.array([math.sin(37.0 * now), math.sin(43.0 * now + 1.0), math.sin(51.0 * now + 2.0)])
        return self._controller(self.arm, self._offset + shake, self._trigger, squeeze)

    def _look(self, now: float, seen: SimState) -> Sight | None:
        """Return what the eyes told a reaction time ago."""
        self._memory.append((now, seen))
        while len(self._memory) > 1 and self._memory[1][0] <= now - self.habits.reaction:
            self._memory.popleft()
        then, state = self._memory[0]
        return self.eyes.see(state) if state.qpos and then <= now - self.habits.reaction else None

    def _controller(self, side: str, offset: Array, trigger: float, squeeze: float) -> Controller:
        """Return a controller ``offset`` from its rest in world axes; OpenXR's x is right, y up, z backwards."""
        x, y, z = _REST[side]
        forward, left, up = offset.tolist()
        turned = (0.0, 0.0, 0.0, 1.0)
        if side == self.arm:
            a, b, c, w = self._turned
            turned = (-b, c, -a, w)
        pose = TrackedPose(Pose((x - left, y + up, z - forward), turned), _ALL)
        return Controller(True, pose, pose, trigger, squeeze)

    # ---- what it does
    def _go(self, step: str, now: float) -> None:
        self.step, self._since = step, now

    def _act(self, now: float, dt: float, sight: Sight) -> None:
        """Do the present step for ``dt`` [s], and go on to the next when its end is seen."""
        passed = now - self._since
        if self.step == "rest":
            if passed > 0.6:
                self._go("squeeze", now)
        elif self.step == "squeeze":
            if passed > 1.3:
                self._go("open", now)
        elif self.step == "open":
            if self._pull(OPEN, dt) and passed > 0.8:
                self._face = -1
                self._go("hover", now)
        elif self.step == "hover":
            if self._reach(dt, sight, 0.07, near=0.01) and passed > 1.0:
                self._go("advance", now)
        elif self.step == "advance":
            if self._reach(dt, sight, self.short, near=0.005 if passed < 2.0 else 0.008):
                self._go("close", now)
            elif passed > 4.0:
                self._go("open", now)
        elif self.step == "close":
            self._stop(dt)
            if self._pull(_CLOSED, dt) and passed > 1.2:
                self.tries += 1
                self._go("lift", now)
        elif self.step == "lift":
            lifted = np.array([*sight.tool[:2], sight.base[2] + 0.12])
            if self._move(dt, lifted - sight.tool, sight.attitude, sight, near=0.015):
                self._go("carry" if self._held(sight) else "open", now)
        elif self.step in ("carry", "lower"):
            self._bring(now, dt, sight)
        elif self.step == "release":
            self._stop(dt)
            if self._pull(OPEN, dt) and passed > 0.8:
                self._go("leave", now)
        elif self.step == "leave":
            up = np.array([0.0, 0.0, sight.cube[2] + 0.09 - sight.tool[2]])
            if self._move(dt, up, sight.attitude, sight, near=0.01):
                self._go("done", now)

    def _bring(self, now: float, dt: float, sight: Sight) -> None:
        """Carry the cube over its place and set it down."""
        if not self._held(sight):
            self._go("open", now)
            return
        place = sight.base + (0.0, 0.0, CUBE_EDGE / 2)
        if self.step == "carry":
            over = place + (0.0, 0.0, 0.06)
            if self._move(dt, over - sight.cube, self._level(sight), sight, near=0.004):
                self._go("lower", now)
            return
        self._move(dt, place - (0.0, 0.0, 0.004) - sight.cube, self._level(sight), sight, near=0.0)
        if sight.cube[2] - place[2] < 0.0015 or now - self._since > 3.0:
            self._go("release", now)

    def _held(self, sight: Sight) -> bool:
        return bool(np.linalg.norm(sight.cube - self._between(sight)) < 0.03)

    def _between(self, sight: Sight) -> Array:
        """Return where the centre of a held cube is."""
        along = sight.attitude[:, 0] * (_PAD - CUBE_EDGE / 2) + sight.attitude[:, 2] * self.short
        return np.asarray(sight.tool + along)

    def _reach(self, dt: float, sight: Sight, short: float, near: float, gap: float = _GAP) -> bool:
        """Bring the opened fingers round the cube, or ``short`` [m] of it, the fixed one ``gap`` [m] off; return whether so."""
        wanted = self._attitude(sight)
        fingers = sight.tool + wanted[:, 0] * (_PAD - CUBE_EDGE / 2 - gap)
        return self._move(dt, sight.cube - short * wanted[:, 2] - fingers, wanted, sight, near)

    def _level(self, sight: Sight) -> Array:
        """Return the tool attitude (3, 3) that sets the held cube level."""
        faces = sight.cube_attitude * np.sign(sight.cube_attitude[2])
        up = faces[:, int(np.argmax(faces[2]))]
        x, y, z = np.cross(up, (0.0, 0.0, 1.0)).tolist()
        turn, quat = np.zeros(9), np.array([1.0 + up[2], x, y, z])
        mujoco.mju_quat2Mat(turn, quat / np.linalg.norm(quat))
        return np.asarray(turn.reshape(3, 3) @ sight.attitude)

    def _attitude(self, sight: Sight) -> Array:
        """Return the tool attitude (3, 3) for the cube: down, leaning outwards where it is far, square to the cube."""
        out = self.out(sight.cube)
        distance = float(np.linalg.norm(out))
        lean = min(max(_LEAN + _MORE * (distance - _NEAR), 0.0), _MOST)
        azimuth = out / distance
        return self._square(np.array([*(math.sin(lean) * azimuth), -math.cos(lean)]), azimuth, sight)

    def out(self, point: Array) -> Array:
        """Return where a point is from the pan axis, horizontally [m]."""
        return np.asarray(point[:2] - np.array(self.mount[:2]) - (PAN_AXIS, 0.0))

    def _square(self, approach: Array, azimuth: Array, sight: Sight) -> Array:
        """Return the tool attitude (3, 3) along ``approach``, in the arm's plane along ``azimuth``, square to the cube."""
        normals = [sign * sight.cube_attitude[:, k] for k in range(3) for sign in (1.0, -1.0)]
        if self._face < 0:
            # the pair of faces on either side of the arm's plane, and of the two ways round the nearer
            side = np.array([-azimuth[1], azimuth[0], 0.0])
            self._face = int(np.argmax([abs(n @ side) + 0.01 * (n @ sight.attitude[:, 0]) for n in normals]))
        return attitude(approach, normals[self._face])

    # ---- hand and finger
    def _pull(self, wanted: float, dt: float) -> bool:
        """Move the trigger towards ``wanted``; return whether it is there."""
        self._trigger += min(max(wanted - self._trigger, -1.2 * dt), 1.2 * dt)
        return self._trigger == wanted

    def _stop(self, dt: float) -> None:
        self._hand(dt, np.zeros(3), np.zeros(3))

    def _move(self, dt: float, error: Array, wanted: Array, sight: Sight, near: float) -> bool:
        """Move the hand to make up for ``error`` [m] and for the attitude; return whether both are small."""
        turn = self._steerable(_rotation_vector(wanted @ sight.attitude.T), sight)
        relax = self._slip(sight) - self._steerable(self._slip(sight), sight)
        self._hand(dt, self.habits.gain * error, self.habits.gain * (turn + relax))
        return bool(np.linalg.norm(error) < near and np.linalg.norm(turn) < 0.07)

    def _slip(self, sight: Sight) -> Array:
        """Return how the tool is turned from what the hand asks for [rad]: a wrist that is not followed relaxes."""
        if self._began is None:
            self._began = sight.attitude
        asked = np.zeros(9)
        x, y, z, w = self._turned
        mujoco.mju_quat2Mat(asked, np.array([w, x, y, z]))
        return _rotation_vector(sight.attitude @ (asked.reshape(3, 3) @ self._began).T)

    def _steerable(self, turn: Array, sight: Sight) -> Array:
        """Return the part of a turn [rad] that five joints follow: about the approach, and up and down in the arm's plane."""
        approach = sight.attitude[:, 2]
        x, y = self.out(sight.tool)
        normal = np.array([-y, x, 0.0]) / math.hypot(x, y)
        return np.asarray((turn @ approach) * approach + (turn @ normal) * normal)

    def _hand(self, dt: float, velocity: Array, turn: Array) -> None:
        habits = self.habits
        velocity = velocity * min(1.0, habits.speed / max(float(np.linalg.norm(velocity)), 1e-9))
        change = velocity - self._velocity
        most = habits.acceleration * dt
        self._velocity = self._velocity + change * min(1.0, most / max(float(np.linalg.norm(change)), 1e-9))
        self._offset = self._offset + self._velocity * dt
        rate = float(np.linalg.norm(turn))
        if rate > 1e-9:
            x, y, z = turn.tolist()
            by = quat_from_axis_angle((x, y, z), min(rate, habits.turn) * dt)
            self._turned = quat_normalized(quat_multiply(by, self._turned))


def both(arm: str, own: Controller, other: Controller) -> Hands:
    """Return both hands below a head that looks ahead; ``own`` is the hand of ``arm``."""
    head = TrackedPose(Pose((0.0, 1.6, 0.0)), _ALL)
    return Hands(head, own, other) if arm == "left" else Hands(head, other, own)


def attitude(approach: Array, across: Array) -> Array:
    """Return the tool attitude (3, 3) along ``approach`` (unit) whose fingers close as nearly along ``across`` as can be."""
    x = across - (across @ approach) * approach
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(approach, x), approach])


def _rotation_vector(rotation: Array) -> Array:
    """Return the rotation vector [rad] of a rotation matrix."""
    quat, vector = np.zeros(4), np.zeros(3)
    mujoco.mju_mat2Quat(quat, rotation.ravel())
    mujoco.mju_quat2Vel(vector, quat, 1.0)
    return vector
