"""The hard streams: what a hand asks of the tool at 90 Hz, each from the same start. Pure: the same targets on every run."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from teleop_common import spatial
from teleop_common.records import Quat, Vec3
from teleop_ik.kinematics import Chain, Joints, forward, mat_from_quat, quat_from_mat
from teleop_ik.solver import Target

HZ = 90.0


class Still(NamedTuple):
    """Frames in which the hand is at rest, the first and the last included."""

    first: int
    last: int


class Stream(NamedTuple):
    """One stream.

    Attributes:
        name: key of its figures.
        title: what it is, for people.
        targets: one a frame, in the arm's base frame.
        stills: where the hand rests long enough to judge the arm at rest.
    """

    name: str
    title: str
    targets: tuple[Target, ...]
    stills: tuple[Still, ...]


class _Hand:
    """Writes a stream down: the pose now, and the frames so far."""

    def __init__(self, chain: Chain, start: Joints) -> None:
        self.chain = chain
        posture = forward(chain, start)
        self.position, self.attitude = posture.position, quat_from_mat(posture.rotation)
        self.targets: list[Target] = []
        self.stills: list[Still] = []
        self.rest(0.1)

    def emit(self, seconds: float, pose: Callable[[float], tuple[Vec3, Quat]]) -> None:
        """Append frames of ``pose`` of the share of ``seconds`` that has passed; the last one stays."""
        count = round(seconds * HZ)
        for k in range(1, count + 1):
            self.position, self.attitude = pose(k / count)
            self.targets.append(Target(self.position, mat_from_quat(self.attitude)))

    def rest(self, seconds: float) -> None:
        """Stay where it is."""
        self.emit(seconds, lambda _: (self.position, self.attitude))

    def hold(self, seconds: float) -> None:
        """Rest, and be judged."""
        first = len(self.targets) - 1
        self.rest(seconds)
        self.stills.append(Still(first, len(self.targets) - 1))

    def jump(self, position: Vec3, attitude: Quat | None = None) -> None:
        """Be somewhere else in the next frame."""
        attitude = attitude or self.attitude
        self.emit(1.0 / HZ, lambda _: (position, attitude))

    def go(self, seconds: float, position: Vec3, attitude: Quat | None = None) -> None:
        """Move in a straight line, from rest to rest."""
        here, then, to = self.position, self.attitude, attitude or self.attitude
        self.emit(seconds, lambda s: (_between(here, position, smooth(s)), _slerp(then, to, smooth(s))))

    def bend(self, seconds: float, first: Joints, last: Joints) -> None:
        """Move as the tool does while the joints go from ``first`` to ``last``."""
        self.emit(seconds, lambda s: self.at(tuple([a + smooth(s) * (b - a) for a, b in zip(first, last)])))

    def at(self, joints: Joints) -> tuple[Vec3, Quat]:
        """Return the tool's pose at ``joints``."""
        posture = forward(self.chain, joints)
        return posture.position, quat_from_mat(posture.rotation)

    def stream(self, name: str, title: str) -> Stream:
        """Return what was written."""
        return Stream(name, title, tuple(self.targets), tuple(self.stills))


def smooth(share: float) -> float:
    """Return the share of the way after a share of the time, of least jerk [Flash, Hogan 1985]."""
    return share**3 * (10.0 - 15.0 * share + 6.0 * share * share)


def _between(a: Vec3, b: Vec3, share: float) -> Vec3:
    return (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), a[2] + share * (b[2] - a[2]))


def _slerp(a: Quat, b: Quat, share: float) -> Quat:
    cosine = sum(p * q for p, q in zip(a, b))
    sign = 1.0 if cosine >= 0.0 else -1.0
    angle = math.acos(min(1.0, abs(cosine)))
    if angle < 1e-9:
        return a
    k, m = math.sin((1.0 - share) * angle) / math.sin(angle), sign * math.sin(share * angle) / math.sin(angle)
    return spatial.quat_normalized((k * a[0] + m * b[0], k * a[1] + m * b[1], k * a[2] + m * b[2], k * a[3] + m * b[3]))


def hard_streams(chain: Chain, start: Joints) -> tuple[Stream, ...]:
    """Return the streams of the SO-101 from the joints ``start``."""
    made: list[Stream] = []
    home = _Hand(chain, start)
    px, py, pz = home.position
    attitude = home.attitude
    # every joint but the pan and the roll in one line, 20° up: there the elbow is straight and nothing reaches farther
    stretched = _straight(start, math.radians(20.0))

    hand = _Hand(chain, start)
    hand.go(1.0, (px + 0.35, py, pz))
    hand.hold(1.5)
    hand.go(1.0, (px, py, pz))
    hand.hold(1.5)
    made.append(hand.stream("past_reach", "0.11 m past reach and back"))

    hand = _Hand(chain, start)
    (fx, fy, fz), far = hand.at(stretched)
    hand.go(1.5, (fx, fy, fz), far)
    hand.emit(1.0, lambda s: ((fx + 0.005 * math.sin(10.0 * math.pi * s), fy, fz), far))
    hand.emit(1.0, lambda s: ((fx, fy, fz + 0.005 * math.sin(10.0 * math.pi * s)), far))
    hand.go(0.5, (fx + 0.02, fy, fz))
    hand.hold(1.5)
    hand.go(1.5, (px, py, pz), attitude)
    hand.hold(1.5)
    made.append(hand.stream("stretch_dither", "5 mm dither at full stretch at 5 Hz, outwards, then upwards"))

    hand = _Hand(chain, start)
    hand.jump((px + 3.0 * 0.6, py + 3.0 * 0.64, pz + 3.0 * 0.48))
    hand.hold(3.0)
    hand.jump((px, py, pz))
    hand.hold(3.0)
    made.append(hand.stream("far_target", "a target 3 m away"))

    hand = _Hand(chain, start)
    hand.go(1.0, (0.2, 0.0, 0.34))
    hand.go(1.5, (-0.12, 0.0, 0.34))
    hand.hold(1.5)
    hand.go(0.3, (-0.12, 0.003, 0.34))
    hand.go(1.5, (0.2, 0.003, 0.34))
    hand.go(1.0, (px, py, pz))
    hand.hold(1.5)
    made.append(hand.stream("pan_axis", "through the pan axis, and back 3 mm beside it"))

    hand = _Hand(chain, start)
    bent = (0.0, 1.2, -1.6, 0.2, start[4])
    hand.bend(3.0, start, bent)
    hand.hold(1.5)
    hand.bend(3.0, bent, start)
    hand.hold(1.5)
    made.append(hand.stream("elbow_straight", "over the straight elbow and back"))

    hand = _Hand(chain, start)
    flipped = spatial.quat_multiply(attitude, (0.0, 0.0, 1.0, 0.0))
    for turned in (flipped, attitude) * 3 + (flipped,):
        hand.jump((px, py, pz), turned)
        hand.rest(0.5)
    hand.jump((px, py, pz), attitude)
    hand.hold(3.0)
    made.append(hand.stream("wrist_flips", "180° wrist flips, two a second"))

    hand = _Hand(chain, start)
    asks = [hand.at(tuple([q + by * s for q, by in zip(start, (0.9, 0.9, 0.9, 0.0, 0.9))])) for s in (1.0, -1.0)]
    count = round(2.0 * HZ)
    hand.emit(2.0, lambda s: asks[round(s * count) * 50 // round(HZ) % 2])
    hand.jump((px, py, pz), attitude)
    hand.hold(3.0)
    made.append(hand.stream("alternating", "±0.9 rad on four joints, in turn at 50 Hz"))

    hand = _Hand(chain, start)
    lean = (0.1, -0.2, 0.5, start[4])
    pan = _pan_apart(chain, lean, 0.6)
    left, right = hand.at((pan, *lean)), hand.at((-pan, *lean))
    hand.bend(1.5, start, (pan, *lean))
    hand.hold(1.0)
    for pose in (right, left):
        hand.jump(*pose)
        hand.hold(3.0)
    made.append(hand.stream("teleport", "0.6 m in one frame, and back"))
    return tuple(made)


def _straight(start: Joints, elevation: float) -> Joints:
    """Return the SO-101's joints with upper arm, forearm and hand in one line at ``elevation`` [rad]."""
    lift_zero = math.atan2(0.11257, 0.028)
    elbow_zero = lift_zero - math.atan2(0.0052, 0.1349)
    return (start[0], lift_zero - elevation, -elbow_zero, elbow_zero - lift_zero, start[4])


def _pan_apart(chain: Chain, lean: Joints, distance: float) -> float:
    """Return the pan [rad] at which the tool is ``distance`` [m] from where it is at the opposite pan, by halving."""
    low, high = 0.0, 0.5 * math.pi
    for _ in range(60):
        pan = 0.5 * (low + high)
        apart = math.dist(forward(chain, (pan, *lean)).position, forward(chain, (-pan, *lean)).position)
        low, high = (pan, high) if apart < distance else (low, pan)
    return 0.5 * (low + high)
