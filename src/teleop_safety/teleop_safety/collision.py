"""The collision filter: no pair gets nearer than the margin, or than it already was.

Distances are those of the links' capsules, which contain the links; where these are not enough, those of their convex hulls, and
then of their convex pieces.

The rule, for every pair, on the commit, along the step to it and along the way from measured to committed:
distance ≥ min(margin, distance at the start) − 1e-6, between the looks ``SAG`` less at most (``sweep``); otherwise the largest
scale of the step for which it holds. A pair of one arm, or of an arm and a box, scales that arm alone, a pair of two arms all.
On the way from the measurement the start is the nearer of measurement and last commit, so that a step which improves on the
last commit passes. The gripper never takes part: every configuration is judged at its measured opening.

Before it, each arm by itself, the floor: see there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from teleop_common.records import ClearancePair
from teleop_safety import sweep
from teleop_safety.capsules import Points
from teleop_safety.envelope import Clearance, Pose, Verdict
from teleop_safety.floor import TOLERANCE, Floor
from teleop_safety.layer import Layer, Places
from teleop_safety.pieces import Piece
from teleop_safety.screen import Screen
from teleop_safety.space import Space, in_pieces
from teleop_safety.state import Joints
from teleop_safety.sweep import Sample

_TRIES = 7  # of a scale
_CLOSE = 0.97  # of a guessed scale is tried: a guess is linear, distances are not quite
_LEAST = 1e-3  # scale below which a step is a hold
_BLOCKS = 0.003  # a pair this near to its bound, where a reduced step ends, is one that a slide must mind [m]
_NORMALS = 6  # of those, the nearest so many
_BLOCKING = 0.001  # a pair this near to the margin is shown as one that blocks: a slide leads off by less [m]
_LISTED = 4  # pairs are shown
_SHOWN = 0.1  # pairs nearer than this are shown with the hulls' distance [m]


class _Risk(NamedTuple):
    """The pairs of solids that a step concerns, measured where it and the way to it start, by index of the pair.

    Attributes:
        pairs: their indices.
        start: at the last commit.
        now: at the measured joints.
        commit: what each is held to along the step [m].
        way: and on the way from the measurement [m].
    """

    pairs: list[int]
    start: Sample
    now: Sample
    commit: dict[int, float]
    way: dict[int, float]


class CollisionFilter:
    """Judges steps by distances.

    Args:
        arms: names, in the order of the space.
        space: the model.
        margin: clearance that a step may not go below [m].
        floor: the same above the bench, for each link's exact hull [m].
        grip: number of arm joints; those after it are the gripper's.
        geometry: ``hulls``, or ``capsules`` to judge by these alone.
    """

    enabled = True

    def __init__(
        self,
        arms: tuple[str, ...],
        space: Space,
        margin: float,
        floor: float,
        grip: int,
        geometry: str = "hulls",
    ) -> None:
        """Prepare the data that every evaluation reuses."""
        self.geometry = geometry
        self._arms, self._space, self._margin, self._grip = arms, space, margin, grip
        self._floor = Floor(space, arms, grip, floor)
        self._model, self._data = space.model, space.model.createData()
        alike, count = space.alike(), len(space.pairs)
        self._coarse = Layer(space.model, self._data, space.coarse, space.capsules, alike, count)
        # from coarse to fine: each contains the next, and so has the smaller distances
        self._layers = [self._coarse]
        if geometry != "capsules":
            self._layers.append(Layer(space.model, self._data, space.fine, space.hulls, alike[: space.floor], count))
        self._fine = self._layers[-1]
        self._screen: Screen | None = None
        self._offset = {arm: i * space.width for i, arm in enumerate(arms)}
        self._held = {arm: space.held(arm) for arm in arms}
        self._concerns = [{space.bodies[i].arm for i in pair} - {""} for pair in space.pairs]

    def in_pieces(self, pieces: tuple[Piece, ...]) -> CollisionFilter:
        """Return the same filter with convex ``pieces`` of the robot's links as its finest geometry."""
        space = self._space
        finer = CollisionFilter(self._arms, space, self._margin, self._floor.clearance, self._grip)
        parts, count = in_pieces(space, pieces), len(space.pairs)
        # the hulls contain the meshes, not quite the pieces, which are inflated
        most = [max((s.radius for s in parts.solids if s.body == i), default=0.0) for i in range(len(space.hulls))]
        hulls = tuple(hull._replace(radius=radius) for hull, radius in zip(space.hulls, most))
        finer._layers = [
            finer._coarse,
            Layer(space.model, finer._data, space.fine, hulls, space.alike()[: space.floor], count),
            Layer(space.model, finer._data, parts.geometry, parts.solids, parts.pairs, count),
        ]
        finer._fine, finer.geometry = finer._layers[-1], "pieces"
        finer._screen = Screen(finer._fine)
        return finer

    @property
    def pairs(self) -> int:
        """How many pairs of links and boxes are watched."""
        return self._space.floor

    def judge(self, start: Pose, goal: Pose, measured: Pose) -> Verdict:
        """Return what may be kept of a step, see ``Envelope``."""
        unknown = [arm for arm in self._arms if arm not in start and arm not in measured]
        if unknown:
            return Verdict(scale=0.0, why=f"position of {', '.join(unknown)} unknown, clearance cannot be judged")
        before = self._vector(start, measured, measured)
        after = self._vector(goal, start, measured)
        now = self._vector(measured, start, measured)
        idle = self._idle(start, measured)
        distances = self._everything(after, idle)
        floors = self._floor.cut(tuple(goal), before, after, distances)
        for arm, share in floors.items():
            part = slice(self._offset[arm], self._offset[arm] + self._grip)
            after[part] = before[part] + share * (after[part] - before[part])
        if floors:
            distances = self._everything(after, idle)
        # from here on, wherever the step or the way to it leads, no pair gets nearer by more than this
        wanted = (self._space.reach.sway @ np.maximum(np.abs(now - after), np.abs(before - after)) + self._margin).tolist()
        close, places = self._close(distances, wanted, (after, before, now))
        if not close:
            return Verdict(floors)
        whole = sweep.end(self._fine, after, close, places[0])
        risky = [i for i in close if whole.distance[i] < wanted[self._fine.pairs[i].group]]
        if not risky:
            return Verdict(floors)
        return self._reduced(self._risk(before, whole, now, risky, places), whole, tuple(goal), floors)

    def clearance(self, committed: Pose, measured: Pose) -> Clearance:
        """Return the distances at two configurations, see ``Envelope``."""
        if any(arm not in committed and arm not in measured for arm in self._arms):
            return Clearance()
        if not self._space.floor:
            return Clearance()
        idle, actual = self._idle(committed, measured), math.nan
        if any(arm in measured for arm in self._arms):
            actual = self._nearest(self._vector(measured, committed, measured), 1, idle)[0][0]
        q = self._vector(committed, measured, measured)
        nearest, pairs = self._nearest(q, _LISTED, idle), []
        for distance, k in nearest:
            layer = self._fine if distance < _SHOWN else self._coarse
            layer.place(q)
            one, two = (tuple(map(float, point)) for point in layer.points(layer.nearest(k)[1]))
            blocking = distance <= self._margin + _BLOCKING
            pairs.append(ClearancePair(self._names(k), distance, (one, two), blocking))  # type: ignore[arg-type]
        return Clearance(nearest[0][0], actual, tuple(pairs))

    def _nearest(self, q: Points, most: int, idle: list[int]) -> list[tuple[float, int]]:
        """Return the ``most`` least distances at ``q`` [m], in order, and their pairs; beyond ``_SHOWN`` they are bounds."""
        coarse = self._everything(q, idle)[: self._space.floor]
        found: list[tuple[float, int]] = []
        for layer in self._layers[1:]:
            layer.follow()
        for k in sorted(range(len(coarse)), key=coarse.__getitem__):
            distance, full = coarse[k], len(found) == most
            if math.isinf(distance) or (full and distance >= found[-1][0]):
                break
            for layer in self._layers[1:] if distance < _SHOWN else ():
                distance = layer.nearest(k)[0]
                if full and distance >= found[-1][0]:
                    break  # the next layer's is no less
            found = sorted([*found, (distance, k)])[:most]
        return found

    def _vector(self, first: Pose, second: Pose, measured: Pose) -> Points:
        """Return all joints: each arm's from ``first``, else from ``second``, its gripper as measured."""
        values: list[float] = []
        for arm in self._arms:
            joints: Joints = first.get(arm) or second.get(arm) or measured[arm]
            values += joints[: self._grip]
            values += measured.get(arm, joints)[self._grip :]
        return np.array(values)

    def distances(self, q: Points) -> list[float]:
        """Return the distance of every watched pair of bodies at ``q``, all joints [m]; the margin or more is a bound."""
        distances = self._coarse.everything(q)[: self._space.floor]
        for layer in self._layers[1:]:
            near = [k for k, distance in enumerate(distances) if distance < self._margin]
            if near:
                layer.follow()
            for k in near:
                distances[k] = layer.nearest(k)[0]
        return distances

    def _idle(self, start: Pose, measured: Pose) -> list[int]:
        """Return the pairs of what is not held: a gripper holds something when it is measured wider than it is told to be."""
        grasp, n = self._space.grasp, self._grip
        idle: list[int] = []
        for arm in self._arms if grasp else ():
            wider = measured[arm][n] - start[arm][n] if arm in start and arm in measured else 0.0
            if math.copysign(1.0, grasp) * wider <= abs(grasp):
                idle += self._held[arm]
        return idle

    def _everything(self, q: Points, idle: list[int]) -> list[float]:
        """Return the capsules' distances at ``q`` [m], those of ``idle`` pairs infinite."""
        distances = self._coarse.everything(q)
        for k in idle:
            distances[k] = math.inf
        return distances

    def _names(self, k: int) -> tuple[str, str]:
        a, b = self._space.pairs[k]
        return self._space.bodies[a].name, self._space.bodies[b].name

    def _reduced(self, risk: _Risk, whole: Sample, moving: tuple[str, ...], floors: dict[str, float]) -> Verdict:
        """Return what of the step keeps to the rule, and which way what stops it lies."""
        layer, concerns, before, after = self._fine, self._concerns, risk.start.q, whole.q
        shares: dict[str, float] = {}
        blocking, q = -1, after.copy()
        for arm in moving:
            part = slice(self._offset[arm], self._offset[arm] + self._grip)
            own = [i for i in risk.pairs if concerns[layer.pairs[i].group] == {arm}]
            share, pair = self._largest(risk, own, before, after, part, whole)
            if share < 1.0:
                shares[arm], blocking = share, pair
                q[part] = before[part] + share * (after[part] - before[part])
        if not shares:
            # each arm's own pairs pass as they are
            both = [i for i in risk.pairs if len(concerns[layer.pairs[i].group]) > 1]
            if self._stop(risk, both, whole) < 0:
                return Verdict(floors)
        scale, pair = self._largest(risk, risk.pairs, before, q, slice(None))
        if scale == 1.0 and not shares:
            return Verdict(floors)
        blocking = pair if scale < 1.0 else blocking
        q = before + scale * (q - before)
        names = self._names(self._fine.pairs[blocking].group)
        return Verdict(floors, scale, names, shares=shares, blocked=self._blocked(risk, q, moving))

    def _risk(self, before: Points, whole: Sample, now: Points, risky: list[int], places: list[Places]) -> _Risk:
        """Return what the ``risky`` pairs are held to; any that is within the margin where step or way start is among them."""
        margin, layer, reach = self._margin, self._fine, self._space.reach
        start = sweep.start(layer, reach, before, whole, risky, margin, places[1])
        here = sweep.start(layer, reach, now, whole, risky, margin, places[2])
        groups = {i: layer.pairs[i].group for i in risky}
        at_start, at_now = dict.fromkeys(groups.values(), margin), dict.fromkeys(groups.values(), margin)
        for i, k in groups.items():
            at_start[k], at_now[k] = min(at_start[k], start.distance[i]), min(at_now[k], here.distance[i])
        commit = {i: at_start[k] - TOLERANCE for i, k in groups.items()}
        way = {i: min(commit[i], at_now[k] - TOLERANCE) for i, k in groups.items()}
        return _Risk(risky, start, here, commit, way)

    def _close(
        self, distances: list[float], need: list[float], corners: tuple[Points, Points, Points]
    ) -> tuple[list[int], list[Places]]:
        """Return the pairs of the finest solids that may be nearer than their bodies ``need`` [m], placed where the step ends.

        And where their joints are at each of ``corners``.

        Args:
            distances: of the capsules, as just measured where the step ends.
            need: by pair of bodies.
            corners: where the step ends and starts, and the measured joints: see ``Screen``.
        """
        groups = [k for k, wanted in enumerate(need) if distances[k] < wanted]
        for layer in self._layers[1:-1]:
            if groups:
                layer.follow()
                groups = [k for k in groups if layer.nearest(k)[0] < need[k]]
        if not groups:
            return [], []
        after, before, now = corners
        ways = [] if self._screen is None else [self._layers[-2].direction(k) for k in groups]
        places = [self._fine.places()]
        for q in (before, now):
            pin.forwardKinematics(self._model, self._data, q)
            places.append(self._fine.places())
        self._fine.place(after)
        if self._screen is None:
            return [i for k in groups for i in self._fine.near(k, need[k])], places
        step, way = np.abs(after - before), np.maximum(np.abs(now - before), np.abs(now - after))
        sags = self._space.reach.bend[groups] @ (np.outer(step, step) + np.outer(way, way)).ravel() / 8.0
        close: list[int] = []
        for k, n, sag in zip(groups, ways, sags.tolist()):
            close += self._screen.open(k, n, (places[0], places[1], places[2]), self._margin + sag)
        return close, places

    def _stop(self, risk: _Risk, chosen: list[int], end: Sample) -> int:
        """Return the pair that breaks the rule on the step to ``end`` or on the way to it from the measurement, -1 for none."""
        stopped = sweep.clear(self._fine, self._space.reach, risk.start, end, chosen, risk.commit)
        return stopped if stopped >= 0 else sweep.clear(self._fine, self._space.reach, risk.now, end, chosen, risk.way)

    def _largest(
        self, risk: _Risk, chosen: list[int], before: Points, after: Points, part: slice, whole: Sample | None = None
    ) -> tuple[float, int]:
        """Return the largest scale found of the step of the joints in ``part`` that keeps to the rule, and what bounds it.

        Args:
            risk: see there.
            chosen: the pairs to look at.
            before: start of the step [rad].
            after: its end [rad].
            part: the joints that move.
            whole: measured where all of the step leads, when it is known.
        """
        layer, start = self._fine, risk.start
        if not chosen:
            return 1.0, -1
        low, high, scale, guessed, blocking = 0.0, 1.0, 1.0, False, -1
        for _ in range(_TRIES):
            if whole is None or scale < 1.0:
                q = before.copy()
                q[part] += scale * (after[part] - before[part])
                end = sweep.end(layer, q, chosen)
            else:
                end = whole
            stopped = self._stop(risk, chosen, end)
            if stopped < 0 and scale == 1.0:
                return 1.0, -1
            if stopped < 0:
                low = scale
                if guessed:
                    break
            else:
                high, blocking = scale, stopped
            # a cut step may not use up the tolerance, else one that is pressed on creeps by it
            guess = math.inf
            for i in chosen:
                if end.distance[i] < risk.commit[i]:
                    room = max(start.distance[i] - risk.commit[i] - TOLERANCE, 0.0)
                    guess = min(guess, _CLOSE * scale * room / (start.distance[i] - end.distance[i]))
            guessed = low < guess < high
            if guess < _LEAST:
                break
            scale = guess if guessed else 0.5 * (low + high)
        return low, blocking

    def _blocked(self, risk: _Risk, q: Points, moving: tuple[str, ...]) -> dict[str, tuple[Joints, ...]]:
        """Return, by arm, how its joints make the distances grow that stand at their bounds at ``q``."""
        layer = self._fine
        end = sweep.end(layer, q, risk.pairs)
        room = {i: end.distance[i] - risk.commit[i] for i in risk.pairs}
        near = sorted((i for i in risk.pairs if room[i] < _BLOCKS), key=room.__getitem__)[:_NORMALS]
        gradients = layer.gradients(near, q)
        return {
            arm: tuple(tuple(map(float, g[self._offset[arm] : self._offset[arm] + self._grip])) for g in gradients)
            for arm in moving
        }
