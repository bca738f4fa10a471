"""Parameters, runner and transport in a real node."""

import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("rclpy")

from std_srvs.srv import Trigger  # noqa: E402

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


WAITING = """
    import os, sys
    from std_srvs.srv import Trigger
    from teleop_common.runner import TeleopNode, run

    class Waiting(TeleopNode):
        def __init__(self):
            super().__init__("waiting")
            self.waiting, self.over = [], False
            self.serve_later(Trigger, "/slow", lambda _request, answer: self.waiting.append(answer))
            self.serve(Trigger, "/quick", self.quick)
            self.every(100.0, self.tick)
            print("up", flush=True)
        def quick(self, _request, response):
            response.success, self.over = bool(self.waiting), True
            return response
        def tick(self):
            if self.over and self.waiting:
                self.waiting.pop()(True, "at last")
            if os.path.exists(sys.argv[1]):
                1 / 0
        def wound_up(self):
            print("winding up", flush=True)
            return self.over and not self.waiting

    sys.exit(run(Waiting))
"""


def start_waiting(tmp_path, domain):
    script = tmp_path / "waiting.py"
    script.write_text(textwrap.dedent(WAITING))
    command = [sys.executable, str(script), str(tmp_path / "crash")]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert child.stdout.readline() == "up\n"
    return child


def test_node_that_winds_up_still_serves_and_an_answer_to_come_keeps_no_other_waiting(tmp_path, domain):
    child = start_waiting(tmp_path, domain)
    with probe(domain) as node:
        slow = node.create_client(Trigger, "/slow")
        assert slow.wait_for_service(5.0)
        answer = slow.call_async(Trigger.Request())
        child.send_signal(2)
        assert child.stdout.readline() == "winding up\n"
        assert child.poll() is None
        node.until(lambda: node.call(Trigger, "/quick").success, 3.0, "an answer while another is waited for")
        assert node.until(answer.done, 3.0)
        assert answer.result().message == "at last"
    child.communicate(timeout=5)
    assert child.returncode == 0


def test_node_that_crashes_does_not_wind_up(tmp_path, domain):
    child = start_waiting(tmp_path, domain)
    (tmp_path / "crash").touch()
    output, _ = child.communicate(timeout=10)
    assert child.returncode == 1
    assert "ZeroDivisionError" in output
    assert "winding up" not in output
