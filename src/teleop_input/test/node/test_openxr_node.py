"""openxr_input as a process of its own, on a runtime that keeps to a script and on a machine that has none."""

import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("rclpy")

from teleop_common import qos, records  # noqa: E402
from teleop_common.enums import Device, Provider, StatusReason  # noqa: E402
from teleop_common.testing import probe, process  # noqa: E402

# the script's own clock is the number of samples: gone after 60, back 1 s later
SCRIPT = """
import sys
from teleop_common.enums import StatusReason
from teleop_common.runner import run
from teleop_input.openxr.runtime import HandSample, Location, RuntimeFailure, Sample
from teleop_input.openxr.scripted_runtime import ScriptedRuntime
from teleop_input.openxr_input_node import OpenXrInput

here = Location((0.1, 1.2, -0.3), (0.0, 0.0, 0.0, 1.0), 15)


class Scripted(ScriptedRuntime):
    sampled = 0

    def sample(self, monotonic_ns):
        self.sampled += 1
        if self.sampled == 60:
            raise RuntimeFailure(StatusReason.OPENXR_INSTANCE_LOST, "killed by the script")
        return super().sample(monotonic_ns)

    def vibrate(self, hand, amplitude, duration_ns):
        print("pulse", hand, amplitude, duration_ns, flush=True)


hand = HandSample(True, here, here, squeeze=1.0)
sys.exit(run(lambda: OpenXrInput(Scripted(sample_now=Sample(0, here, hand, hand)))))
"""


def test_frames_stop_with_the_runtime_and_go_on_in_the_same_process_when_it_returns(domain):
    with probe(domain) as p:
        frames = p.listen(records.TeleopFrame, "/teleop/input/openxr/frame")
        reports = p.listen(records.ProviderReport, "/teleop/devices/openxr")
        haptics = p.talk(records.Haptics, "/teleop/haptics")
        p.every(10.0, lambda: haptics.publish(records.Haptics(hand="left", amplitude=0.5, duration=0.125)))
        recorder = p.talk(records.RecorderState, "/teleop/recorder/state", qos.LATCHED)
        recorder.publish(records.RecorderState())
        child = subprocess.Popen(
            [sys.executable, "-c", SCRIPT],
            env=os.environ | {"ROS_DOMAIN_ID": str(domain)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            p.until(lambda: len({f.connection for f in frames}) == 2, 20.0, "second session")
            p.until(lambda: reports[-1].devices[2].state == Device.CONNECTED, 5.0, "report of the hands")
            for recording in (True, True, False):
                recorder.publish(records.RecorderState(recording=recording))
                time.sleep(0.3)
        finally:
            child.send_signal(signal.SIGINT)
            output, _ = child.communicate(timeout=10.0)
        assert child.returncode == 0, output
        p.until(lambda: reports[-1].state == Provider.STOPPED, 5.0, "the last report")
    said = [(r.state, r.reason, r.error) for r in reports]
    assert (Provider.FAILED, StatusReason.OPENXR_INSTANCE_LOST, "killed by the script") in said
    assert (Provider.AVAILABLE, StatusReason.OPENXR_SESSION_READY, "") in said
    assert {r.provider_id for r in reports} == {"openxr/runtime"}
    first = frames[0].connection
    assert {(f.connection - first) % 2**32 for f in frames} == {0, 1}
    again = next(i for i, f in enumerate(frames) if f.connection != first)
    assert frames[again].sequence == 0
    assert frames[again].monotonic_ns - frames[again - 1].monotonic_ns > 0.9e9
    assert frames[-1].right.squeeze == 1.0
    assert "pulse left 0.5 125000000" in output
    takes = [line for line in output.splitlines() if line.startswith("pulse") and " 0.6 " in line]
    assert takes == [f"pulse {hand} 0.6 {ns}" for ns in (250_000_000, 80_000_000) for hand in ("left", "right")]


def test_machine_without_a_runtime_is_told_so_and_the_node_lives(domain, monkeypatch):
    pytest.importorskip("xr")
    monkeypatch.setenv("XR_RUNTIME_JSON", "/nonexistent/runtime.json")
    with process("teleop_input", "openxr_input", domain), probe(domain) as p:
        reports = p.listen(records.ProviderReport, "/teleop/devices/openxr")
        p.until(lambda: reports and reports[-1].error, 10.0, "report")
        assert reports[-1].state == Provider.INITIALIZING
        assert "XR_RUNTIME_JSON" in reports[-1].error
