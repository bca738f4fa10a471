"""An executable under Ctrl-C while it still imports."""

import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("rclpy")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_during_a_long_import_ends_quietly(tmp_path, number):
    (tmp_path / "slow.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(20)\n")
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from teleop_common.start import start; start('slow', 'N')",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "importing\n"
    time.sleep(0.05)
    child.send_signal(number)
    _, errors = child.communicate(timeout=5)
    assert child.returncode == 0
    assert errors == ""


def test_interrupt_before_python_was_ready_ends_quietly_too(tmp_path):
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(20)\n")
    script = (
        f"import os, signal, sys; sys.path.insert(0, {str(tmp_path)!r}); os.kill(os.getpid(), signal.SIGINT)\n"
        "from teleop_common.start import start; start('slow', 'N')"
    )
    command = ["env", "--block-signal=INT", sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    assert (done.returncode, done.stderr) == (0, "")
