"""The session's core: what frames become, what buttons do, what the state says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from teleop_common.cell import Cell
from teleop_common.enums import Command, Convention, Session
from teleop_common.errors import ConfigError
from teleop_common.records import Header, Pose, ProviderReport, SessionState, TeleopFrame, Transform
from teleop_session import stance as stances
from teleop_session.bindings import GRIPPERS, Binding, Evaluator, dead_men
from teleop_session.finalise import finalise, with_trigger_as_dead_man
from teleop_session.machine import Machine, Reply

SCALE_RANGE = (0.1, 3.0)
"""Hand translation gain, lowest and highest allowed."""
NO_ACTIONS: tuple[str, ...] = ()
_PULLED = 0.5
"""A trigger beyond this is a closed dead-man, of which alone a button may move the gripper."""


@dataclass(frozen=True)
class Settings:
    """What a session starts with.

    Attributes:
        arms: the arms in use.
        provider: initial provider.
        autostart: CONNECT and START by itself.
        stance: ``behind``, ``facing`` or ``camera``.
        view: camera view in use, needed for stance ``camera``.
        scale: hand translation gain.
        origin: pose of the play space in world, for an operator behind the arms.
        profile: name of the bindings preset.
    """

    arms: tuple[str, ...]
    provider: str
    autostart: bool
    stance: str
    view: str
    scale: float
    origin: Pose
    profile: str


class SessionCore:
    """Everything the session decides; time comes in, records go out.

    Args:
        settings: what to start with.
        cell: the mounts, for the pairing.
        views: camera view → yaw of its looking direction in world [rad].
        bindings: buttons and actions.
        epoch: first epoch, random so that a restart is a change.

    Raises:
        ConfigError: stance, view, scale or arms that cannot be.
    """

    def __init__(
        self, settings: Settings, cell: Cell, views: Mapping[str, float], bindings: tuple[Binding, ...], epoch: int
    ) -> None:
        """Start disconnected."""
        if not 1 <= len(settings.arms) <= 2 or len(set(settings.arms)) != len(settings.arms):
            raise ConfigError(
                "parameter", "arms", ",".join(settings.arms), "one or two different arms", "an operator has two hands"
            )
        for arm in settings.arms:
            cell.mount(arm)
        self._mounts, self._views, self._arms, self._origin = cell.mounts, views, settings.arms, settings.origin
        self._profile = settings.profile
        self._evaluator, self._dead_men = Evaluator(bindings), dead_men(bindings)
        self._closed: set[str] = set()  # hands whose gripper a button has closed, for want of a trigger
        peers = ("retargeter", "guard", *(f"driver {arm}" for arm in settings.arms))
        self.machine = Machine(peers, settings.provider, epoch, settings.autostart)
        self.ignored = {"other provider": 0, "convention": 0}
        self.stance, self.view, self.scale = settings.stance, settings.view, settings.scale
        if problem := self._problem(settings.stance, settings.view, settings.scale):
            raise ConfigError("parameter", problem[0], problem[1], problem[2], "mend the parameter")
        self._recentred = False
        self._place()

    # ---- what is heard
    def on_frame(
        self, now: float, arrival_ns: int, topic_provider: str, raw: TeleopFrame
    ) -> tuple[TeleopFrame | None, tuple[str, ...]]:
        """Take a raw frame; return the finalised one (None when none flows) and the actions that its buttons ask for.

        Args:
            now: arrival [s, monotonic].
            arrival_ns: arrival, ROS clock [ns].
            topic_provider: provider of the topic on which it came.
            raw: the frame.
        """
        machine = self.machine
        if raw.provider != topic_provider:
            if topic_provider != "external":
                self.ignored["other provider"] += 1
                return None, NO_ACTIONS
            # whoever else publishes: a played bag of another provider, remapped to this topic, too
            raw = raw._replace(provider=topic_provider)
        if raw.convention not in (Convention.OPENXR, Convention.ROS):
            self.ignored["convention"] += 1
            return None, NO_ACTIONS
        machine.hear_frame(now, topic_provider)
        if topic_provider != machine.provider:
            self.ignored["other provider"] += 1
            return None, NO_ACTIONS
        actions = self._evaluator.step(now, raw)
        grippers = actions and tuple(hand for hand, action in GRIPPERS.items() if action in actions)
        if topic_provider == "replay":
            actions = NO_ACTIONS  # the buttons are history: detached
        elif grippers:
            actions = tuple(a for a in actions if a not in GRIPPERS.values())
        if not machine.flowing:
            return None, tuple(a for a in actions if a == "estop")
        for hand in self._dead_men:
            if hand in grippers and raw.hand(hand).trigger > _PULLED:
                self._closed ^= {hand}  # part of what the hand does, and replayed with it
            raw = with_trigger_as_dead_man(raw, hand, hand in self._closed)
        frame = finalise(raw, arrival_ns, self.world_from_tracking, self._recentred)
        self._recentred = False
        return frame, actions

    def on_report(self, now: float, provider: str, report: ProviderReport) -> None:
        """Take a provider's report."""
        self.machine.hear_provider(now, provider, report.state, report.error)

    def on_peer(self, now: float, peer: str) -> None:
        """Take a sign of life of ``retargeter``, ``guard`` or ``driver <arm>``."""
        self.machine.hear(now, peer)

    def tick(self, now: float) -> None:
        """Watch the clock."""
        self.machine.tick(now)

    # ---- what is asked
    def command(self, now: float, command: int, provider: str) -> tuple[Reply, tuple[str, ...]]:
        """Obey a SessionCommand; return the reply and the actions that follow from it."""
        reply = self.machine.command(now, command, provider)
        rewind = reply.success and command == Command.RESET and self.machine.provider == "replay"
        return reply, ("rewind",) if rewind else NO_ACTIONS

    def set_stance(self, stance: str, view: str, scale: float) -> Reply:
        """Change stance, view and scale; empty or 0 keeps what is."""
        stance, view, scale = stance or self.stance, view or self.view, self.scale if scale == 0.0 else scale
        if problem := self._problem(stance, view, scale):
            return Reply(False, "{0} '{0}': got {1!r}, allowed {2}; mend the request".format(*problem))
        if (stance, view, scale) == (self.stance, self.view, self.scale):
            return Reply(True, "unchanged")
        self.stance, self.view, self.scale = stance, view, scale
        before = self.world_from_tracking
        self._place()
        self._recentred = self._recentred or self.world_from_tracking != before
        self.machine.bump()
        return Reply(True, f"stance {stance}, view {view or 'none'}, scale {scale:g}")

    def _problem(self, stance: str, view: str, scale: float) -> tuple[str, Any, str] | None:
        """Return (field, value, allowed) of the first value that cannot be."""
        if stance not in stances.STANCES:
            return "stance", stance, "one of " + ", ".join(stances.STANCES)
        if (view or stance == "camera") and view not in self._views:
            return "view", view, "one of " + (", ".join(self._views) or "none: no camera view has a yaw")
        if not (math.isfinite(scale) and SCALE_RANGE[0] <= scale <= SCALE_RANGE[1]):
            return "scale", scale, f"{SCALE_RANGE[0]:g} to {SCALE_RANGE[1]:g}"
        return None

    def _place(self) -> None:
        self.yaw = stances.stance_yaw(self.stance, self.view, self._views)
        self.hands = stances.pairing(self.stance, self.yaw, self._arms, self._mounts)
        self.world_from_tracking: Transform = stances.world_from_tracking(self._origin, self.yaw)

    # ---- what is said
    def session_state(self, stamp_ns: int) -> SessionState:
        """Return the SessionState message's record, stamped ``stamp_ns`` [ns, ROS clock]."""
        m = self.machine
        return SessionState(
            header=Header(stamp_ns, "world"),
            state=m.state,
            provider=m.provider,
            profile=self._profile,
            epoch=m.epoch,
            stance=self.stance,
            view=self.view,
            yaw=self.yaw,
            scale=self.scale,
            arm=self._arms,
            hand=self.hands,
            error=m.error,
        )

    def state(self) -> dict[str, Any]:
        """Return the whole state as plain data (JSON), for a re-simulation."""
        return {
            "machine": asdict(self.machine),
            "evaluator": {
                "source": list(self._evaluator.source),
                "last": self._evaluator.last,
                "buttons": {name: asdict(button) for name, button in self._evaluator.buttons.items()},
            },
            "stance": [self.stance, self.view, self.scale],
            "recentred": self._recentred,
            "closed": sorted(self._closed),
            "ignored": dict(self.ignored),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state that ``state()`` gave."""
        m, e = state["machine"], state["evaluator"]
        self.machine = Machine(**{**m, "peers": tuple(m["peers"])})
        self.machine.wanted, self.machine.state = Session(m["wanted"]), Session(m["state"])
        self._evaluator.restore(e["source"], e["last"], e["buttons"])
        self.stance, self.view, self.scale = state["stance"]
        self._recentred, self.ignored = state["recentred"], dict(state["ignored"])
        self._closed = set(state["closed"])
        self._place()
