"""Rows of a take: one a commit of the guard, with what belonged to it, found by stamps and numbers and not by arrival.

A row is made when its commit is ``HOLD`` old, so that topics may overtake each other by that much without a row changing. Commits
are put in order by the steady clock of the guard's machine and by their numbers: the stamps' clock may be set while they come.
The other records tell their stamps alone; commits, which tell both clocks, tell how the stamps of before and after a step lie.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from teleop_common.enums import Authority
from teleop_common.records import AuthorityState, GuardState, JointCommand, JointState, SimState, TeleopFrame
from teleop_recorder import channels
from teleop_recorder.poses import ScenePoses
from teleop_recorder.steady import KEEP, Recent, Scale

HOLD = 100_000_000  # [ns]
_Place = tuple[int, int]  # of a commit in their order: time on the steady clock [ns], number
_NONE: _Place = (0, 0)


@dataclass
class _Commit:
    """Commands of one commit that were heard."""

    stamp: int
    received: int
    arms: dict[str, JointCommand] = field(default_factory=dict)


class Row(dict[str, Any]):
    """A row, path → value, and what its consumers look at first.

    Attributes:
        stamp: of the commit [ns since the epoch].
        commands: arm → its command.
        lost: commits that are missing right before this one.
    """

    def __init__(self, stamp: int, commands: dict[str, JointCommand], lost: int) -> None:
        """Begin a row."""
        super().__init__()
        self.stamp, self.commands, self.lost = stamp, commands, lost

    @property
    def stopped(self) -> bool:
        """Whether an arm is under e-stop."""
        return any(command.authority == Authority.ESTOP for command in self.commands.values())


class Rows:
    """Puts records together into rows.

    Args:
        arms: names of the arms.
        joints: joints of each.
        poses: makes world poses; None leaves them out.
        aim: record the aim poses.
        head: record the head.
    """

    def __init__(
        self, arms: Sequence[str], joints: int, poses: ScenePoses | None, *, aim: bool = True, head: bool = True
    ) -> None:
        """Begin with nothing heard."""
        self._arms, self._joints, self._poses = tuple(arms), joints, poses
        self._aim, self._head = aim, head
        self.channels = channels.channels(arms, joints, aim, head) | (poses.channels() if poses else {})
        self._commits: dict[_Place, _Commit] = {}
        self._frames: dict[tuple[int, int], TeleopFrame] = {}
        self._scale = Scale()
        self._frame_times, self._authority, self._guard, self._sim = (Recent(self._scale) for _ in range(4))
        self._measured = {arm: Recent(self._scale) for arm in arms}
        self._last_commit: int | None = None
        self._began: int | None = None
        self._written, self._late = _NONE, 0

    def begin(self, stamp: int) -> None:
        """Begin a take at ``stamp`` [ns]: its time counts from its first row; commits of after that may be heard already."""
        self._began = None
        self._last_commit = None
        self._commits = {place: commit for place, commit in self._commits.items() if commit.stamp >= stamp}
        self._written, self._late = _NONE, 0

    # ---- what was heard; stamps and arrivals in ns since the epoch

    def on_command(self, arm: str, command: JointCommand, received: int) -> None:
        """Take one arm's command; one whose row is written already is too late, and counts as lost."""
        if arm in self._arms:
            if command.commit_time_ns and self._scale.learn(command.header.stamp, command.commit_time_ns):
                for kept in self._kept():
                    kept.place_again()
            place = command.commit_time_ns, command.commit
            # a steady clock that is behind by more is another one: the guard's machine was started anew
            if place <= self._written and self._written[0] - place[0] < KEEP:
                self._late += 1
                return
            self._commits.setdefault(place, _Commit(command.header.stamp, received)).arms[arm] = command

    def on_frame(self, frame: TeleopFrame) -> None:
        """Take a finalised frame."""
        self._frames[frame.connection, frame.sequence] = frame
        self._frame_times.add(frame.header.stamp, (frame.connection, frame.sequence))

    def on_authority(self, state: AuthorityState) -> None:
        """Take the authority of all arms."""
        self._authority.add(state.header.stamp, state)

    def on_guard(self, state: GuardState) -> None:
        """Take the state of the collision filter."""
        self._guard.add(state.header.stamp, state)

    def on_sim(self, state: SimState) -> None:
        """Take the state of the simulation."""
        self._sim.add(state.header.stamp, state)

    def on_joints(self, arm: str, state: JointState) -> None:
        """Take measured joints."""
        if arm in self._measured:
            self._measured[arm].add(state.header.stamp, state)

    # ---- what comes out

    def ready(self, heard: int, until: int | None = None) -> list[Row]:
        """Return the rows that are due, in the order of their commits.

        Args:
            heard: everything received before this was handed in [ns since the epoch].
            until: the last stamp wanted [ns]; None: those whose hold is over.
        """
        limit = self._of_now(heard) - HOLD if until is None else self._of_now(until)
        places = sorted(self._commits)
        # one that is due takes those before it along, whatever their stamps say
        due = max((n for n, place in enumerate(places, 1) if self._of_commit(place) <= limit), default=0)
        made = [self._row(place, self._of_commit(place), self._commits.pop(place)) for place in places[:due]]
        # no further than commits are heard: a clock that was set on makes nothing old
        before = min(self._of_now(heard), self._scale.now or self._of_now(heard)) - HOLD - KEEP
        for key in self._frame_times.forget(before):
            self._frames.pop(key, None)
        for kept in self._kept():
            kept.forget(before)
        return made

    def _kept(self) -> Iterator[Recent]:
        yield from (self._frame_times, self._authority, self._guard, self._sim, *self._measured.values())

    def _of_now(self, stamp: int) -> int:
        return self._scale.of(stamp, self._scale.now)

    def _of_commit(self, place: _Place) -> int:
        return self._scale.of_commit(self._commits[place].stamp, place[0])

    def _row(self, place: _Place, at: int, commit: _Commit) -> Row:
        number = place[1]
        last, self._last_commit = self._last_commit, number
        lost = self._late + (number - last - 1 if last is not None and last < number else 0)
        self._late, self._written = 0, place
        row = Row(commit.stamp, commit.arms, lost)
        if self._began is None:
            self._began = place[0]
        command = next(iter(commit.arms.values()))
        channels.put_commit(row, command, commit.received, self._began)
        frame = self._frames.get((command.connection, command.frame_sequence))
        if frame is None and (key := self._frame_times.at(at)) is not None:
            frame = self._frames.get(key)
        if frame is not None:
            channels.put_frame(row, frame, self._aim, self._head)
        for arm, its in commit.arms.items():
            channels.put_command(row, arm, its, self._joints)
        self._put_measured(row, at, commit)
        state: AuthorityState | None = self._authority.at(at)
        for authority in state.arms if state is not None else ():
            if authority.arm in self._arms:
                channels.put_authority(row, authority)
        if (guard := self._guard.at(at)) is not None:
            channels.put_guard(row, guard)
        self._put_poses(row, at)
        return row

    def _put_measured(self, row: Row, at: int, commit: _Commit) -> None:
        """Fill in the joints of an arm that got no command: its torque is off, but it can be moved by hand."""
        for arm in self._arms:
            state: JointState | None = self._measured[arm].at(at) if arm not in commit.arms else None
            if state is not None and len(state.position) == self._joints:
                row[f"control/{arm}/measured"] = state.position
                row[f"control/{arm}/feedback_ns"] = state.header.stamp

    def _put_poses(self, row: Row, at: int) -> None:
        sim: SimState | None = self._sim.at(at)
        if sim is not None:
            channels.put_sim(row, sim)
        if self._poses is None:
            return
        if sim is not None:
            row |= {path: value.copy() for path, value in self._poses.from_state(sim.qpos).items()}
            return
        names: list[str] = []
        positions: list[float] = []
        for arm in self._arms:
            state: JointState | None = self._measured[arm].at(at)
            if state is not None:
                names += state.name
                positions += state.position
        if names:
            row |= {path: value.copy() for path, value in self._poses.from_joints(names, positions).items()}
