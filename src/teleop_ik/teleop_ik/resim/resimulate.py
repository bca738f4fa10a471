"""The recorded steps once more, through the same core."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from teleop_common.errors import ConfigError
from teleop_common.records import JointTargets
from teleop_ik.arm import Arm
from teleop_ik.recipe import OTHER_VERSION
from teleop_ik.resim.compare import Comparison, Difference
from teleop_ik.resim.recording import Given, Inputs, Missing, Recording, Snapshot
from teleop_ik.retargeter import LONGEST_DT, Retargeter, State, credited

TARGETS = "/teleop/joint_targets"
# what changes from one message of a process's configuration topic to the next
_CHANGING = ("at_ns", "started_ns", "steps", "duplicates", "refused", "state")


class First(NamedTuple):
    """The first difference and what led to it.

    Attributes:
        number: of the target in the recording, from 0.
        seconds: of its frame since the first one [s].
        difference: where.
        target: the recorded target; None for a state that differs behind its last step.
        given: inputs of the step, None as above.
        state: state before the step, or the one that differs.
    """

    number: int
    seconds: float
    difference: Difference
    target: JointTargets | None
    given: Given | None
    state: State


@dataclass
class Report:
    """What a re-simulation found.

    Attributes:
        targets: recorded targets, exact repetitions apart.
        judged: targets that were computed again and compared.
        early: targets before the first state from which the recording is whole.
        unjudged: targets behind a missing message, up to the next recorded state.
        differing: judged targets, and states, that differ.
        first: the first of them.
        missing: topic → what names each missing message.
        repeated: recorded targets that were there twice.
        states: recorded states that were compared with ours.
        duplicates: frames that the recorded node refused as repeated or older.
        refused: messages that it refused for their stamp.
        worst: largest difference of two numbers.
        digest: hash of all targets computed again; equal between equal runs.
        span: time between the first and last judged frame [s].
        losses: what the bag itself lacks.
    """

    targets: int = 0
    judged: int = 0
    early: int = 0
    unjudged: int = 0
    differing: int = 0
    first: First | None = None
    missing: dict[str, list[str]] = field(default_factory=dict)
    repeated: int = 0
    states: int = 0
    duplicates: int = 0
    refused: int = 0
    worst: float = 0.0
    digest: str = ""
    span: float = 0.0
    losses: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether every target that the recording allows to judge was judged, and equal."""
        return self.judged > 0 and not self.differing and not self.missing and not self.losses


class Resimulation:
    """Runs a recording; holds one core at a time, taken up anew from a recorded state after each gap."""

    def __init__(
        self, recording: Recording, arms_of: Callable[[Mapping[str, Any]], tuple[Arm, ...]], tolerance: float = 0.0
    ) -> None:
        """Take a recording.

        Args:
            recording: what was recorded.
            arms_of: makes the arms out of a recorded configuration; may raise ConfigError.
            tolerance: largest allowed difference of two numbers [rad, m, s]; 0 means to the bit.

        Raises:
            ConfigError: the recording holds no state to begin with, or no target; another robot model, or a configuration
                that this version does not know.
        """
        if not recording.snapshots:
            raise ConfigError("topic", "/teleop/config/retargeter", "0 messages", "at least one", "record that topic, too")
        if not recording.targets:
            raise ConfigError("topic", TARGETS, "0 messages", "at least one", "record that topic, too")
        for snapshot in recording.snapshots:
            snapshot.check()
        self._inputs = Inputs(recording)
        self._snapshots = sorted({s.at: s for s in recording.snapshots}.values(), key=lambda s: s.at)
        self._arms = _configured(self._snapshots, arms_of)
        self._targets = sorted(dict.fromkeys(recording.targets), key=lambda t: t.step_time_ns)
        self._whole_from = recording.whole_from
        self._comparison = Comparison(tolerance)
        self._digest = hashlib.sha256()
        self._core: Retargeter | None = None  # None: must be taken up from the next state
        self._known: set[int] = set()  # processes met, by their start
        self._spans: list[int] = []
        repeated = len(recording.targets) - len(self._targets)
        self.report = Report(targets=len(self._targets), repeated=repeated, losses=recording.losses)

    def run(self) -> Report:
        """Compute every target again that can be, and return what was found."""
        report, at = self.report, 0
        while at < len(self._targets) and self._targets[at].step_time_ns <= self._snapshots[0].at:
            at += 1
        report.early += at
        for i, snapshot in enumerate(self._snapshots):
            following = self._snapshots[i + 1] if i + 1 < len(self._snapshots) else None
            end = at
            while end < len(self._targets) and (following is None or self._targets[end].step_time_ns <= following.at):
                end += 1
            self._segment(snapshot, following, at, end)
            at = end
        ends = self._snapshots
        final = [a for a, b in zip(ends, ends[1:]) if a.started != b.started] + [ends[-1]]
        report.duplicates = sum(int(s.config["duplicates"]) for s in final)
        report.refused = sum(int(s.config["refused"]) for s in final)
        report.worst, report.digest = self._comparison.worst, self._digest.hexdigest()[:16]
        if self._spans:
            report.span = 1e-9 * (max(self._spans) - min(self._spans))
        return report

    # ---- from one recorded state to the next
    def _segment(self, snapshot: Snapshot, following: Snapshot | None, start: int, end: int) -> None:
        if self._core is None:
            self._core = Retargeter(self._arms[snapshot.at])
            self._core.state = snapshot.state
        core, differing = self._core, self.report.differing
        alive = following is not None and following.started == snapshot.started
        lacking = following.steps - snapshot.steps - (end - start) if following is not None and alive else 0
        # a recorder hears a new process only from its own time on: what it lacks there is no loss either
        early = snapshot.received < self._whole_from or (lacking > 0 and snapshot.started not in self._known)
        self._known.add(snapshot.started)
        for k in range(start, end):
            target = self._targets[k]
            try:
                if early and lacking > 0:
                    raise Missing(TARGETS, "")
                self._follows(core.state, target, lacking if alive else None)
                given = self._inputs.of(target)
            except Missing as error:
                self._core = None
                if early:
                    self.report.early += end - k
                    return
                self.report.missing.setdefault(error.topic, []).append(error.which)
                self.report.unjudged += end - k
                lacking -= error.topic == TARGETS
                break
            self._step(core, k, target, given)
        if lacking > 0 and not early:
            self.report.missing.setdefault(TARGETS, []).extend(["some frame's"] * lacking)
        if lacking > 0 or not alive or self.report.differing > differing:
            self._core = None
        elif self._core is not None and following is not None:
            self._same_state(core, end, following)

    def _follows(self, state: State, target: JointTargets, lacking: int | None) -> None:
        """Raise Missing where ``target`` is not that of the step after ``state``, as far as can be told.

        The credited time tells the frame before. Where it is another than ours, a step is missing if the recording lacks
        targets here (``lacking``; None at the end, where nobody counted them), or if a frame without a target explains it,
        or a frame whose number is not there can.
        """
        if credited(target.origin_stamp, state.stamp) == target.dt and (not lacking or target.dt < 0.999 * LONGEST_DT):
            return
        idle = self._inputs.between(state.stamp, target.origin_stamp)
        skipped = range(state.sequence + 1, target.frame_sequence) if target.connection == state.connection else range(0)
        explained = any(credited(target.origin_stamp, stamp) == target.dt for stamp, _, _ in idle)
        lost = any(not self._inputs.has_frame(target.connection, n) for n in skipped[:1000])
        if lacking or (lacking is None and (explained or lost)):
            which = f"before sequence {target.frame_sequence}"
            if idle:
                which = f"of connection {idle[-1][1]} sequence {idle[-1][2]}"
            raise Missing(TARGETS, which)

    def _step(self, core: Retargeter, index: int, target: JointTargets, given: Given) -> None:
        before = core.state
        again = core.step(*given)
        self.report.judged += 1
        self._spans.append(target.origin_stamp)
        self._digest.update(repr(again).encode())
        found = Difference("targets", "present", None) if again is None else self._comparison.first(target, again)
        if found is not None:
            self._differs(index, found, target, given, before)

    def _same_state(self, core: Retargeter, index: int, following: Snapshot) -> None:
        """Compare our state with the one recorded at the end of the segment."""
        self.report.states += 1
        found = self._comparison.first(following.state, core.state, "state")
        if found is not None:
            self._differs(index, found, None, None, core.state)
            self._core = None

    def _differs(self, index: int, found: Difference, target: JointTargets | None, given: Given | None, state: State) -> None:
        self.report.differing += 1
        if self.report.first is None:
            seconds = 1e-9 * (self._spans[-1] - self._spans[0]) if self._spans else 0.0
            self.report.first = First(index, seconds, found, target, given, state)


def _configured(snapshots: list[Snapshot], arms_of: Callable[[Mapping[str, Any]], tuple[Arm, ...]]) -> dict[int, tuple[Arm, ...]]:
    """Return the arms by the time of each snapshot, made anew only where the configuration is another.

    Raises:
        ConfigError: a configuration or a state that this version does not know.
    """
    made: dict[int, tuple[Arm, ...]] = {}
    last: dict[str, Any] | None = None
    arms: tuple[Arm, ...] = ()
    for snapshot in snapshots:
        fixed = {key: value for key, value in snapshot.config.items() if key not in _CHANGING}
        if fixed != last:
            arms, last = arms_of(snapshot.config), fixed
        if len(snapshot.state.arms) != len(arms):
            raise ConfigError(
                "recorded configuration", "state", f"{len(snapshot.state.arms)} arms", f"{len(arms)} arms", OTHER_VERSION
            )
        made[snapshot.at] = arms
    return made
