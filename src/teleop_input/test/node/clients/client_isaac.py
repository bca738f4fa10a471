"""Runs in Isaac Teleop's environment: plays recordings with its ReplaySession and prints them, a JSON list a moment."""

import json
import sys

from isaacteleop.deviceio import McapReplayConfig, ReplaySession
from isaacteleop.deviceio_trackers import ControllerTracker, HeadTracker


def pose(value):
    p, q = value.position, value.orientation
    return [[p.x, p.y, p.z], [q.x, q.y, q.z, q.w]]


def controller(value):
    if value is None:
        return None
    names = "primary_click secondary_click thumbstick_click menu_click thumbstick_x thumbstick_y squeeze_value trigger_value"
    inputs = [getattr(value.inputs, name) for name in names.split()]
    return [[pose(p.pose), p.is_valid] for p in (value.grip_pose, value.aim_pose)] + [inputs]


def head(value):
    return None if value is None else [pose(value.pose), value.is_valid, value.is_tracked]


def play(path, count):
    controllers, headset = ControllerTracker(), HeadTracker()
    with ReplaySession.run(McapReplayConfig(path, [(controllers, "controllers"), (headset, "head")])) as session:
        for _ in range(count):
            session.update()
            hands = (controllers.get_left_controller(session), controllers.get_right_controller(session))
            yield [*map(controller, hands), head(headset.get_head(session))]


def main(count, *paths):
    print(json.dumps([list(play(path, int(count))) for path in paths]))


main(*sys.argv[1:])
