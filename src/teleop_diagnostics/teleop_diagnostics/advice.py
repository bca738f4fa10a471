"""What to do about a state, in one line for people. Pure."""

from __future__ import annotations

from teleop_common.enums import DeviceState, Provider, StatusReason

_AGAIN = "it is started again within 1 s; its lines in the terminal may say why"
_PLUGIN_AGAIN = "start the graph again to have it back; its lines in the terminal may say why"
_BY_REASON = {
    StatusReason.PROVIDER_INITIALIZING: "wait for its provider",
    StatusReason.PROVIDER_FAILED: "mend its provider, above",
    StatusReason.NO_REPORT: "wait; if it stays so, see that the process publishes its reports",
    StatusReason.STALE_REPORT: "its process hangs, or the network is gone: look at its lines in the terminal, or restart it",
    StatusReason.MALFORMED_REPORT: "mend the reports of its process",
    StatusReason.UNSUPPORTED_SCHEMA_VERSION: "update the older side",
    StatusReason.PROCESS_EXITED: _AGAIN,
    StatusReason.PROCESS_SIGNALED: _AGAIN,
    StatusReason.PROCESS_OBSERVATION_ERROR: "see the rights of the user who runs device_status",
    StatusReason.STARTUP_FAILED: "mend the command in its plugin.yaml, then start the graph again",
    StatusReason.EXTERNAL_OPENXR_HEALTH_UNKNOWN: "ask the program that owns the OpenXR session",
    StatusReason.OPENXR_FORM_FACTOR_UNAVAILABLE: "put the headset on, or connect it to its runtime",
    StatusReason.OPENXR_SESSION_LOST: "wait until the runtime is back, then squeeze anew",
    StatusReason.OPENXR_INSTANCE_LOST: "start the OpenXR runtime again; the input reconnects by itself",
    StatusReason.OPENXR_POLL_ERROR: "start the OpenXR runtime again; the input reconnects by itself",
    StatusReason.RUNTIME_UPDATE_FAILED: "start the OpenXR runtime again; the input reconnects by itself",
}
_BY_DEVICE = {
    DeviceState.UNKNOWN: "nothing says how it is; look at it",
    DeviceState.DISCONNECTED: "connect it, or switch it on",
    DeviceState.DEGRADED: "it works in part; the text says what is wrong",
    DeviceState.FAILED: "see to the device itself; the text says what is wrong",
}
_QUIET = (DeviceState.CONNECTED, DeviceState.DISABLED, DeviceState.INITIALIZING)
_STOPPED = (StatusReason.PROVIDER_STOPPED,)


def for_provider(state: int, reason: int, plugin: bool) -> str:
    """Return what to do about a provider; empty when nothing is wrong.

    Args:
        state: of Provider.
        reason: of StatusReason.
        plugin: it is one, and therefore not started again by itself.
    """
    if state == Provider.INITIALIZING and reason != StatusReason.STALE_REPORT:
        return "wait; if it stays so, look at its lines in the terminal"
    if state == Provider.STOPPED:
        return "start it again when it is wanted"
    if plugin and reason in (StatusReason.PROCESS_EXITED, StatusReason.PROCESS_SIGNALED):
        return _PLUGIN_AGAIN
    usual = "look at its lines in the terminal" if state == Provider.FAILED else ""
    return _BY_REASON.get(StatusReason(reason), usual)


def for_device(state: int, reason: int, error: str = "") -> str:
    """Return what to do about a device; empty when nothing is wrong, nothing can be done, or its own text says it.

    Args:
        state: of DeviceState.
        reason: of StatusReason.
        error: its own text, by the house's form ``what is wrong; what to do``.
    """
    own = "; " in error or (error and state in (DeviceState.DEGRADED, DeviceState.FAILED))
    if state in _QUIET or reason in _STOPPED or (reason == StatusReason.REPORTED and own):
        return ""
    return _BY_REASON.get(StatusReason(reason)) or _BY_DEVICE.get(DeviceState(state), "")
