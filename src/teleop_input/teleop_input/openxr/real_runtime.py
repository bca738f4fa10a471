"""A real OpenXR runtime through pyopenxr: headless, with a session of its own or one that others own."""

from __future__ import annotations

import ctypes
import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from teleop_common.enums import StatusReason
from teleop_common.errors import ConfigError
from teleop_input.openxr import bindings, environment
from teleop_input.openxr.runtime import (
    HANDS,
    Event,
    HandSample,
    Location,
    Note,
    RuntimeFailure,
    Sample,
    SpaceChange,
    StateChanged,
    XrState,
)

HEADLESS, TIMESPEC = "XR_MND_headless", "XR_KHR_convert_timespec_time"
SPACES = ("STAGE", "LOCAL_FLOOR", "LOCAL")  # whose floor is the room's first
_REMEDY = "start the runtime; where none is installed as the system's, name its manifest: XR_RUNTIME_JSON=/path/to/runtime.json"


class Handles(NamedTuple):
    """What another part of this process made and keeps: pyopenxr's handles.

    Attributes:
        instance: with the extension ``XR_KHR_convert_timespec_time`` enabled.
        session: to which no action sets are attached yet; OpenXR attaches them once.

    Whoever owns them polls the instance's events, and passes on what only these say: for every reference space that moves
    (``XrEventDataReferenceSpaceChangePending``) it calls ``OpenXrProvider.recentred`` before the next step. A hand that becomes
    another device, and a session that stops and begins again, are seen without it.
    """

    instance: Any
    session: Any


def load_bindings() -> Any:
    """Return the module of pyopenxr.

    Raises:
        ConfigError: it is not installed, or its loader does not work here.
    """
    try:
        return importlib.import_module("xr")
    except (ImportError, OSError) as error:
        raise ConfigError(
            "OpenXR bindings", "pyopenxr", str(error), "the package pyopenxr", "./teleop sim input:=openxr installs it"
        ) from None


class RealRuntime:
    """Implements ``teleop_input.openxr.runtime.Runtime``.

    Args:
        environment_file: loaded before every attempt to connect; empty for none.
        handles: of an instance and a session that others own; None makes own ones.
    """

    def __init__(self, environment_file: str = "", handles: Handles | None = None) -> None:
        """Load pyopenxr; the runtime itself is asked by ``open``."""
        self._xr = load_bindings()
        self._environment_file, self._handles = environment_file, handles
        self._spaces: dict[Any, Any] = {}
        self._clear()

    def _clear(self) -> None:
        self._instance: Any = None
        self._session: Any = None
        self._system: Any = None
        self._set: Any = None
        self._convert: Any = None
        self._offset: int | None = None
        self._enabled: list[str] = []
        self._spaces.clear()
        self._actions: dict[str, Any] = {}
        self._infos: dict[tuple[str, str], Any] = {}
        self._reference = self._reference_type = None
        self._notes: list[Event] = []

    @contextmanager
    def _guarded(self, otherwise: StatusReason) -> Iterator[None]:
        """Turn pyopenxr's exceptions into RuntimeFailure."""
        xr = self._xr
        try:
            yield
        except xr.InstanceLostError as error:
            raise RuntimeFailure(StatusReason.OPENXR_INSTANCE_LOST, f"the runtime is gone ({_say(error)}); {_REMEDY}") from None
        except (xr.SessionLostError, xr.SessionLossPending) as error:
            raise RuntimeFailure(StatusReason.OPENXR_SESSION_LOST, f"the session is lost ({_say(error)}); {_REMEDY}") from None
        except xr.XrException as error:
            raise RuntimeFailure(otherwise, f"the runtime refused a call ({_say(error)}); see its log") from None

    # ---- connecting
    def open(self) -> str:
        """Connect to the runtime and return its name and version."""
        xr = self._xr
        if self._handles is not None:
            self._instance = self._handles.instance
        else:
            if self._environment_file:
                os.environ.update(environment.read(self._environment_file))
            os.environ.setdefault("XR_LOADER_DEBUG", "none")  # the loader would print the same lines each second
            try:
                offered = {p.extension_name.decode() for p in xr.enumerate_instance_extension_properties()}
            except xr.XrException as error:
                text = f"no OpenXR runtime ({_say(error)}); {_REMEDY}"
                raise RuntimeFailure(StatusReason.PROVIDER_INITIALIZING, text) from None
            if HEADLESS not in offered:
                text = f"the runtime does not offer {HEADLESS}, without which it wants pictures; use another runtime"
                raise RuntimeFailure(StatusReason.STARTUP_FAILED, text)
            self._enabled = [name for name in (HEADLESS, TIMESPEC, *bindings.EXTENSIONS) if name in offered]
            self._instance = self._create_instance()
        with self._guarded(StatusReason.STARTUP_FAILED):
            # xrConvertTimespecTimeToTimeKHR is no part of pyopenxr's core functions
            kind = ctypes.CFUNCTYPE(ctypes.c_int, xr.Instance, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64))
            if self._handles is not None or TIMESPEC in self._enabled:
                with suppress(xr.FunctionUnsupportedError):
                    pointer = xr.get_instance_proc_addr(self._instance, "xrConvertTimespecTimeToTimeKHR")
                    self._convert = ctypes.cast(pointer, kind)
            properties = xr.get_instance_properties(self._instance)
        return f"{properties.runtime_name.decode()} {xr.Version(properties.runtime_version)}"

    def _create_instance(self) -> Any:
        xr = self._xr
        for minor in (1, 0):
            info = xr.InstanceCreateInfo(
                application_info=xr.ApplicationInfo(
                    application_name="xr_teleop",
                    application_version=1,
                    engine_name="",
                    engine_version=0,
                    api_version=xr.Version(1, minor, 0),
                ),
                enabled_extension_names=self._enabled,
            )
            try:
                return xr.create_instance(info)
            except xr.ApiVersionUnsupportedError:
                continue
            except xr.XrException as error:
                # Monado's library answers for a service that does not run
                text = f"no OpenXR runtime answers ({_say(error)}); {_REMEDY}"
                raise RuntimeFailure(StatusReason.PROVIDER_INITIALIZING, text) from None
        raise RuntimeFailure(StatusReason.STARTUP_FAILED, "the runtime supports neither OpenXR 1.1 nor 1.0; use another one")

    def has_headset(self) -> bool:
        """Return whether the form factor of a head-mounted display is available now."""
        xr = self._xr
        with self._guarded(StatusReason.OPENXR_POLL_ERROR):
            try:
                self._system = xr.get_system(self._instance, xr.SystemGetInfo(xr.FormFactor.HEAD_MOUNTED_DISPLAY))
            except xr.FormFactorUnavailableError:
                return False
        return True

    def start(self) -> str:
        """Create session, spaces and actions; return the name of the reference space."""
        xr = self._xr
        with self._guarded(StatusReason.STARTUP_FAILED):
            if self._handles is not None:
                self._session = self._handles.session
            else:
                self._session = xr.create_session(self._instance, xr.SessionCreateInfo(system_id=self._system))
            offered = {xr.ReferenceSpaceType(kind).name for kind in xr.enumerate_reference_spaces(self._session)}
            name = next(name for name in SPACES if name in offered)
            self._reference_type = xr.ReferenceSpaceType[name]
            self._reference = self._space(name)
            self._spaces["view"] = self._space("VIEW")
            self._create_actions()
        return name.lower()

    def _space(self, name: str) -> Any:
        xr = self._xr
        info = xr.ReferenceSpaceCreateInfo(reference_space_type=xr.ReferenceSpaceType[name], pose_in_reference_space=xr.Posef())
        return xr.create_reference_space(self._session, info)

    def _create_actions(self) -> None:
        xr = self._xr
        types = {
            bindings.POSE: xr.ActionType.POSE_INPUT,
            bindings.ANALOG: xr.ActionType.FLOAT_INPUT,
            bindings.VECTOR: xr.ActionType.VECTOR2F_INPUT,
            bindings.CLICK: xr.ActionType.BOOLEAN_INPUT,
            bindings.OUTPUT: xr.ActionType.VIBRATION_OUTPUT,
        }
        self._paths = {hand: xr.string_to_path(self._instance, f"/user/hand/{hand}") for hand in HANDS}
        info = xr.ActionSetCreateInfo(action_set_name="teleop", localized_action_set_name="Teleoperation", priority=0)
        self._set = xr.create_action_set(self._instance, info)
        for name, kind in bindings.ACTIONS.items():
            info = xr.ActionCreateInfo(
                action_name=name, action_type=types[kind], localized_action_name=name.replace("_", " "),
                subaction_paths=list(self._paths.values()),
            )  # fmt: skip
            self._actions[name] = xr.create_action(self._set, info)
        for profile in bindings.PROFILES:
            if not profile.extension or profile.extension in self._enabled or self._handles is not None:
                self._suggest(profile)
        xr.attach_session_action_sets(self._session, xr.SessionActionSetsAttachInfo(action_sets=[self._set]))
        for hand, path in self._paths.items():
            for name, kind in bindings.ACTIONS.items():
                action = self._actions[name]
                self._infos[hand, name] = xr.ActionStateGetInfo(action=action, subaction_path=path)
                if kind == bindings.POSE:
                    info = xr.ActionSpaceCreateInfo(action=action, subaction_path=path, pose_in_action_space=xr.Posef())
                    self._spaces[hand, name] = xr.create_action_space(self._session, info)
        # the structure below points into this array
        self._active = (xr.ActiveActionSet * 1)(xr.ActiveActionSet(self._set, xr.NULL_PATH))
        self._sync = xr.ActionsSyncInfo(active_action_sets=self._active)

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
        except (xr.PathUnsupportedError, xr.PathInvalidError) as error:
            self._notes.append(Note(f"{profile.path}: not known to the runtime ({_say(error)})"))

    # ---- following
    def events(self, monotonic_ns: int) -> list[Event]:
        """Return what happened since the last call, in order."""
        xr = self._xr
        found, self._notes = self._notes, []
        with self._guarded(StatusReason.OPENXR_POLL_ERROR):
            while True:
                try:
                    buffer = xr.poll_event(self._instance)
                except xr.EventUnavailable:
                    return found
                kind = xr.StructureType(buffer.type)
                if kind == xr.StructureType.EVENT_DATA_SESSION_STATE_CHANGED:
                    event = _as(xr.EventDataSessionStateChanged, buffer)
                    # without the extension, this is the only time of the runtime that comes by itself
                    self._offset = int(event.time) - monotonic_ns
                    found.append(StateChanged(XrState(int(event.state))))
                elif kind == xr.StructureType.EVENT_DATA_REFERENCE_SPACE_CHANGE_PENDING:
                    event = _as(xr.EventDataReferenceSpaceChangePending, buffer)
                    if xr.ReferenceSpaceType(event.reference_space_type) == self._reference_type:
                        found.append(SpaceChange(int(event.change_time)))
                elif kind == xr.StructureType.EVENT_DATA_INTERACTION_PROFILE_CHANGED:
                    found.append(Note(self._profiles()))
                elif kind == xr.StructureType.EVENT_DATA_INSTANCE_LOSS_PENDING:
                    text = f"the runtime ends; {_REMEDY}"
                    raise RuntimeFailure(StatusReason.OPENXR_INSTANCE_LOST, text)

    def _profiles(self) -> str:
        xr = self._xr
        said = []
        for hand, path in self._paths.items():
            profile = xr.get_current_interaction_profile(self._session, path).interaction_profile
            said.append(f"{hand} {xr.path_to_string(self._instance, profile) if profile else 'none'}")
        return "controllers: " + ", ".join(said)

    def begin(self) -> None:
        """Begin the session."""
        xr = self._xr
        with self._guarded(StatusReason.RUNTIME_UPDATE_FAILED):
            kind = xr.ViewConfigurationType.PRIMARY_STEREO
            xr.begin_session(self._session, xr.SessionBeginInfo(primary_view_configuration_type=kind))

    def end(self) -> None:
        """End the session that is STOPPING."""
        with self._guarded(StatusReason.RUNTIME_UPDATE_FAILED):
            self._xr.end_session(self._session)

    # ---- sampling
    def sample(self, monotonic_ns: int) -> Sample | None:
        """Return poses and actions at that time [ns]; None when the session does not run."""
        xr = self._xr
        with self._guarded(StatusReason.RUNTIME_UPDATE_FAILED):
            at = self._time(monotonic_ns)
            try:
                xr.sync_actions(self._session, self._sync)
            except xr.SessionNotFocused:
                pass  # its actions are then not active
            except xr.SessionNotRunningError:
                return None
            return Sample(at, self._locate("view", at), self._hand("left", at), self._hand("right", at))

    def _time(self, monotonic_ns: int) -> int:
        """Return the runtime's time [ns] at a moment of CLOCK_MONOTONIC."""
        if self._convert is None:
            if self._offset is None:
                text = f"the runtime's clock is not known: enable {TIMESPEC} in the instance, or use another runtime"
                raise RuntimeFailure(StatusReason.STARTUP_FAILED, text)
            return monotonic_ns + self._offset
        timespec = (ctypes.c_int64 * 2)(*divmod(monotonic_ns, 1_000_000_000))
        out = ctypes.c_int64()
        result = self._convert(self._instance, ctypes.addressof(timespec), ctypes.byref(out))
        if result < 0:
            raise self._xr.exception.check_result(self._xr.Result(result))
        return int(out.value)

    def _locate(self, key: Any, at: int) -> Location:
        found = self._xr.locate_space(self._spaces[key], self._reference, at)
        p, q = found.pose.position, found.pose.orientation
        return Location((p.x, p.y, p.z), (q.x, q.y, q.z, q.w), int(found.location_flags) & 15)

    def _hand(self, hand: str, at: int) -> HandSample:
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
            self._locate((hand, "grip"), at),
            self._locate((hand, "aim"), at),
            analog("trigger"),
            analog("squeeze"),
            (float(stick.current_state.x), float(stick.current_state.y)) if stick.is_active else (0.0, 0.0),
            click("primary"),
            click("secondary"),
            click("thumbstick_click"),
            click("menu"),
            int(xr.get_current_interaction_profile(session, self._paths[hand]).interaction_profile),
        )

    def vibrate(self, hand: str, amplitude: float, duration_ns: int) -> None:
        """Pulse a controller; amplitude [0, 1]."""
        xr = self._xr
        with self._guarded(StatusReason.RUNTIME_UPDATE_FAILED):
            pulse = xr.HapticVibration(duration=duration_ns, frequency=0.0, amplitude=amplitude)
            info = xr.HapticActionInfo(action=self._actions["haptic"], subaction_path=self._paths[hand])
            base = ctypes.cast(ctypes.byref(pulse), ctypes.POINTER(xr.HapticBaseHeader)).contents
            xr.apply_haptic_feedback(self._session, info, base)

    def close(self) -> None:
        """Give back all that was made; never fails, and may be called at any time."""
        xr = self._xr
        made = [(xr.destroy_space, space) for space in (*self._spaces.values(), self._reference)]
        made.append((xr.destroy_action_set, self._set))
        if self._handles is None:
            made += [(xr.destroy_session, self._session), (xr.destroy_instance, self._instance)]
        for destroy, handle in made:
            if handle is not None:
                with suppress(xr.XrException):  # a runtime that is gone took it along
                    destroy(handle)
        self._clear()


def _as(kind: Any, buffer: Any) -> Any:
    return ctypes.cast(ctypes.byref(buffer), ctypes.POINTER(kind)).contents


def _say(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error)[:120]}" if str(error) else type(error).__name__
