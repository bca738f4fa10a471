"""The rustypot client, another implementation of the protocol in another language, against an emulated arm.

Run with the interpreter of the clients' environment: FOLDER of a running emulator, arm "right". Prints one line of JSON.
"""

import json
import sys
import time

from rustypot import Sts3215PyController

IDS = [1, 2, 3, 4, 5, 6]


def main():
    told = {}
    arm = Sts3215PyController(f"{sys.argv[1]}/right", 1_000_000, 4.0)
    told["pings"] = [arm.ping(number) for number in IDS]
    arm.set_timeout(0.2)
    told["absent"] = arm.ping(9)
    arm.set_timeout(4.0)
    told["models"] = arm.sync_read_model_number(IDS)
    told["ticks"] = arm.sync_read_raw_present_position(IDS)
    told["offsets"] = arm.sync_read_raw_homing_offset(IDS)
    told["limits"] = [arm.sync_read_raw_min_position_limit(IDS), arm.sync_read_raw_max_position_limit(IDS)]
    for number in IDS:
        arm.write_p_coefficient(number, 16)
    arm.sync_write_raw_goal_position(IDS, told["ticks"])
    goal = [told["ticks"][0] - 250, *told["ticks"][1:]]
    arm.sync_write_raw_goal_position(IDS, goal)
    since, last = time.monotonic(), None
    while time.monotonic() - since < 0.3:  # on a busy machine emulated time is slow
        if (now := arm.sync_read_raw_present_position(IDS)) != last:
            since, last = time.monotonic(), now
    told["goal"], told["reached"] = goal, last
    told["torque"] = arm.sync_read_torque_enable(IDS)
    told["temperature"] = arm.sync_read_present_temperature(IDS)
    print(json.dumps(told, default=lambda value: value.tolist() if hasattr(value, "tolist") else list(value)))


if __name__ == "__main__":
    main()
