"""The seam between the guard's commits and what watches space: one call per motion commit."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from teleop_common.records import ClearancePair
from teleop_safety.state import Joints

Pose = dict[str, Joints]


class Verdict(NamedTuple):
    """What may be kept of a step.

    Attributes:
        floor: share of each moving arm's own step that keeps it above the bench, absent means all of it.
        scale: share of what the floor left that keeps every pair apart, the same for all arms.
        pair: the links that bound ``scale``, empty when nothing did.
        why: for people, when a step cannot be judged at all; else empty.
        shares: share of each moving arm's own step that keeps it off itself and what stands still, before ``scale``.
        blocked: by moving arm, how its joints make the distances grow that stop the kept step, along which it may slide.
    """

    floor: dict[str, float] = {}
    scale: float = 1.0
    pair: tuple[str, ...] = ()
    why: str = ""
    shares: dict[str, float] = {}
    blocked: dict[str, tuple[Joints, ...]] = {}

    @property
    def least(self) -> float:
        """Smallest share that any arm keeps of what the floor left."""
        return self.scale * min(self.shares.values(), default=1.0)

    def share(self, arm: str) -> float:
        """Return what ``arm`` keeps of what the floor left."""
        return self.scale * self.shares.get(arm, 1.0)

    def kept(self, arm: str) -> float:
        """Return what ``arm`` keeps of its step."""
        return self.floor.get(arm, 1.0) * self.share(arm)


class Clearance(NamedTuple):
    """Distances for the page.

    Attributes:
        committed: smallest distance at the commit [m], NaN when unknown.
        measured: smallest distance at the measured joints [m], NaN when unknown.
        pairs: the nearest few pairs at the commit, points in world.
    """

    committed: float = float("nan")
    measured: float = float("nan")
    pairs: tuple[ClearancePair, ...] = ()


class Envelope(Protocol):
    """Judges steps of all arms together. Joints are each arm's own in its order, gripper last [rad]."""

    enabled: bool
    geometry: str

    def judge(self, start: Pose, goal: Pose, measured: Pose) -> Verdict:
        """Return what may be kept of the step from ``start`` to ``goal`` of the arms in ``goal``."""

    def clearance(self, committed: Pose, measured: Pose) -> Clearance:
        """Return the distances at two configurations."""


class Open:
    """The envelope that watches nothing: the filter is switched off, and everything that shows it says so."""

    enabled = False
    geometry = "none"

    def judge(self, start: Pose, goal: Pose, measured: Pose) -> Verdict:
        """Keep the whole step."""
        return Verdict()

    def clearance(self, committed: Pose, measured: Pose) -> Clearance:
        """Return no distances."""
        return Clearance()
