from pathlib import Path

import pytest

from teleop_common import cell, limits
from teleop_hw_so101 import packet
from teleop_hw_so101.blocks import CONTROL, EEPROM, HEALTH, MOTION
from teleop_hw_so101.emulator import faults
from teleop_hw_so101.emulator.testing import loopback
from teleop_hw_so101.feetech_bus import BusConfig, FeetechBus
from teleop_hw_so101.packet import Packet
from teleop_hw_so101.registers import MODEL_NUMBER, span

CONFIG = Path(__file__).resolve().parents[4] / "config"
ROBOT, CELL = limits.load(CONFIG / "limits/so101.yaml"), cell.load(CONFIG / "cell.yaml")
IDS = (1, 2, 3, 4, 5, 6)


def bench(config=None, **options):
    """A bus to an emulated arm, and a function that lets faults happen."""
    loop, _ = loopback(ROBOT, CELL, **options)
    bus = FeetechBus(loop.stream("left"), config or BusConfig())
    return bus, loop, lambda words: loop.emulator.tell(faults.parse(words), loop.time)


def test_each_servo_answers_to_its_id_alone():
    bus, _, _ = bench()
    assert [bus.ping(i) is not None for i in (*IDS, 7)] == [True] * 6 + [False]
    _, values = bus.read(3, *EEPROM)
    assert (values["model_number"], values["id"]) == (MODEL_NUMBER, 3)


def test_six_servos_are_read_and_written_in_the_time_of_the_wire():
    bus, loop, _ = bench()
    bus.ping(1)
    begun = loop.time
    assert sorted(bus.sync_read(IDS, *MOTION)) == [1, 2, 3, 4, 5, 6]
    floor = bus.config.wire_time(14 + 6 * packet.status_size(6))
    assert loop.time - begun == pytest.approx(floor, abs=20e-6)


def test_written_register_is_read_back_and_sync_write_reaches_each_servo():
    bus, _, _ = bench()
    assert bus.write(2, "torque_limit", 400) is not None
    bus.sync_write("goal_position", {1: 1900, 6: 1500})
    got = bus.sync_read(IDS, *CONTROL)
    assert got[2][1]["torque_limit"] == 400
    assert (got[1][1]["goal_position"], got[6][1]["goal_position"]) == (1900, 1500)
    assert [got[i][1]["torque_enable"] for i in IDS] == [1, 0, 0, 0, 0, 1], "a goal turns torque on by itself"


@pytest.mark.parametrize(("name", "count"), [("present_position", 5), ("homing_offset", 2048), ("torque_limit", 1001)])
def test_what_no_servo_takes_is_refused_before_it_is_sent(name, count):
    bus, loop, _ = bench()
    with pytest.raises(ValueError, match=f"register '{name}': got {count}"):
        bus.write(1, name, count)
    assert loop.emulator.buses["left"].requests == 0


@pytest.mark.parametrize("kind", ["lose", "corrupt", "double", "cut", "garble", "late"])
def test_one_bad_reply_is_asked_for_again(kind):
    bus, _, tell = bench()
    bus.ping(1)
    tell(f"{kind} left count=1")
    found = bus.sync_read(IDS, *MOTION)
    assert sorted(found) == [1, 2, 3, 4, 5, 6]
    assert all(600 < values["present_position"] < 3500 for _, values in found.values())


@pytest.mark.parametrize("kind", ["lose", "corrupt", "double", "cut", "late", "garble"])
def test_two_percent_bad_replies_lose_next_to_nothing_and_never_a_wrong_number(kind):
    bus, loop, tell = bench()
    bus.ping(1)
    true = {i: v["present_position"] for i, (_, v) in bus.sync_read(IDS, *MOTION).items()}
    for i in IDS:  # held, so that every reading must be the same but for the settling
        bus.write(i, "goal_position", true[i])
    loop.wait(0.3)
    true = {i: v["present_position"] for i, (_, v) in bus.sync_read(IDS, *MOTION).items()}
    tell(f"{kind} left share=0.02")
    missing = 0
    for _ in range(200):
        bus.budget(0.05)
        found = bus.sync_read(IDS, *MOTION)
        missing += 6 - len(found)
        assert all(abs(values["present_position"] - true[i]) <= 3 for i, (_, values) in found.items())
    assert missing <= 3


@pytest.mark.parametrize("place", [1, 3, 6])
def test_corrupt_reply_is_asked_for_again_without_waiting(place):
    bus, loop, tell = bench()
    bus.ping(1)
    tell(f"corrupt left id={place} count=1")
    begun = loop.time
    assert len(bus.sync_read(IDS, *MOTION)) == 6
    assert loop.time - begun < 0.003, "the wire's time twice, no time-out"
    assert bus.counts[place].corrupt == 1


def test_ten_bad_replies_in_a_row_cost_that_servo_alone():
    bus, _, tell = bench()
    bus.ping(1)
    tell("lose left id=4")
    for _ in range(10):
        assert sorted(bus.sync_read(IDS, *MOTION)) == [1, 2, 3, 5, 6]
    assert bus.counts[4].given_up == 10
    assert bus.counts[4].lost == 30
    tell("calm left")
    assert len(bus.sync_read(IDS, *MOTION)) == 6


def test_retries_end_with_the_cycles_budget():
    bus, loop, tell = bench(BusConfig(retries=10))
    bus.ping(1)
    tell("lose left")
    begun = loop.time
    bus.budget(0.012)
    assert bus.sync_read(IDS, *MOTION) == {}
    assert loop.time - begun < 0.025


def test_late_reply_is_not_taken_for_the_next_requests():
    bus, loop, tell = bench(BusConfig(retries=0))
    bus.ping(1)
    tell("late left count=1 value=0.012")
    begun = loop.time
    assert bus.read(1, *HEALTH) is None
    loop.until(begun + 0.0121)  # it comes while the next answer is awaited
    _, values = bus.read(1, *CONTROL)
    assert values["torque_limit"] == 1000
    assert bus.noise.stale + bus.noise.foreign > 0


def test_error_bits_are_handed_on_with_the_answer():
    bus, _, tell = bench()
    tell("overload left id=6")
    assert bus.ping(6).status & 0x20
    assert bus.write(6, "torque_enable", 0) is not None, "a servo that reports overload was written all the same"


def test_adapter_that_hands_back_what_is_sent_is_noticed():
    bus, loop, _ = bench(echo=True)
    assert bus.ping(1) is not None
    assert bus.echo is True
    assert bus.ping(9) is None, "an echo is no answer"
    assert len(bus.sync_read(IDS, *MOTION)) == 6
    bus.sync_write("goal_position", {1: 2000})
    assert bus.write(1, "torque_limit", 300) is not None
    assert bus.read(1, *CONTROL)[1]["torque_limit"] == 300


def test_ping_with_a_voltage_error_looks_like_an_echo_and_is_heard():
    bus, loop, _ = bench()
    bus.ping(1)
    assert packet.encode(Packet(1, 1)) == packet.ping(1)
    loop.emulator.tell(faults.parse("supply left value=5"), loop.time)
    loop.emulator.servos["left"][0].burn("min_voltage", 60)
    loop.wait(0.1)
    assert bus.ping(1).status == 1


class Silence:
    """A line on which nobody answers and whose noise never stops."""

    def __init__(self, noise=b""):
        self.time, self.noise = 0.0, noise

    def now(self):
        return self.time

    def read(self, timeout):
        self.time += max(timeout, 0.0) if not self.noise else 0.0005
        return self.noise if timeout > 0 else b""

    def write(self, data):
        pass

    def close(self):
        pass


@pytest.mark.parametrize("noise", [b"", b"\x00", b"\xff", b"\xff\xff\x01\x20"])
def test_silence_and_endless_noise_end_in_time(noise):
    line = Silence(noise)
    bus = FeetechBus(line, BusConfig(retries=1, adapter_echo=False))
    assert bus.read(1, *HEALTH) is None
    assert line.time < 0.05


def test_blocks_have_lengths_of_their_own():
    lengths = [span(*names)[1] for names in (EEPROM, CONTROL, MOTION, HEALTH)]
    assert sorted(set(lengths) - {0}) == sorted(lengths)
