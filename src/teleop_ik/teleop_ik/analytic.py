"""Closed form for the SO-101: position, approach elevation and roll to five joints, no iteration on position.

Source of every formula: the chain itself. The pan axis is vertical; lift, elbow and wrist flex turn about one horizontal
axis, so the arm works in a vertical plane that passes the pan axis at a lateral distance; the roll axis lies in that plane.
Constants are those of the URDF (origins of its joints); ``Analytic`` refuses a chain that does not fit them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

from teleop_common.errors import ConfigError
from teleop_ik import planar, rolling
from teleop_ik.kinematics import Chain, Joints, Mat, forward
from teleop_ik.rolling import Pose
from teleop_ik.solver import UNREACHABLE, Bounds, Solution, Target, ended, refused, usable, within, without_yaw

TAU = 2.0 * math.pi
_ROLL_ITERATIONS = 12
_ROLL_TOLERANCE = 1e-5  # [rad], of the attitude alone: position is exact for whatever roll
_WIDE = 0.1  # [m], from the pan axis, from which a roll changes the radius of the tool by less than 0.4 mm
_PROBE = 1e-4  # [rad]
_SWINGS = 0.02  # [m], the most by which rolls differ, and what follows of it
_NEAR_AXIS = 0.026  # [m], three times the lever of the roll


class Geometry(NamedTuple):
    """Lengths [m] and angles [rad] of the arm.

    Attributes:
        x: pan axis in the base frame.
        y: pan axis in the base frame.
        radial: from the pan axis to the lift axis, in the plane.
        height: of the lift axis above the base.
        lateral: of the roll axis from the pan axis, to the left.
        upper: lift axis to elbow axis.
        fore: elbow axis to wrist axis.
        lift_zero: elevation of the upper arm at lift zero.
        elbow_zero: elbow angle minus its joint value.
        tool: wrist axis to tool point along the roll axis.
        tool_x: offset of the tool point from the roll axis, towards up at level roll.
        tool_y: the same, towards the left.
        roll_zero: joint value at which the hand is level.
    """

    x: float = 0.0388353
    y: float = -8.97657e-09
    radial: float = 0.0303992
    height: float = 0.0624 + 0.0542
    lateral: float = -0.0182778 + 0.0181
    upper: float = math.hypot(0.028, 0.11257)
    fore: float = math.hypot(0.1349, 0.0052)
    lift_zero: float = math.atan2(0.11257, 0.028)
    elbow_zero: float = math.atan2(0.11257, 0.028) - math.atan2(0.0052, 0.1349)
    tool: float = 0.0611 + 0.0981274
    tool_x: float = -0.0079
    tool_y: float = -0.000218121
    roll_zero: float = 0.0486795

    @property
    def level(self) -> float:
        """Roll [rad] at which the tool point's lever about the roll axis lies in the arm's plane."""
        return self.roll_zero - math.atan2(self.tool_y, -self.tool_x)


SO101 = Geometry()


def tool_point(geometry: Geometry, joints: Joints) -> tuple[float, float, float]:
    """Return the tool position [m] in the base frame: the closed form of forward kinematics, to check a chain against."""
    q1, q2, q3, q4, q5 = joints
    g = q5 - geometry.roll_zero
    lateral, normal = _offsets(geometry, g)
    first = geometry.lift_zero - q2
    second = first - geometry.elbow_zero - q3
    phi = -(q2 + q3 + q4)
    r = geometry.radial + geometry.upper * math.cos(first) + geometry.fore * math.cos(second)
    z = geometry.height + geometry.upper * math.sin(first) + geometry.fore * math.sin(second)
    r += geometry.tool * math.cos(phi) - normal * math.sin(phi)
    z += geometry.tool * math.sin(phi) + normal * math.cos(phi)
    d = geometry.lateral + lateral
    co, si = math.cos(q1), -math.sin(q1)
    return (geometry.x + r * co - d * si, geometry.y + r * si + d * co, z)


def tool_attitude(geometry: Geometry, joints: Joints) -> Mat:
    """Return the tool's attitude in the base frame."""
    co, si = math.cos(joints[0]), -math.sin(joints[0])
    phi = -(joints[1] + joints[2] + joints[3])
    cp, sp = math.cos(phi), math.sin(phi)
    cg, sg = math.cos(joints[4] - geometry.roll_zero), math.sin(joints[4] - geometry.roll_zero)
    # columns from the plane's left (-si, co, 0), its upward normal to the approach (-sp·co, -sp·si, cp), and the approach
    return (
        sg * si + cg * sp * co,
        -cg * si + sg * sp * co,
        cp * co,
        -sg * co + cg * sp * si,
        cg * co + sg * sp * si,
        cp * si,
        -cg * cp,
        -sg * cp,
        sp,
    )


def _offsets(geometry: Geometry, g: float) -> tuple[float, float]:
    """Return lateral and in-plane offset [m] of the tool point from the roll axis at roll ``g`` [rad] from level."""
    co, si = math.cos(g), math.sin(g)
    return geometry.tool_x * si + geometry.tool_y * co, geometry.tool_x * co - geometry.tool_y * si


def nearest_turn(angle: float, reference: float) -> float:
    """Return ``angle`` [rad] plus the whole turns that bring it nearest to ``reference``."""
    return angle - TAU * round((angle - reference) / TAU)


def clamp(value: float, low: float, high: float) -> float:
    """Return ``value`` drawn into [low, high]."""
    return low if value < low else high if value > high else value


class Analytic:
    """The closed form behind the solvers' interface: exact within reach, the closest pose outside it.

    Order of preference: the exact pose on the branch of the seed; else, of all poses that reach the point, the one with the
    least sum of elevation given up and joint distance from the seed; else the closest point. So position is never traded for
    attitude, and an arm does not flip its elbow to save a few degrees of elevation.
    """

    name = "analytic"

    def __init__(self, chain: Chain, geometry: Geometry = SO101, source: str = "") -> None:
        """Check that ``chain`` is the arm that the formulas describe.

        Raises:
            ConfigError: it is another robot.
        """
        self.chain = chain
        self.geometry = geometry
        for joints in ((0.0,) * 5, (0.9, -0.7, 0.8, 0.9, 1.3), (-1.4, 0.5, -1.1, -0.8, -2.0)):
            ours = tool_point(geometry, joints)
            error = math.dist(ours, forward(chain, joints).position) if len(chain.links) == 5 else math.inf
            if error > 2e-5:
                found = f"{len(chain.links)} joints, tool {1e3 * error:.2f} mm off"
                raise ConfigError("solver", "analytic", found, "the SO-101's geometry", "use solver:=differential", source)

    def solve(self, target: Target, seed: Joints, previous: Joints, bounds: Bounds, dt: float, rate: Joints = ()) -> Solution:
        """See ``solver.Solver``."""
        if not usable(target, seed, previous):
            return refused(previous)
        allowed = within(bounds, previous)
        lower, upper = allowed.lower, allowed.upper
        near, far = self._sides(target, seed)
        best = self._reach(target, seed, lower, upper, near, exact_only=True)
        if best is None:
            poses = [self._reach(target, seed, lower, upper, side, exact_only=False) for side in (near, far)]
            best = min((p for p in poses if p is not None), key=lambda p: _score(p, seed, poses))
            free = upper[4] - lower[4] > _ROLL_TOLERANCE
            if best.error > rolling.GIVEN_UP and free and not self._stretched(target, best, lower, upper):
                most = best.error + _SWINGS
                sides = [side for side, pose in zip((near, far), poses) if pose is not None and pose.error < most]

                def at(roll: float) -> Pose:
                    return self._nearest(target, seed, (*lower[:4], roll), (*upper[:4], roll), sides)

                def nearer(joints: Joints) -> float:
                    return self._nearer(target, joints)

                best = rolling.nearest(at, nearer, best, self.geometry.level, lower[4], upper[4], seed[4])
        reached = best.joints
        excess = (0.0, 0.0, 0.0)
        if best.error > 1e-9:
            x, y, z = tool_point(self.geometry, reached)
            excess = (target.position[0] - x, target.position[1] - y, target.position[2] - z)
        turned = _attitude_error(target.rotation, reached, self.geometry.roll_zero)
        return ended(previous, reached, allowed, dt, excess, turned)

    def _sides(self, target: Target, seed: Joints) -> tuple[float, float]:
        """Return +1 (in front of the pan axis) and -1 (behind it), the one nearer to the seed's pan first."""
        px = target.position[0] - self.geometry.x
        py = target.position[1] - self.geometry.y
        # the signed radius of the target in the plane of the seed
        side = 1.0 if px * math.cos(seed[0]) - py * math.sin(seed[0]) >= 0.0 else -1.0
        return side, -side

    def _reach(self, target: Target, seed: Joints, lower: Joints, upper: Joints, side: float, exact_only: bool) -> Pose | None:
        """Return the best pose on one side of the pan axis; None when ``exact_only`` and there is no exact one near the seed."""
        geometry = self.geometry
        px = target.position[0] - geometry.x
        py = target.position[1] - geometry.y
        rho2 = px * px + py * py
        azimuth = math.atan2(py, px)

        def now() -> Mat:
            return tool_attitude(geometry, seed)

        roll = clamp(seed[4], lower[4], upper[4])
        # the roll moves the tool point sideways, which turns the plane, which changes the roll: contracts by 8 mm / radius.
        # Nearer to the pan axis that hunts, so the roll then only leans towards what attitude asks, frame by frame.
        weight = min(1.0, rho2 / (_NEAR_AXIS * _NEAR_AXIS))
        last = _ROLL_ITERATIONS - 1 if weight == 1.0 else 1
        for attempt in range(_ROLL_ITERATIONS):
            lateral, normal = _offsets(geometry, roll - geometry.roll_zero)
            d = geometry.lateral + lateral
            if d * d > rho2:
                # nearer to the pan axis than the tool point is to the arm's plane: only another roll reaches the position
                roll = self._roll_for((math.sqrt(rho2), -math.sqrt(rho2)), roll, lower[4], upper[4])
                lateral, normal = _offsets(geometry, roll - geometry.roll_zero)
                d = geometry.lateral + lateral
            r = side * math.sqrt(max(0.0, rho2 - d * d))
            pan = clamp(planar.wrap(math.atan2(d, r) - azimuth), lower[0], upper[0])
            co, si = math.cos(pan), -math.sin(pan)
            phi, level = _elevation_and_roll(target, co, si, now)
            wanted = nearest_turn(level + geometry.roll_zero, seed[4])
            wanted = lower[4] if wanted < lower[4] else upper[4] if wanted > upper[4] else wanted
            if abs(wanted - roll) < _ROLL_TOLERANCE or attempt == last:
                break  # position below is exact for the roll in use, converged or not
            roll += weight * (wanted - roll)
        # the target in the plane of the arm, and how far it lies beside it
        r = px * co + py * si
        beside = py * co - px * si - d
        if abs(beside) > 1e-9:
            # the pan is at its limit: within 8 mm of its axis another roll still reaches the position
            roll = self._roll_for((py * co - px * si,), roll, lower[4], upper[4])
            lateral, normal = _offsets(geometry, roll - geometry.roll_zero)
            beside = py * co - px * si - geometry.lateral - lateral
        rl, zl = r - geometry.radial, target.position[2] - geometry.height
        low, high = (lower[1], lower[2], lower[3]), (upper[1], upper[2], upper[3])
        bent = seed[2] + geometry.elbow_zero
        sign = 1.0 if math.sin(bent) >= 0.0 else -1.0
        cp, sp = math.cos(phi), math.sin(phi)
        elbow = planar.two_links(
            geometry.upper,
            geometry.fore,
            rl - geometry.tool * cp + normal * sp,
            zl - geometry.tool * sp - normal * cp,
            sign,
        )
        if elbow is not None and abs(beside) < 1e-9:
            lift, flex = geometry.lift_zero - elbow[0], elbow[1] - geometry.elbow_zero
            if abs(bent) > 3.0:  # a start outside the limits may have folded the elbow past the half turn
                flex = nearest_turn(flex, seed[2])
                joints = (lift, flex, nearest_turn(-phi - lift - flex, seed[3]))
            else:
                joints = (lift, flex, -phi - lift - flex)
            kept = planar.inside(joints, low, high)
            if kept is not None:
                return Pose((pan, *kept, roll), 0.0, 0.0)
        if exact_only:
            return None
        tilt = math.atan2(normal, geometry.tool)
        arm = planar.Planar(
            geometry.upper,
            geometry.fore,
            math.hypot(geometry.tool, normal),
            geometry.lift_zero,
            geometry.elbow_zero,
            geometry.lift_zero - geometry.elbow_zero - tilt,
        )
        e3 = phi + tilt
        middle = (seed[1], seed[2], seed[3])
        either = (planar.exact(arm, rl, zl, e3, sign), planar.exact(arm, rl, zl, e3, -sign))
        found = planar.all_inside(either, low, high)
        found += planar.nearest_elevation(arm, rl, zl, low, high)
        if not found:
            options = planar.closest_point(arm, rl, zl, low, high)
            errors = [math.dist(planar.point(arm, j)[:2], (rl, zl)) for j in options]
            least = min(errors)
            found = [j for j, error in zip(options, errors) if error <= least + 1e-6]
        chosen = min(found, key=lambda j: _cost(planar.point(arm, j)[2] - e3, j, middle))
        at_r, at_z, at_e3 = planar.point(arm, chosen)
        error = math.sqrt((at_r - rl) ** 2 + (at_z - zl) ** 2 + beside * beside)
        return Pose((pan, *chosen, roll), error, abs(planar.wrap(at_e3 - e3)))

    def _nearest(self, target: Target, seed: Joints, lower: Joints, upper: Joints, sides: Iterable[float]) -> Pose:
        """Return the best pose of the given sides of the pan axis."""
        poses = [self._reach(target, seed, lower, upper, side, exact_only=False) for side in sides]
        return min((p for p in poses if p is not None), key=lambda p: _score(p, seed, poses))

    def _stretched(self, target: Target, pose: Pose, lower: Joints, upper: Joints) -> bool:
        """Return whether an arm that does not reach its target is in line with it: a roll then gains less than is given up."""
        geometry, (pan, _, _, flex, _) = self.geometry, pose.joints
        off = min(pan - lower[0], upper[0] - pan, flex - lower[3], upper[3] - flex)
        wide = math.hypot(target.position[0] - geometry.x, target.position[1] - geometry.y) > _WIDE
        return off > _ROLL_TOLERANCE and wide and pose.error > UNREACHABLE

    def _nearer(self, target: Target, joints: Joints) -> float:
        """Return how much nearer to the target a turn of the roll brings the tool, as a sign with some scale."""
        x, y, z = tool_point(self.geometry, joints)
        u, v, w = tool_point(self.geometry, (*joints[:4], joints[4] + _PROBE))
        px, py, pz = target.position
        return (px - x) * (u - x) + (py - y) * (v - y) + (pz - z) * (w - z)

    def _roll_for(self, sideways: tuple[float, ...], roll: float, low: float, high: float) -> float:
        """Return the roll [rad] nearest to ``roll`` that brings the tool point to one of ``sideways`` [m] from the pan axis."""
        geometry = self.geometry
        amplitude = math.hypot(geometry.tool_x, geometry.tool_y)
        phase = math.atan2(geometry.tool_y, geometry.tool_x)  # lateral = amplitude·sin(g + phase)
        options = []
        for distance in sideways:
            angle = math.asin(clamp((distance - geometry.lateral) / amplitude * (1.0 - 1e-12), -1.0, 1.0))
            for g in (angle - phase, math.pi - angle - phase):
                for near in (roll, 0.5 * (low + high)):
                    options.append(nearest_turn(g + geometry.roll_zero, near))
        inside = [option for option in options if low <= option <= high]
        return clamp(min(inside or options, key=lambda option: abs(option - roll)), low, high)


def _cost(tilt: float, joints: planar.Triple, seed: planar.Triple) -> float:
    """Return elevation given up plus the largest joint distance from the seed [rad]."""
    return abs(planar.wrap(tilt)) + max(abs(joints[0] - seed[0]), abs(joints[1] - seed[1]), abs(joints[2] - seed[2]))


def _score(pose: Pose, seed: Joints, poses: list[Pose | None]) -> tuple[bool, float]:
    """Return the key by which poses are ranked: those as close to the point as any, then least tilt and joint distance."""
    least = min(p.error for p in poses if p is not None)
    return pose.error > least + 1e-6, pose.tilt + max(abs(a - b) for a, b in zip(pose.joints, seed))


def _elevation_and_roll(target: Target, co: float, si: float, now: Callable[[], Mat]) -> tuple[float, float]:
    """Return elevation of the approach in the arm's plane and roll from level [rad] of the attitude nearest to the target's.

    Args:
        target: asked pose.
        co: cosine of the azimuth of the arm's plane.
        si: its sine.
        now: gives the attitude that the tool has.
    """
    (a, b, c, d, e, f, g, h, i), _ = without_yaw(target.rotation, co, si, now)
    phi = math.atan2(i, c * co + f * si)
    cp, sp = math.cos(phi), math.sin(phi)
    # the tool's x and y along the plane's left, and along its upward normal to the approach
    x_left, y_left = d * co - a * si, e * co - b * si
    x_up, y_up = cp * g - sp * (a * co + d * si), cp * h - sp * (b * co + e * si)
    # at roll g the tool's x is (-sin g, -cos g) and its y (cos g, -sin g) in (left, up): the g of the largest trace
    return phi, math.atan2(-x_left - y_up, y_left - x_up)


def _attitude_error(rotation: tuple[float, ...], joints: Joints, roll_zero: float) -> float:
    """Return the angle [rad] between an attitude and that of the tool at ``joints``."""
    a, b, c, d, e, f, g, h, i = rotation
    co, si = math.cos(joints[0]), -math.sin(joints[0])
    phi = -(joints[1] + joints[2] + joints[3])
    cp, sp = math.cos(phi), math.sin(phi)
    cg, sg = math.cos(joints[4] - roll_zero), math.sin(joints[4] - roll_zero)
    x_left, y_left = d * co - a * si, e * co - b * si
    x_up, y_up = cp * g - sp * (a * co + d * si), cp * h - sp * (b * co + e * si)
    along = cp * (c * co + f * si) + sp * i
    trace = cg * (y_left - x_up) - sg * (x_left + y_up) + along
    return math.acos(clamp(0.5 * (trace - 1.0), -1.0, 1.0))
