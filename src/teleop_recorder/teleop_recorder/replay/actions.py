"""A take onto arms: they are asked of the guard, eased to where the take begins, led through it, and given back.

Everything goes through the guard, by its owner ``replay``: what is asked for is limited, cut and stopped as a hand's wish is.
Arms start from what they were told last, not from what is measured: a servo that droops under its load need not rise first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from teleop_common.enums import Authority, TargetStatus
from teleop_common.records import ArmAuthority, AuthorityState, Header, JointTarget, JointTargets
from teleop_recorder.replay.cursor import Cursor
from teleop_recorder.replay.script import Joints, Script

OWNER = "replay"  # the guard's name for it


class Phase(StrEnum):
    """How far a replay is."""

    ASKING = "asking"
    EASING = "easing"
    PLAYING = "playing"
    SETTLING = "settling"
    DONE = "done"
    FAILED = "failed"


OVER = (Phase.DONE, Phase.FAILED)


@dataclass(frozen=True)
class Settings:
    """Numbers of a replay.

    Attributes:
        ease_speed: fastest joint on the way to where the take begins [rad/s].
        arrived: distance from there, of what the guard committed, at which the take begins [rad].
        patience: time that an arm may need beyond the planned one to arrive, or to be given [s].
        stale: age of the authority beyond which the guard is gone [s].
    """

    ease_speed: float = 0.5
    arrived: float = 0.02
    patience: float = 3.0
    stale: float = 0.5


@dataclass
class ActionReplay:
    """One replay; plain values, so that it can be stored.

    Attributes:
        script: what the arms are told.
        names: arm → its joints' names, prefixed, in the script's order.
        cursor: where in the script it is.
        settings: numbers.
        phase: how far it is.
        reason: why it failed, or how far the arms were from the end.
        since: when the phase began [s, monotonic].
        start: arm → joints from which it is eased [rad].
    """

    script: Script
    names: Mapping[str, tuple[str, ...]]
    cursor: Cursor
    settings: Settings = Settings()
    phase: Phase = Phase.ASKING
    reason: str = ""
    since: float | None = None
    start: dict[str, Joints] = field(default_factory=dict)

    def refused(self, why: str) -> None:
        """Take the guard's refusal of an arm, in its words: none of them moves."""
        self._fail(why)

    def stop(self) -> None:
        """End it: the arms are to be given back where they are."""
        if self.phase not in OVER:
            self.phase, self.reason = Phase.DONE, "stopped"

    def step(self, now: float, stamp: int, state: AuthorityState) -> JointTargets | None:
        """Return what to ask of the guard at ``now``, None for nothing; call it at 100 Hz.

        Args:
            now: monotonic clock [s].
            stamp: ROS clock [ns].
            state: the newest authority of all arms.
        """
        if self.phase in OVER:
            return None
        if self.since is None:
            self.since = now
        arms = {arm.arm: arm for arm in state.arms if arm.arm in self.script.joints}
        if not self._ours(now, stamp, state, arms):
            return None
        wanted = self._wanted(now, {name: arm.reference for name, arm in arms.items()})
        if self.phase in OVER:
            return None
        return JointTargets(
            header=Header(stamp),
            origin_stamp=stamp,
            authority_sequence=state.sequence,
            step_time_ns=round(now * 1e9),
            arms=tuple([self._target(arms[arm], position) for arm, position in wanted.items()]),
        )

    def _ours(self, now: float, stamp: int, state: AuthorityState, arms: Mapping[str, ArmAuthority]) -> bool:
        """Return whether every arm is this replay's; one that is lost ends it for all."""
        assert self.since is not None
        lost = [name for name in self.script.joints if name not in arms or not _has(arms[name])]
        if self.phase is Phase.ASKING:
            if lost and now - self.since > self.settings.patience:
                self._fail(f"arm '{lost[0]}': not given within {self.settings.patience:g} s; look whether the guard runs")
            elif not lost:
                self._ease(now, {name: arm.reference for name, arm in arms.items()})
            return not lost
        if (stamp - state.header.stamp) * 1e-9 > self.settings.stale:
            self._fail(f"guard: silent for {self.settings.stale:g} s")
        elif lost:
            arm = arms.get(lost[0])
            why = f"{Authority(arm.state).name}, {arm.reason}".rstrip(", ") if arm else "gone"
            self._fail(f"arm '{lost[0]}': taken away ({why})")
        return self.phase is not Phase.FAILED

    def _wanted(self, now: float, reference: Mapping[str, Joints]) -> dict[str, Joints]:
        """Return where the arms are to be now, and go on to the next phase when it is time."""
        assert self.since is not None
        first, last = self.script.at(0.0), self.script.at(self.script.duration)
        if self.phase is Phase.EASING:
            needed = self._easing_time(first)
            passed = now - self.since
            if passed < needed:
                share = 0.5 * (1.0 - math.cos(math.pi * passed / needed))
                return {arm: _between(self.start[arm], first[arm], share) for arm in first}
            arm, joint, distance = self._farthest(reference, first)
            if distance > self.settings.arrived:
                if passed > needed + self.settings.patience:
                    self._fail(f"arm '{arm}': {joint} stays {distance:.3f} rad from where the take begins; clear its way")
                return first
            self._enter(Phase.PLAYING, now)
        if self.phase is Phase.PLAYING:
            wanted = self.script.at(self.cursor.advance(now))
            if self.cursor.at_end:
                self._enter(Phase.SETTLING, now)
            return wanted
        _, joint, distance = self._farthest(reference, last)
        if distance > self.settings.arrived and now - self.since < self.settings.patience:
            return last
        if self.cursor.loop:
            self._ease(now, reference)
            return dict(self.start)
        self.reason = f"played to its end; {joint} was told {distance:.3f} rad from there"
        self._enter(Phase.DONE, now)
        return last

    def _easing_time(self, first: Mapping[str, Joints]) -> float:
        """Return the time [s] in which the joint with the longest way gets there no faster than asked, by a cosine."""
        longest = max(abs(a - b) for arm in first for a, b in zip(first[arm], self.start[arm], strict=True))
        return 0.5 * math.pi * longest / self.settings.ease_speed

    def _farthest(self, reference: Mapping[str, Joints], wanted: Mapping[str, Joints]) -> tuple[str, str, float]:
        """Return the arm and joint whose command is farthest from what is wanted, and by how much [rad]."""
        ways = [
            (abs(have - want), arm, name)
            for arm, joints in wanted.items()
            for name, have, want in zip(self.names[arm], reference[arm], joints, strict=True)
        ]
        distance, arm, name = max(ways)
        return arm, name, distance

    def _target(self, arm: ArmAuthority, position: Joints) -> JointTarget:
        names = self.names[arm.arm]
        return JointTarget(
            arm.arm, OWNER, arm.engage, (0,) * len(names), names, position, solver=OWNER, status=int(TargetStatus.OK)
        )

    def _ease(self, now: float, reference: Mapping[str, Joints]) -> None:
        self.start = {arm: tuple(reference[arm]) for arm in self.script.joints}
        self.cursor.time, self.cursor.last = 0.0, None
        self._enter(Phase.EASING, now)

    def _enter(self, phase: Phase, now: float) -> None:
        self.phase, self.since = phase, now

    def _fail(self, reason: str) -> None:
        self.phase, self.reason = Phase.FAILED, reason


def _has(arm: ArmAuthority) -> bool:
    """Return whether an arm is led by a replay, from a reference that is known."""
    return arm.state == Authority.REPLAY and arm.owner == OWNER and len(arm.reference) > 0


def _between(start: Joints, end: Joints, share: float) -> Joints:
    return tuple([a + share * (b - a) for a, b in zip(start, end, strict=True)])
