"""Runs in Isaac Teleop's environment: records with its own recorder, from OpenXR functions made up here.

The session takes handles and the address of xrGetInstanceProcAddr from outside, so no runtime is needed. Every function
that it asks for succeeds; those named below also answer. Structures are OpenXR's, as far as they are read or written.
"""

import ctypes as c
import sys

from isaacteleop.deviceio import DeviceIOSession, McapRecordingConfig
from isaacteleop.deviceio_trackers import ControllerTracker, HeadTracker
from isaacteleop.oxr import OpenXRSessionHandles

HEADER = [("type", c.c_int), ("next", c.c_void_p)]
TAIL = [("changed", c.c_uint32), ("time", c.c_int64), ("active", c.c_uint32)]
FUNCTION = c.CFUNCTYPE(c.c_int, *[c.c_void_p] * 6)
LOOKUP = c.CFUNCTYPE(c.c_int, c.c_uint64, c.c_char_p, c.POINTER(c.c_void_p))


class Location(c.Structure):
    _fields_ = [*HEADER, ("flags", c.c_uint64), ("orientation", c.c_float * 4), ("position", c.c_float * 3)]


class Float(c.Structure):
    _fields_ = [*HEADER, ("value", c.c_float), *TAIL]


class Boolean(c.Structure):
    _fields_ = [*HEADER, ("value", c.c_uint32), *TAIL]


class Vector(c.Structure):
    _fields_ = [*HEADER, ("x", c.c_float), ("y", c.c_float), *TAIL]


class Active(c.Structure):
    _fields_ = [*HEADER, ("active", c.c_uint32)]


class Runtime:
    """Counts its answers, so that no two are alike; devices go inactive, invalid and untracked now and then."""

    def __init__(self):
        self.answers, self.functions = 0, {}
        self.lookup = LOOKUP(self._find)

    def _find(self, _instance, name, out):
        made = self.functions.setdefault(name, FUNCTION(getattr(self, name.decode(), self._nothing)))
        out[0] = c.cast(made, c.c_void_p).value
        return 0

    def _next(self):
        self.answers += 1
        return self.answers

    def _nothing(self, *_):
        return 0

    def _handle(self, _owner, _info, out, *_):
        c.cast(out, c.POINTER(c.c_uint64))[0] = 100 + self._next()
        return 0

    xrCreateReferenceSpace = xrCreateActionSpace = xrCreateActionSet = xrCreateAction = _handle
    xrCreateInstanceActionContextNV = xrCreateSessionActionContextNV = _handle

    def xrStringToPath(self, _instance, _text, out, *_):
        return self._handle(None, None, out)

    def xrConvertTimespecTimeToTimeKHR(self, _instance, when, out, *_):
        seconds, nanoseconds = c.cast(when, c.POINTER(c.c_int64))[:2]
        c.cast(out, c.POINTER(c.c_int64))[0] = seconds * 10**9 + nanoseconds + 12345
        return 0

    def xrLocateSpace(self, _space, _base, _time, out, *_):
        here = c.cast(out, c.POINTER(Location))[0]
        n = self._next()
        here.flags = (15, 15, 15, 3, 15, 0)[n % 6]
        here.position[:], here.orientation[:] = (n * 1e-3, 1.5, -n * 1e-4), (0.5, -0.5, 0.5, -0.5)
        return 0

    def xrGetActionStateFloat(self, _session, _info, out, *_):
        state = c.cast(out, c.POINTER(Float))[0]
        state.value, state.active = self._next() % 100 / 100, 1
        return 0

    def xrGetActionStateBoolean(self, _session, _info, out, *_):
        state = c.cast(out, c.POINTER(Boolean))[0]
        state.value, state.active = self._next() // 3 % 2, 1
        return 0

    def xrGetActionStateVector2f(self, _session, _info, out, *_):
        state = c.cast(out, c.POINTER(Vector))[0]
        state.x, state.y, state.active = self._next() % 10 / 10, -0.3, 1
        return 0

    def xrGetActionStatePose(self, _session, _info, out, *_):
        c.cast(out, c.POINTER(Active))[0].active = int(self._next() % 5 > 0)
        return 0


def main(path, count):
    runtime = Runtime()
    handles = OpenXRSessionHandles(1, 2, 3, c.cast(runtime.lookup, c.c_void_p).value)
    trackers = [(ControllerTracker(), "controllers"), (HeadTracker(), "head")]
    with DeviceIOSession.run([t for t, _ in trackers], handles, McapRecordingConfig(path, trackers)) as session:
        for _ in range(int(count)):
            session.update()


main(*sys.argv[1:])
