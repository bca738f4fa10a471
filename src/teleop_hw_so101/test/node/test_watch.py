"""The first run listens to a running graph."""

import pytest

pytest.importorskip("rclpy")

from teleop_common import qos, records, testing
from teleop_hw_so101.tools.watch_node import WatchNode


def test_newest_of_every_topic_is_kept_the_latched_too(domain):
    with testing.probe(domain) as probe:
        guard = probe.talk(records.GuardState, "/teleop/guard/state")
        driver = probe.talk(records.DriverState, "/left/driver_state")
        probe.talk(records.SessionState, "/teleop/session/state", qos.LATCHED).publish(records.SessionState(yaw=0.5))
        watch = WatchNode(("left",))
        try:
            assert watch.get("/teleop/guard/state") is None

            def heard():
                guard.publish(records.GuardState(scale=0.25))
                driver.publish(records.DriverState(torque_on=True))
                return all(watch.get(t) for t in ("/teleop/guard/state", "/left/driver_state", "/teleop/session/state"))

            probe.until(heard, 5.0, "topics")
            assert watch.get("/teleop/guard/state").scale == 0.25
            assert watch.get("/left/driver_state").torque_on
            assert watch.get("/teleop/session/state").yaw == 0.5
        finally:
            watch.close()
