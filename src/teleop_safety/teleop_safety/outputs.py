"""What one call of the core wants sent, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from teleop_common.records import AuthorityState, GuardEvent, Haptics, Header, JointCommand
from teleop_safety.settings import Instant


@dataclass
class Outputs:
    """Messages and calls for the shell.

    Attributes:
        commands: (arm, command), to be sent first.
        authority: to be sent next.
        events: in order.
        haptics: pulses.
        estop: every driver's e-stop is to be called.
        reset: every driver's e-stop reset is to be called.
        latch: the e-stop's state changed.
        changed: some arm's authority changed, so a commit is due.
    """

    commands: list[tuple[str, JointCommand]] = field(default_factory=list)
    authority: AuthorityState | None = None
    events: list[GuardEvent] = field(default_factory=list)
    haptics: list[Haptics] = field(default_factory=list)
    estop: bool = False
    reset: bool = False
    latch: bool = False
    changed: bool = False

    def event(self, at: Instant, commit: int, kind: str, arm: str, text: str) -> None:
        """Note an event."""
        self.events.append(GuardEvent(Header(at.ros), commit, kind, arm, text))

    def buzz(self, at: Instant, hand: str, amplitude: float, duration: float) -> None:
        """Ask for a haptic pulse; amplitude [0, 1], duration [s]."""
        if hand:
            self.haptics.append(Haptics(Header(at.ros), hand, amplitude, duration))


class Answer(NamedTuple):
    """Answer to a request.

    Attributes:
        out: what is to be sent.
        success: what was asked holds now.
        message: what happened, or what is in the way and what to do.
        owner: who has the arm asked for.
    """

    out: Outputs
    success: bool
    message: str
    owner: str = ""
