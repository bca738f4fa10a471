"""``./teleop arm COMMAND``: exit status 0 when what was asked happened, 1 when it did not, 2 for what cannot be asked."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from teleop_common import limits, paths
from teleop_common.errors import ConfigError, TeleopError
from teleop_hw_so101 import arms
from teleop_hw_so101.first_run import KEYS
from teleop_hw_so101.stream import SerialStream
from teleop_hw_so101.tools import calibrating, looking, moving
from teleop_hw_so101.tools.desk import Desk
from teleop_hw_so101.tools.guide import Guide, Watch, devices_of
from teleop_hw_so101.tools.talk import Terminal


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="teleop arm", description="Servo tools of the SO-101.")
    every = argparse.ArgumentParser(add_help=False)
    every.add_argument("--json", action="store_true", help="one JSON object on standard output, words on standard error")
    every.add_argument("--yes", action="store_true", help="answer every question with yes")
    every.add_argument("--limits", default="", help="limits file of the robot; empty: the installed limits/so101.yaml")
    one = argparse.ArgumentParser(add_help=False)
    one.add_argument("arm", help="name of the arm: left, right, ...")
    one.add_argument("--port", default="", help="its serial port; empty: find it by its servos and adapter")
    commands = parser.add_subparsers(dest="command", required=True)
    add = commands.add_parser
    find = add("find", parents=[every], help="which serial port is which arm")
    find.add_argument("--port", action="append", default=[], help="look at this port alone (may be given again)")
    find.add_argument("--wiggle", action="store_true", help="let each arm roll its hand a little, at a fifth of its torque")
    ping = add("ping", parents=[every], help="ask every servo on a port who it is")
    ping.add_argument("port", help="serial port")
    ping.add_argument("--scan", action="store_true", help="all 254 IDs instead of 1 to 6")
    calibrate = add("calibrate", parents=[every, one], help="sweep the joints; write servos and file")
    how = calibrate.add_mutually_exclusive_group()
    how.add_argument("--from", dest="source", default="", metavar="FILE", help="take LeRobot's file, or 'servos': what they hold")
    how.add_argument("--signs", action="store_true", help="only confirm by hand which way the joints count")
    how.add_argument("--zero", action="store_true", help="only find the zero offsets in the model's zero pose")
    calibrate.add_argument("--overwrite", action="store_true", help="replace another calibration without asking")
    add("check", parents=[every, one], help="is the arm ready to be driven? moves nothing")
    monitor = add("monitor", parents=[every, one], help="positions, load, supply, heat and errors as they change; moves nothing")
    monitor.add_argument("--rate", type=float, default=5.0, help="times a second (0.1 to 30, default 5)")
    monitor.add_argument("--duration", type=float, default=0.0, help="end after so many seconds; 0: until Enter")
    torque = add("torque", parents=[every, one], help="let the arm go, or hold where it stands")
    torque.add_argument("state", choices=("on", "off"))
    first = add("first-run", parents=[every], help="the guided first ten minutes with real arms; goes on where it was left")
    first.add_argument("--arms", default="left,right", help="the arms, comma-separated")
    first.add_argument("--ports", default="auto", help="auto, or left:/dev/...,right:/dev/...")
    first.add_argument("--cell", default="", help="cell file with the mounts; empty: the installed cell.yaml")
    first.add_argument(
        "--from", dest="back_to", default="", choices=("", *KEYS), metavar="STEP", help=f"go back to {', '.join(KEYS)}"
    )
    ident = add("id", parents=[every], help="give the one servo on a port another ID")
    ident.add_argument("port", help="serial port, with one servo connected")
    ident.add_argument("--from", dest="before", type=int, default=1, help="its ID now (default 1, as from the shop)")
    ident.add_argument("--to", dest="after", type=int, required=True, help="its ID from now on")
    return parser


def _within(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ConfigError("option", name, value, f"{low:g} to {high:g}", "name another value")


def _first_run(given: argparse.Namespace, desk: Desk) -> tuple[bool, dict[str, Any]]:
    names = tuple(name for name in given.arms.split(",") if name)
    limits.check_arms(names)

    def listen() -> Watch:
        # ROS is wanted from here on alone
        from teleop_hw_so101.tools.watch_node import WatchNode

        return WatchNode(names)

    devices, cell_file = devices_of(given.ports, names), paths.config("cell.yaml", given.cell)
    guide = Guide(desk, names, devices, cell_file, listen, lambda: time.strftime("%Y-%m-%d %H:%M"))
    return guide.run(given.back_to)


def _run(given: argparse.Namespace, desk: Desk) -> tuple[bool, dict[str, Any]]:
    match given.command:
        case "find":
            return looking.find(desk, given.port, given.wiggle)
        case "ping":
            return looking.ping(desk, given.port, given.scan)
        case "check":
            return looking.check(desk, given.arm, given.port)
        case "monitor":
            _within("--rate", given.rate, 0.1, 30.0)
            return looking.monitor(desk, given.arm, given.port, given.rate, given.duration)
        case "torque":
            return moving.torque(desk, given.arm, given.port, given.state == "on")
        case "id":
            _within("--from", given.before, 0, 253)
            _within("--to", given.after, 0, 253)
            return moving.set_id(desk, given.port, given.before, given.after)
        case "first-run":
            return _first_run(given, desk)
    how = {"source": given.source, "signs": given.signs, "zero": given.zero, "overwrite": given.overwrite}
    return calibrating.calibrate(desk, given.arm, given.port, **how)


def main(arguments: list[str] | None = None) -> int:
    """Run one tool and return the exit status."""
    given = _parser().parse_args(arguments)
    talk = Terminal(given.json, given.yes)
    try:
        robot = limits.load(paths.config("limits/so101.yaml", given.limits))
        desk = Desk(talk, robot, SerialStream, arms.serial_ports, time.sleep)
        good, result = _run(given, desk)
    except ConfigError as error:
        good, result, status = False, {"error": str(error)}, 2
    except TeleopError as error:
        good, result, status = False, {"error": str(error)}, 1
    except KeyboardInterrupt:
        good, result, status = given.command == "monitor", {}, 130
    else:
        status = 1
    if "error" in result:
        talk.say(f"arm {given.command}: {result['error']}", "bad")
    talk.record({"command": given.command, "ok": good, **result})
    return 0 if good else status


if __name__ == "__main__":
    sys.exit(main())
