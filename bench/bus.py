"""The servo bus on emulated servos: what a cycle costs beside the time on the wire, and the driver's rates on a bad line.

The emulator is a process of its own behind a pseudo-terminal, with the packet timing of 1 Mbit/s; what is above the floor is the
host's: two system calls and the parser, the emulator's own Python, and the scheduler.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from teleop_common import limits, paths
from teleop_common.ticker import Ticker
from teleop_hw_so101 import calibration, packet, setup_driver
from teleop_hw_so101.driver_params import DriverParams
from teleop_hw_so101.emulator.testing import Running, serving
from teleop_hw_so101.feetech_bus import FeetechBus
from teleop_hw_so101.servo_arm import ServoArm
from teleop_hw_so101.stream import SerialStream

CYCLES = 2000
SECONDS = 10.0
CORRUPT = 0.02  # share of replies of which a bit is flipped
IDS = tuple(range(1, 7))


def run() -> dict[str, float]:
    """Return the figures of the part ``bus``."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), "--arms", "left", "--log-hz", "1") as arms:
        return _cycles(arms) | _rates(arms)


def _cycles(arms: Running) -> dict[str, float]:
    """Write six goals and read six positions, again and again."""
    bus = FeetechBus(SerialStream(arms.port("left")))
    bus.ping(1)
    goals = {i: v["present_position"] for i, (_, v) in bus.sync_read(IDS, "present_position").items()}
    times, lost = [], 0
    for _ in range(CYCLES):
        begun = time.perf_counter()
        bus.sync_write("goal_position", goals)
        lost += len(IDS) - len(bus.sync_read(IDS, "present_position"))
        times.append(time.perf_counter() - begun)
        # as a driver that has other things to do; back to back the next request would wait for nothing
        time.sleep(0.002)
    for servo in IDS:
        bus.write(servo, "torque_enable", 0)
    bus.stream.close()
    write = len(packet.sync_write(42, dict.fromkeys(IDS, b"00")))
    read = len(packet.sync_read(IDS, 56, 2)) + len(IDS) * packet.status_size(2)
    p50, p99 = np.percentile(np.array(times) * 1e3, [50, 99])
    floor = bus.config.wire_time(write + read) * 1e3
    return {"cycle_p50_ms": float(p50), "cycle_p99_ms": float(p99), "floor_ms": floor, "cycle_lost": float(lost)}


def _rates(arms: Running) -> dict[str, float]:
    """Run the driver's own loop with torque on while two replies in a hundred come back corrupt."""
    robot = limits.load(paths.config("limits/so101.yaml"))
    own = calibration.load(arms.folder / "left.json")
    lock = threading.RLock()
    params = DriverParams(port=arms.port("left"))
    arm = setup_driver.create(params, robot, own, {"left": own}, 1, SerialStream, lock)
    failed: list[BaseException] = []
    loop = Ticker(params.loop_hz, lambda: arm.cycle(time.monotonic()), threading.Lock(), failed.append)
    try:
        _until(lambda: arm.core.connected)
        answers: list[str] = []
        arm.ask(True, answers.append)
        _until(lambda: bool(answers))
        if answers[0]:
            raise RuntimeError(f"bench bus: the emulated arm got no torque: {answers[0]}")
        arms.tell(f"corrupt left share={CORRUPT}")
        before, begun = _counts(arm), time.monotonic()
        time.sleep(SECONDS)
        passed, after = time.monotonic() - begun, _counts(arm)
        error = arm.core.error(time.monotonic())
    finally:
        loop.stop()
        arm.drop("the benchmark is over")
    if failed or error:
        raise RuntimeError(f"bench bus: the driver ended with {failed or error}")
    names = ("write_hz", "read_hz", "corrupt_hz", "given_up_hz")
    return {name: (b - a) / passed for name, a, b in zip(names, before, after)}


def _counts(arm: ServoArm) -> tuple[int, int, int, int]:
    """Return writes, complete readings, corrupt replies and requests given up, so far."""
    counts = list(arm.bus.counts.values()) if arm.bus is not None else []
    tally = arm.core.tally
    return tally.writes, tally.reads, sum(c.corrupt for c in counts), sum(c.given_up for c in counts)


def _until(true: Callable[[], bool], timeout: float = 10.0) -> None:
    end = time.monotonic() + timeout
    while not true():
        if time.monotonic() > end:
            raise TimeoutError("bench bus: the emulated arm was not reached")
        time.sleep(0.01)
