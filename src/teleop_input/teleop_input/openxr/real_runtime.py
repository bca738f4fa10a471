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
from teleop_input.openxr.real_actions import Actions, say
from teleop_input.openxr.runtime import (
    Event,
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
    another device, and a session that stops and begins again, are seen without it. Before it destroys them it calls
    ``OpenXrProvider.stop``; ``RealRuntime.renew`` gives new ones.
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
        self._actions: Any = None
        self._gone: tuple[StatusReason, str] | None = None
        self._clear()

    def _clear(self) -> None:
        self._instance: Any = None
        self._session: Any = None
        self._system: Any = None
        self._convert: Any = None
        self._offset: int | None = None
        self._enabled: list[str] = []
        self._reference: Any = None
        self._reference_type: Any = None
        self._view: Any = None
        self._notes: list[Event] = []

    @contextmanager
    def _guarded(self, otherwise: StatusReason) -> Iterator[None]:
        """Turn pyopenxr's exceptions into RuntimeFailure."""
        xr = self._xr
        try:
            yield
        except xr.InstanceLostError as error:
            raise self._lost(StatusReason.OPENXR_INSTANCE_LOST, f"the runtime is gone ({say(error)})") from None
        except (xr.SessionLostError, xr.SessionLossPending) as error:
            raise self._lost(StatusReason.OPENXR_SESSION_LOST, f"the session is lost ({say(error)})") from None
        except xr.XrException as error:
            raise RuntimeFailure(otherwise, f"the runtime refused a call ({say(error)}); see its log") from None
        except ValueError as error:
            text = f"the runtime said what pyopenxr does not know ({say(error)}); see its log, or use another runtime"
            raise RuntimeFailure(otherwise, text) from None

    def _lost(self, reason: StatusReason, what: str) -> RuntimeFailure:
        if self._handles is None:
            return RuntimeFailure(reason, f"{what}; {_REMEDY}")
        self._gone = reason, f"{what}; give new handles (RealRuntime.renew)"
        return RuntimeFailure(*self._gone)

    def renew(self, handles: Handles) -> None:
        """Go on with other handles of an owner, from the next ``open`` on; to be called after ``close``."""
        self._handles, self._gone, self._actions = handles, None, None

    # ---- connecting
    def open(self) -> str:
        """Connect to the runtime and return its name and version."""
        xr = self._xr
        if self._gone is not None:
            raise RuntimeFailure(*self._gone)
        if self._handles is not None:
            self._instance = self._handles.instance
        else:
            if self._environment_file:
                os.environ.update(environment.read(self._environment_file))
            os.environ.setdefault("XR_LOADER_DEBUG", "none")  # the loader would print the same lines each second
            try:
                offered = {p.extension_name.decode() for p in xr.enumerate_instance_extension_properties()}
            except (xr.XrException, ValueError) as error:
                text = f"no OpenXR runtime ({say(error)}); {_REMEDY}"
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
            except (xr.XrException, ValueError) as error:
                # Monado's library answers for a service that does not run
                text = f"no OpenXR runtime answers ({say(error)}); {_REMEDY}"
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
            offered = {int(kind) for kind in xr.enumerate_reference_spaces(self._session)}
            name = next((name for name in SPACES if xr.ReferenceSpaceType[name] in offered), SPACES[-1])
            self._reference_type = xr.ReferenceSpaceType[name]
            self._reference = self._space(name)
            self._view = self._space("VIEW")
            if self._actions is None:
                self._actions = self._make_actions()
        return name.lower()

    def _space(self, name: str) -> Any:
        xr = self._xr
        info = xr.ReferenceSpaceCreateInfo(reference_space_type=xr.ReferenceSpaceType[name], pose_in_reference_space=xr.Posef())
        return xr.create_reference_space(self._session, info)

    def _make_actions(self) -> Actions:
        xr = self._xr
        try:
            made = Actions(xr, self._instance, self._session, self._enabled if self._handles is None else None)
        except xr.ActionsetsAlreadyAttachedError:
            text = "the session has action sets already; give handles of one that has none (RealRuntime.renew)"
            raise RuntimeFailure(StatusReason.STARTUP_FAILED, text) from None
        self._notes += [Note(line) for line in made.refused]
        return made

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
                # a number that pyopenxr does not know is of something that does not concern us
                with suppress(ValueError):
                    found += self._meant(buffer, monotonic_ns)

    def _meant(self, buffer: Any, monotonic_ns: int) -> list[Event]:
        xr, kinds = self._xr, self._xr.StructureType
        kind = kinds(buffer.type)
        if kind == kinds.EVENT_DATA_SESSION_STATE_CHANGED:
            event = _as(xr.EventDataSessionStateChanged, buffer)
            # without the extension, this is the only time of the runtime that comes by itself
            self._offset = int(event.time) - monotonic_ns
            return [StateChanged(XrState(int(event.state)))]
        if kind == kinds.EVENT_DATA_REFERENCE_SPACE_CHANGE_PENDING:
            event = _as(xr.EventDataReferenceSpaceChangePending, buffer)
            return [SpaceChange(int(event.change_time))] if event.reference_space_type == self._reference_type else []
        if kind == kinds.EVENT_DATA_INTERACTION_PROFILE_CHANGED:
            return [Note(self._actions.profiles())]
        if kind == kinds.EVENT_DATA_EVENTS_LOST:
            # a move of the play space may be among them
            return [Note("the runtime lost events"), SpaceChange(0)]
        if kind == kinds.EVENT_DATA_INSTANCE_LOSS_PENDING:
            raise RuntimeFailure(StatusReason.OPENXR_INSTANCE_LOST, f"the runtime ends; {_REMEDY}")
        return []

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
                self._actions.sync()
            except xr.SessionNotFocused:
                pass  # its actions are then not active
            except xr.SessionNotRunningError:
                return None

            def locate(space: Any) -> Location:
                return self._locate(space, at)

            return Sample(at, locate(self._view), self._actions.hand("left", locate), self._actions.hand("right", locate))

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

    def _locate(self, space: Any, at: int) -> Location:
        found = self._xr.locate_space(space, self._reference, at)
        p, q = found.pose.position, found.pose.orientation
        return Location((p.x, p.y, p.z), (q.x, q.y, q.z, q.w), int(found.location_flags) & 15)

    def vibrate(self, hand: str, amplitude: float, duration_ns: int) -> None:
        """Pulse a controller; amplitude [0, 1]."""
        with self._guarded(StatusReason.RUNTIME_UPDATE_FAILED):
            self._actions.vibrate(hand, amplitude, duration_ns)

    def close(self) -> None:
        """Give back what was made; never fails, and may be called at any time.

        The actions on a session of others stay, while it lives: another set could not be attached to it.
        """
        xr = self._xr
        own = self._handles is None
        if self._actions is not None:
            self._actions.leave()
            if own or self._gone is not None:
                self._actions.close()
                self._actions = None
        made = [(xr.destroy_space, self._view), (xr.destroy_space, self._reference)]
        if own:
            made += [(xr.destroy_session, self._session), (xr.destroy_instance, self._instance)]
        for destroy, handle in made:
            if handle is not None:
                with suppress(xr.XrException, ValueError):  # a runtime that is gone took it along
                    destroy(handle)
        self._clear()


def _as(kind: Any, buffer: Any) -> Any:
    return ctypes.cast(ctypes.byref(buffer), ctypes.POINTER(kind)).contents
