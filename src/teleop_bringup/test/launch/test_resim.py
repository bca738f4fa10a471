"""A drive of the whole graph, recorded from its middle on, and its joint targets computed again offline."""

import json
import os
import re
import signal
import subprocess
import sys
import time

from std_msgs.msg import String

from teleop_bringup import testing
from teleop_bringup.testing import QUIET
from teleop_common import qos
from teleop_common.enums import Authority
from teleop_common.testing import free_domain


def test_a_recorded_drive_is_computed_again_to_the_bit_also_across_a_killed_retargeter(tmp_path):
    bag = tmp_path / "drive"
    with free_domain() as domain, testing.graph(domain, "input:=debug", "path:=both", *QUIET) as graph:
        graph.ready()
        configs = []
        graph.node.create_subscription(
            String, "/teleop/config/retargeter", lambda m: configs.append(json.loads(m.data)), qos.LATCHED
        )
        graph.until(lambda: graph.is_in("right", Authority.DRIVING), 20.0, "right DRIVING")
        recorder = subprocess.Popen(
            ["ros2", "bag", "record", "-a", "-o", str(bag)], env=os.environ | {"ROS_DOMAIN_ID": str(domain)}
        )
        time.sleep(6.0)
        first = configs[-1]["started_ns"]
        pids = subprocess.run(
            ["pgrep", "-g", str(graph.process.pid), "-f", "lib/teleop_ik/retargeter"], capture_output=True, text=True
        )
        for pid in pids.stdout.split():
            os.kill(int(pid), signal.SIGKILL)
        graph.until(lambda: configs[-1]["started_ns"] != first and configs[-1]["steps"] > 50, 15.0, "retargeter again")
        time.sleep(1.0)
        recorder.send_signal(signal.SIGINT)
        recorder.wait(10.0)
    done = subprocess.run([sys.executable, "-m", "teleop_ik.resim.cli", str(bag)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) computed again", done.stdout)[1]) > 150
