"""pyopenxr with a runtime that keeps OpenXR's rules about sessions and action sets, and fails where a test tells it to."""

import ctypes
import itertools

import xr

from teleop_input.openxr.real_runtime import HEADLESS, TIMESPEC

SPACES = (xr.ReferenceSpaceType.LOCAL, xr.ReferenceSpaceType.STAGE, 1_000_999_001)  # one that pyopenxr does not know


class FakeXr:
    """Stands where the module ``xr`` does; what it does not answer itself is pyopenxr's.

    Attributes:
        fails: what each named call raises, as long as it is there.
        refused: interaction profiles, and what suggesting them raises.
        events: buffers still to be polled.
        profile: interaction profile of both hands.
        attached: sessions to which action sets are attached, as numbers.
        live: handles that were made and not destroyed, as numbers.
    """

    def __init__(self):
        self.fails, self.refused, self.events, self.profile = {}, {}, [], "/interaction_profiles/a"
        self.attached, self.live = set(), set()
        self._paths, self._handles = ["none"], itertools.count(1)

    def __getattr__(self, name):
        return getattr(xr, name)

    def go(self, *states):
        """Let the session take these states."""
        self.events += [event(xr.EventDataSessionStateChanged(state=state)) for state in states]

    def _called(self, name):
        if name in self.fails:
            raise self.fails[name]

    def _made(self, kind):
        self._called(f"create_{kind.__name__}")
        number = 8 * next(self._handles)
        self.live.add(number)
        return ctypes.cast(number, kind)

    def _ended(self, handle):
        if _number(handle) not in self.live:
            raise xr.HandleInvalidError
        self.live.remove(_number(handle))

    destroy_space = destroy_action_set = destroy_session = destroy_instance = _ended

    def enumerate_instance_extension_properties(self):
        self._called("enumerate_instance_extension_properties")
        return [xr.ExtensionProperties(extension_name=name) for name in (HEADLESS, TIMESPEC)]

    def create_instance(self, info):
        return self._made(xr.Instance)

    def get_instance_properties(self, instance):
        return xr.InstanceProperties(runtime_version=xr.Version(1, 0, 0), runtime_name="fake")

    def get_instance_proc_addr(self, instance, name):
        return ctypes.cast(_CONVERT, ctypes.c_void_p)

    def get_system(self, instance, info):
        return 1

    def create_session(self, instance, info):
        self.go(xr.SessionState.IDLE, xr.SessionState.READY)
        return self._made(xr.Session)

    def begin_session(self, session, info):
        self._called("begin_session")
        self.go(xr.SessionState.SYNCHRONIZED, xr.SessionState.FOCUSED)

    def enumerate_reference_spaces(self, session):
        self._called("enumerate_reference_spaces")
        return [int(kind) for kind in SPACES]

    def create_reference_space(self, session, info):
        return self._made(xr.Space)

    def create_action_space(self, session, info):
        return self._made(xr.Space)

    def create_action_set(self, instance, info):
        return self._made(xr.ActionSet)

    def create_action(self, action_set, info):
        return xr.Action()

    def string_to_path(self, instance, text):
        if text not in self._paths:
            self._paths.append(text)
        return self._paths.index(text)

    def path_to_string(self, instance, path):
        return self._paths[path]

    def suggest_interaction_profile_bindings(self, instance, info):
        profile = self._paths[info.interaction_profile]
        if profile in self.refused:
            raise self.refused[profile]

    def attach_session_action_sets(self, session, info):
        if _number(session) in self.attached:
            raise xr.ActionsetsAlreadyAttachedError
        self.attached.add(_number(session))

    def sync_actions(self, session, info):
        self._called("sync_actions")

    def locate_space(self, space, base, at):
        self._called("locate_space")
        return xr.SpaceLocation(location_flags=15, pose=xr.Posef(position=xr.Vector3f(0.1, 1.2, -0.3)))

    def get_action_state_pose(self, session, info):
        return xr.ActionStatePose(is_active=True)

    def get_action_state_float(self, session, info):
        return xr.ActionStateFloat(current_state=0.75, is_active=True)

    def get_action_state_boolean(self, session, info):
        return xr.ActionStateBoolean()

    def get_action_state_vector2f(self, session, info):
        return xr.ActionStateVector2f()

    def get_current_interaction_profile(self, session, path):
        return xr.InteractionProfileState(interaction_profile=self.string_to_path(None, self.profile))

    def poll_event(self, instance):
        self._called("poll_event")
        if not self.events:
            raise xr.EventUnavailable
        return self.events.pop(0)


def _number(handle):
    return ctypes.cast(handle, ctypes.c_void_p).value


def event(structure, kind=None):
    """Return a structure as the buffer that polling gives; ``kind`` replaces its type."""
    buffer = xr.EventDataBuffer()
    ctypes.memmove(ctypes.byref(buffer), ctypes.byref(structure), ctypes.sizeof(structure))
    if kind is not None:
        buffer._type = kind
    return buffer


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64))
def _CONVERT(instance, timespec, out):
    seconds, nanoseconds = (ctypes.c_int64 * 2).from_address(timespec)
    out[0] = seconds * 1_000_000_000 + nanoseconds
    return 0
