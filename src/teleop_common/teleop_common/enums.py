"""The numbers of the messages' enumerations, for cores that import no message package.

A node-ring test holds them equal to the constants of the ``.msg`` files.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag


class PoseFlags(IntFlag):
    """TrackedPose flags."""

    POSITION_VALID = 1
    ORIENTATION_VALID = 2
    POSITION_TRACKED = 4
    ORIENTATION_TRACKED = 8
    ALL = 15


class Convention(IntEnum):
    """TeleopFrame axes."""

    OPENXR = 0
    ROS = 1


class TargetStatus(IntEnum):
    """JointTarget status."""

    OK = 0
    UNREACHABLE = 1
    HELD = 2
    NO_FEEDBACK = 3
    STALE_FEEDBACK = 4
    BAD_INPUT = 5


class Reason(IntEnum):
    """JointCommand reason, per joint."""

    NONE = 0
    POSITION_LIMIT = 1
    SPEED_LIMIT = 2
    ACCELERATION_LIMIT = 3
    FLOOR = 4
    COLLISION = 5
    STALE = 6
    DEAD_MAN = 7
    ESTOP = 8
    FIRST_COMMAND = 9
    HOMING = 10
    REPLAY = 11
    LEASH = 12
    FAULT = 13
    TAKE_OVER = 14
    UNTRACKED = 15
    COUNTDOWN = 16
    NO_TARGET = 17


class Authority(IntEnum):
    """ArmAuthority state."""

    IDLE = 0
    COUNTDOWN = 1
    DRIVING = 2
    GRACE = 3
    HOMING = 4
    REPLAY = 5
    EXTERNAL = 6
    ESTOP = 7
    FAULT = 8


class Counter(IntEnum):
    """Indices of ArmAuthority counters."""

    STALE = 0
    DUPLICATE = 1
    REFUSED = 2
    UNTRACKED = 3
    LIMITED = 4


class Session(IntEnum):
    """SessionState state."""

    DISCONNECTED = 0
    CONNECTING = 1
    CONNECTED = 2
    RUNNING = 3
    FAULT = 4


class Command(IntEnum):
    """SessionCommand command."""

    CONNECT = 0
    START = 1
    STOP = 2
    RESET = 3
    DISCONNECT = 4


class EpisodeCommand(IntEnum):
    """EpisodeCommand command."""

    OPEN_SESSION = 0
    CLOSE_SESSION = 1
    START = 2
    END = 3
    TOGGLE = 4
    DISCARD = 5


class Provider(IntEnum):
    """ProviderReport state."""

    INITIALIZING = 0
    AVAILABLE = 1
    FAILED = 2
    STOPPED = 3


class Device(IntEnum):
    """DeviceReport state."""

    UNKNOWN = 0
    CONNECTED = 1
    DISCONNECTED = 2
    DEGRADED = 3
    FAILED = 4
    DISABLED = 5


class DeviceReason(IntEnum):
    """DeviceReport reason."""

    NONE = 0
    NO_HARDWARE_SIGNAL = 1
    HARDWARE_CONNECTED = 2
    HARDWARE_DISCONNECTED = 3
    RECOVERING = 4
    PARTIAL_FUNCTIONALITY = 5
    DEVICE_ERROR = 6
    DISABLED_BY_CONFIGURATION = 7


class ProviderType(IntEnum):
    """ProviderStatus type."""

    PLUGIN = 0
    OPENXR_RUNTIME = 1
    NODE = 2


class DeviceState(IntEnum):
    """DeviceStatus state."""

    INITIALIZING = 0
    UNKNOWN = 1
    CONNECTED = 2
    DISCONNECTED = 3
    DEGRADED = 4
    FAILED = 5
    UNAVAILABLE = 6
    DISABLED = 7


class StatusReason(IntEnum):
    """DeviceStatus reason, of providers too."""

    NONE = 0
    PROVIDER_INITIALIZING = 1
    PROVIDER_FAILED = 2
    PROVIDER_STOPPED = 3
    NO_REPORT = 4
    STALE_REPORT = 5
    MALFORMED_REPORT = 6
    UNSUPPORTED_SCHEMA_VERSION = 7
    REPORTED = 8
    DISABLED_BY_CONFIGURATION = 9
    PROCESS_EXITED = 10
    PROCESS_SIGNALED = 11
    PROCESS_OBSERVATION_ERROR = 12
    STARTUP_FAILED = 13
    RUNTIME_UPDATE_FAILED = 14
    OPENXR_SESSION_READY = 15
    EXTERNAL_OPENXR_HEALTH_UNKNOWN = 16
    OPENXR_FORM_FACTOR_UNAVAILABLE = 17
    OPENXR_SESSION_LOST = 18
    OPENXR_INSTANCE_LOST = 19
    OPENXR_POLL_ERROR = 20
