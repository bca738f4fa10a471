"""The actions of one session on a real runtime: made and attached once, then read at each sample."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Container
from contextlib import suppress
from typing import Any

from teleop_input.openxr import bindings
from teleop_input.openxr.runtime import HANDS, HandSample, Location

_NUMBERS = itertools.count(1)


class Actions:
    """An action set, attached to its session.

    OpenXR attaches a session's action sets once and for all: whoever goes on with the same session goes on with the same
    object. Every method may raise pyopenxr's exceptions.

    Args:
        xr: the module of pyopenxr.
        instance: that of the session.
        session: to which no action sets are attached yet.
        known: extensions whose interaction profiles may be suggested; None for all.

    Attributes:
        refused: a line for each profile that the runtime did not take.
    """

    def __init__(self, xr: Any, instance: Any, session: Any, known: Container[str] | None) -> None:
        """Make the actions, suggest bindings for them and attach them."""
        self._xr, self._instance, self._session = xr, instance, session
        self.refused: list[str] = []
        self._spaces: dict[tuple[str, str], Any] = {}
        self._paths = {hand: xr.string_to_path(instance, f"/user/hand/{hand}") for hand in HANDS}
        number = next(_NUMBERS)  # names are unique in an instance, which an owner may keep for its next session
        info = xr.ActionSetCreateInfo(
            action_set_name=f"teleop_{number}", localized_action_set_name=f"Teleoperation {number}", priority=0
        )
        self._set = xr.create_action_set(instance, info)
        try:
            self._fill(known)
        except Exception:
            self.close()
            raise
        # the structure below points into this array
        self._active = (xr.ActiveActionSet * 1)(xr.ActiveActionSet(self._set, xr.NULL_PATH))
        self._sync = xr.ActionsSyncInfo(active_action_sets=self._active)

    def _fill(self, known: Container[str] | None) -> None:
        xr = self._xr
        types = {
            bindings.POSE: xr.ActionType.POSE_INPUT,
            bindings.ANALOG: xr.ActionType.FLOAT_INPUT,
            bindings.VECTOR: xr.ActionType.VECTOR2F_INPUT,
            bindings.CLICK: xr.ActionType.BOOLEAN_INPUT,
            bindings.OUTPUT: xr.ActionType.VIBRATION_OUTPUT,
        }
        self._actions = {}
        for name, kind in bindings.ACTIONS.items():
            info = xr.ActionCreateInfo(
                action_name=name, action_type=types[kind], localized_action_name=name.replace("_", " "),
                subaction_paths=list(self._paths.values()),
            )  # fmt: skip
            self._actions[name] = xr.create_action(self._set, info)
        self._infos = {
            (hand, name): xr.ActionStateGetInfo(action=action, subaction_path=path)
            for hand, path in self._paths.items()
            for name, action in self._actions.items()
        }
        for profile in bindings.PROFILES:
            if not profile.extension or known is None or profile.extension in known:
                self._suggest(profile)
        # the last call that may fail: what is attached must be kept
        xr.attach_session_action_sets(self._session, xr.SessionActionSetsAttachInfo(action_sets=[self._set]))

    def _suggest(self, profile: bindings.Profile) -> None:
        xr = self._xr
        try:
            rows = [
                xr.ActionSuggestedBinding(self._actions[name], xr.string_to_path(self._instance, path))
                for name, path in profile.rows()
            ]
            path = xr.string_to_path(self._instance, profile.path)
            info = xr.InteractionProfileSuggestedBinding(interaction_profile=path, suggested_bindings=rows)
            xr.suggest_interaction_profile_bindings(self._instance, info)
        except (xr.InstanceLostError, xr.SessionLostError, xr.ActionsetsAlreadyAttachedError):
            raise
        except (xr.XrException, ValueError) as error:
            self.refused.append(f"{profile.path}: not taken by the runtime ({say(error)})")

    def sync(self) -> None:
        """Bring all actions to this moment."""
        self._xr.sync_actions(self._session, self._sync)

    def _space(self, hand: str, name: str) -> Any:
        if (hand, name) not in self._spaces:
            xr = self._xr
            info = xr.ActionSpaceCreateInfo(
                action=self._actions[name], subaction_path=self._paths[hand], pose_in_action_space=xr.Posef()
            )
            self._spaces[hand, name] = xr.create_action_space(self._session, info)
        return self._spaces[hand, name]

    def hand(self, hand: str, locate: Callable[[Any], Location]) -> HandSample:
        """Return one hand as of the last ``sync``; ``locate`` says where a space is."""
        xr, session, infos = self._xr, self._session, self._infos

        def analog(name: str) -> float:
            state = xr.get_action_state_float(session, infos[hand, name])
            return float(state.current_state) if state.is_active else 0.0

        def click(name: str) -> bool:
            state = xr.get_action_state_boolean(session, infos[hand, name])
            return bool(state.current_state and state.is_active)

        if not any(xr.get_action_state_pose(session, infos[hand, name]).is_active for name in ("grip", "aim")):
            return HandSample()
        stick = xr.get_action_state_vector2f(session, infos[hand, "thumbstick"])
        return HandSample(
            True,
            locate(self._space(hand, "grip")),
            locate(self._space(hand, "aim")),
            analog("trigger"),
            analog("squeeze"),
            (float(stick.current_state.x), float(stick.current_state.y)) if stick.is_active else (0.0, 0.0),
            click("primary"),
            click("secondary"),
            click("thumbstick_click"),
            click("menu"),
            self._profile(hand),
        )

    def _profile(self, hand: str) -> int:
        return int(self._xr.get_current_interaction_profile(self._session, self._paths[hand]).interaction_profile)

    def profiles(self) -> str:
        """Return which interaction profile each hand has, in words."""
        said = []
        for hand in HANDS:
            profile = self._profile(hand)
            said.append(f"{hand} {self._xr.path_to_string(self._instance, profile) if profile else 'none'}")
        return "controllers: " + ", ".join(said)

    def vibrate(self, hand: str, amplitude: float, duration_ns: int) -> None:
        """Pulse a controller; amplitude [0, 1]."""
        xr = self._xr
        pulse = xr.HapticVibration(duration=duration_ns, frequency=0.0, amplitude=amplitude)
        info = xr.HapticActionInfo(action=self._actions["haptic"], subaction_path=self._paths[hand])
        base = ctypes.cast(ctypes.byref(pulse), ctypes.POINTER(xr.HapticBaseHeader)).contents
        xr.apply_haptic_feedback(self._session, info, base)

    def leave(self) -> None:
        """Give back what the next ``hand`` makes anew; never fails."""
        for space in self._spaces.values():
            with suppress(self._xr.XrException, ValueError):  # a runtime that is gone took it along
                self._xr.destroy_space(space)
        self._spaces.clear()

    def close(self) -> None:
        """Give everything back; never fails."""
        self.leave()
        with suppress(self._xr.XrException, ValueError):
            self._xr.destroy_action_set(self._set)


def say(error: BaseException) -> str:
    """Return an exception in a few words."""
    return f"{type(error).__name__}: {str(error)[:120]}" if str(error) else type(error).__name__
