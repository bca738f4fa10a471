"""What goes wrong in a fuzz run: the late, the lost, the doubled, the mad."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from teleop_common.enums import Session, TargetStatus
from teleop_common.records import Controller, Pose, TrackedPose
from teleop_safety.fuzz import drawing
from teleop_safety.fuzz.drawing import Arguments
from teleop_safety.fuzz.world import FRAME_NS, START, World, hand, pose
from teleop_safety.settings import Instant

_HOUR = 3_600_000_000_000


def wait(world: World, seconds: float, ticks: int) -> None:
    """Let time pass; with ``ticks`` 0 the guard does not even tick."""
    for _ in range(ticks):
        world.advance(round(seconds * 1e9 / ticks))
        world.send("tick")
    if not ticks:
        world.advance(round(seconds * 1e9))


def silence(world: World, what: str, arm: str, alive: bool) -> None:
    """Let something fall silent, or speak again."""
    if what in ("frames", "session", "targets"):
        setattr(world, f"{what}_alive", alive)
    else:
        setattr(world.drivers[arm], f"{what}_alive", alive)


def clock(world: World, hours: int) -> None:
    """Somebody sets the machine's clock."""
    world.now = Instant(world.now.mono, world.now.ros + hours * _HOUR)


def clock_back(world: World) -> None:
    """The clock is right again."""
    world.now = Instant(world.now.mono, world.now.mono - START.mono + START.ros)


def again(world: World, back: int) -> None:
    """An old message comes once more."""
    if world.history:
        call = world.history[-1 - back % len(world.history)]
        world.send(call.kind, call.arm, call.record)


def shuffle(world: World, arm: str, seed: int) -> None:
    """The next messages of all kinds come in another order, the targets perhaps ahead of their frame."""
    sends: list[Callable[[], None]] = [
        world.frame,
        lambda: world.targets(frame_sequence=world.sequence + seed % 2),
        lambda: world.joints(arm),
        lambda: world.driver(arm),
        lambda: world.send("tick"),
    ]
    random.Random(seed).shuffle(sends)
    for send in sends:
        world.advance(FRAME_NS // 5)
        send()


def burst(world: World, frames: int, apart: float) -> None:
    """A link that was silent delivers everything at once."""
    alive, world.frames_alive = world.frames_alive, False
    world.flow(13)
    world.frames_alive = alive
    for _ in range(frames):
        world.frame()
        world.targets()
        world.advance(round(apart * 1e9))


def odd_frame(world: World, offset: int, connection: int, late: float, recentred: bool, bad: str) -> None:
    """Send a frame that is wrong in some ways."""
    fields: dict[str, Any] = {"header": world.header(late), "recentred": recentred, "connection": world.connection + connection}
    if bad:
        side, kind = bad.split(":")
        wrong = {
            "zero": Pose((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)),
            "nan": Pose((math.nan, 0.0, 0.0)),
            "long": Pose((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.3)),
        }
        tracked = TrackedPose(wrong[kind], 15)
        fields[side] = tracked if side == "head" else Controller(True, tracked, tracked, squeeze=1.0)
    world.frame(sequence=max(0, world.sequence + 1 + offset), **fields)


def draw_frame(r: random.Random) -> Arguments:
    """Draw what ``odd_frame`` needs."""
    bad = f"{r.choice(('left', 'right', 'head'))}:{r.choice(('zero', 'nan', 'long'))}" if r.random() < 0.4 else ""
    return {
        "offset": r.choice((0, 0, -1, -5, 1, 3, 2**40, -(2**40))),
        "connection": r.choice((0, 0, 0, 1, -1)),
        "late": drawing.late(r),
        "recentred": r.random() < 0.4,
        "bad": bad,
    }


def reconnect(world: World) -> None:
    """The operator's device connects anew."""
    world.connection, world.sequence = world.connection + 1, 0


def odd_targets(
    world: World, arm: str, position: list[float], ahead: int, late: float, engage: int, epoch: int, owner: str, status: int
) -> None:
    """Send a target of a new frame that is wrong in some ways."""
    world.advance(FRAME_NS)
    world.frame()
    target = world.target(arm, tuple(position))
    target = target._replace(engage=(target.engage + engage) % 2**32, owner=owner, status=status)
    world.targets(
        (target,), frame_sequence=max(0, world.sequence + ahead), session_epoch=world.epoch + epoch, header=world.header(late)
    )


def draw_targets(r: random.Random) -> Arguments:
    """Draw what ``odd_targets`` needs."""
    right = {"arm": drawing.side(r), "position": drawing.joints(r), "ahead": 0, "late": 0.0}
    right |= {"engage": 0, "epoch": 0, "owner": "operator", "status": int(TargetStatus.OK)}
    odd = {
        "arm": "third",
        "position": drawing.joints(r, wild=True),
        "ahead": r.choice((1, 2, -1, -4)),
        "late": drawing.late(r),
        "engage": r.choice((1, -1)),
        "epoch": 1,
        "owner": r.choice(("policy", "")),
        "status": int(r.choice(tuple(TargetStatus))),
    }
    return drawing.mostly_right(r, right, odd)


def odd_joints(world: World, arm: str, position: list[float], late: float, names_of: str, speed: float) -> None:
    """Send a measurement that is wrong in some ways."""
    fields: dict[str, Any] = {"position": tuple(position), "header": world.header(late), "name": world.names[names_of]}
    if not math.isinf(speed):
        fields["velocity"] = (speed,) * 6
    world.joints(arm, **fields)


def draw_joints(r: random.Random) -> Arguments:
    """Draw what ``odd_joints`` needs."""
    return {
        "arm": drawing.side(r),
        "position": drawing.joints(r, wild=True),
        "late": drawing.late(r),
        "names_of": drawing.side(r),
        "speed": r.choice((math.inf, 0.0, math.nan, 1e6, 1.0)),
    }


def push(world: World, arm: str, by: float) -> None:
    """Somebody pushes an arm."""
    driver = world.drivers[arm]
    driver.measured = tuple([m + by for m in driver.measured])


def driver(world: World, arm: str, what: str, load: float) -> None:
    """Something happens to a driver; it tells at once."""
    driver = world.drivers[arm]
    match what:
        case "restart":
            driver.instance += 1
            driver.estop, driver.goal = False, driver.measured
        case "torque":
            driver.torque, driver.goal = not driver.torque, driver.measured
        case "estop":
            driver.estop = not driver.estop
        case "fault":
            driver.error = "" if driver.error else "overload of servo 3"
        case "block":
            driver.blocked = not driver.blocked
        case "deaf":
            driver.deaf = not driver.deaf
        case "load":
            driver.load = (load,) * len(driver.goal)
    world.driver(arm)


def draw_driver(r: random.Random) -> Arguments:
    """Draw what ``driver`` needs."""
    what = r.choice(("restart", "torque", "estop", "fault", "block", "deaf", "load"))
    return {"arm": drawing.side(r), "what": what, "load": r.choice((0.0, 0.3, 0.9, -1.0, math.nan, math.inf))}


def odd_driver(world: World, arm: str, goal: list[float], late: float, names_of: str, estop: bool) -> None:
    """Send a driver's state that is wrong in some ways."""
    world.driver(arm, goal=tuple(goal), header=world.header(late), name=world.names[names_of], estop=estop)


def draw_odd_driver(r: random.Random) -> Arguments:
    """Draw what ``odd_driver`` needs."""
    return {
        "arm": drawing.side(r),
        "goal": drawing.joints(r, wild=True),
        "late": drawing.late(r),
        "names_of": drawing.side(r),
        "estop": r.random() < 0.1,
    }


def home(world: World, arms: list[str]) -> None:
    """Ask for the way home."""
    world.send("home", record=tuple(arms))


def own(world: World, arm: str, name: str, acquire: bool, target: list[float], periods: int) -> None:
    """Ask for an arm, and when it is given, lead it somewhere."""
    if acquire:
        world.hands[arm] = hand()
        world.flow(2)
    world.request(arm, name, acquire)
    world.aim(arm, target, math.inf)
    world.flow(periods)


def draw_own(r: random.Random) -> Arguments:
    """Draw what ``own`` needs."""
    name = r.choice(("policy", "policy", "replay", "operator", "", "leader", "x" * 100))
    return {
        "arm": drawing.side(r),
        "name": name,
        "acquire": r.random() < 0.8,
        "target": drawing.joints(r),
        "periods": r.randint(0, 60),
    }


def odd_own(world: World, arm: str, name: str, acquire: bool) -> None:
    """Ask for an arm whatever it does."""
    world.request(arm, name, acquire)


def odd_external(world: World, arm: str, position: list[float], owner: str, engage: int, connection: int, late: float) -> None:
    """Send an owner's target that is wrong in some ways."""
    world.advance(FRAME_NS)
    world.external(arm, tuple(position), owner, engage, connection=connection, header=world.header(late))
    world.send("tick")


def draw_external(r: random.Random) -> Arguments:
    """Draw what ``odd_external`` needs."""
    right = {"arm": drawing.side(r), "position": drawing.joints(r), "owner": "", "engage": 0, "connection": 0, "late": 0.0}
    odd = {
        "arm": "third",
        "position": drawing.joints(r, wild=True),
        "owner": r.choice(("policy", "replay", "operator", "homing")),
        "engage": r.choice((1, -1)),
        "connection": 5,
        "late": drawing.late(r),
    }
    return drawing.mostly_right(r, right, odd)


def session(world: World, state: int, epoch: int, hands: list[str], late: float) -> None:
    """The session changes."""
    world.session_state, world.pairing = state, tuple(hands)
    world.epoch = (world.epoch + epoch) % 2**32
    world.session(header=world.header(late))


def draw_session(r: random.Random) -> Arguments:
    """Draw what ``session`` needs."""
    return {
        "state": int(r.choice((*Session, Session.RUNNING, Session.RUNNING, Session.RUNNING))),
        "epoch": r.choice((0, 0, 1)),
        "hands": r.choice((["left", "right"], ["left", "right"], ["right", "left"], ["left", "left"], ["", "right"], ["left"])),
        "late": drawing.late(r),
    }


def head(world: World, tracked: bool) -> None:
    """The head is tracked or not."""
    world.head = pose(tracked)
