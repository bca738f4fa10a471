"""Parameters, runner and transport in a real node."""

import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("rclpy")

from teleop_common import qos, records  # noqa: E402
from teleop_common.testing import probe  # noqa: E402

NODE = """
    import sys
    from dataclasses import dataclass
    from teleop_common.params import load, param
    from teleop_common.runner import TeleopNode, run

    @dataclass(frozen=True)
    class Config:
        arms: tuple = param(("left", "right"), "arms of the graph", choices=("left", "right"))
        rate: float = param(10.0, "how often", unit="Hz", minimum=1.0, maximum=50.0)
        count: int = param(3, "how many", minimum=1, maximum=5)
        points: tuple = param((), "any number of numbers", minimum=-10.0, maximum=10.0)

    class Small(TeleopNode):
        def __init__(self):
            super().__init__("small")
            self.config = load(self, Config)
            print(self.config, flush=True)
            self.every(self.config.rate, self.tick)
        def tick(self):
            FAIL

    sys.exit(run(Small))
"""


def start(tmp_path, domain, *arguments, fail="pass"):
    script = tmp_path / "small.py"
    script.write_text(textwrap.dedent(NODE).replace("FAIL", fail))
    return subprocess.Popen(
        [sys.executable, str(script), "--ros-args", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def test_sigint_ends_quietly_with_status_zero(tmp_path, domain):
    child = start(tmp_path, domain, "-p", "rate:=20")
    assert "rate=20.0" in child.stdout.readline()
    child.send_signal(2)
    output, _ = child.communicate(timeout=5)
    assert child.returncode == 0
    assert "Traceback" not in output


def test_crash_of_a_tick_ends_the_process_with_status_one(tmp_path, domain):
    child = start(tmp_path, domain, fail="1 / 0")
    output, _ = child.communicate(timeout=10)
    assert child.returncode == 1
    assert "ZeroDivisionError" in output


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["-p", "rate:=99.0"], ["'rate'", "99.0", "1.0 to 50.0 Hz"]),
        (["-p", "rate:=fast"], ["'rate'", "'fast'", "float"]),
        (["-p", "count:=9"], ["'count'", "9", "1 to 5"]),
        (["-p", "arms:=[left, third]"], ["'arms'", "'third'", "one of left, right"]),
        (["-p", "speed:=1.0"], ["'speed'", "arms, count, points, rate"]),
    ],
)
def test_wrong_parameter_stops_the_start_with_one_line(tmp_path, domain, arguments, named):
    child = start(tmp_path, domain, *arguments)
    output, _ = child.communicate(timeout=10)
    assert child.returncode == 2
    (line,) = [text for text in output.splitlines() if text.strip()]
    assert all(part in line for part in named), line


def test_wrong_key_of_a_parameter_file_is_named_with_the_file(tmp_path, domain):
    path = tmp_path / "wrong.yaml"
    path.write_text("small:\n  ros__parameters:\n    rat: 3.0\n")
    output, _ = start(tmp_path, domain, "--params-file", str(path)).communicate(timeout=10)
    assert str(path) in output
    assert "'rat'" in output


def test_records_arrive_as_sent_and_latched_ones_late(domain):
    with probe(domain) as node:
        out = node.talk(records.EstopState, "/estop", qos.LATCHED)
        sent = records.EstopState(records.Header(12_345_678_901, "here"), True, "test", ("left", "right"))
        out.publish(sent)
        heard = node.listen(records.EstopState, "/estop", qos.LATCHED)
        node.until(lambda: heard)
        assert heard == [sent]


@pytest.mark.parametrize(("given", "read"), [("[0.5, -1.5]", "points=(0.5, -1.5)"), ("[11.0]", "'points': got 11.0")])
def test_list_that_is_empty_by_default_takes_numbers_and_checks_them(tmp_path, domain, given, read):
    child = start(tmp_path, domain, "-p", f"points:={given}")
    try:
        output = child.communicate(timeout=3.0)[0]
    except subprocess.TimeoutExpired:
        child.terminate()
        output = child.communicate(timeout=10.0)[0]
    assert read in output
