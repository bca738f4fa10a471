"""The emulated line: who answers, when, and what a damaged line makes of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common.errors import ConfigError
from teleop_hw_so101 import packet
from teleop_hw_so101.emulator import collision, faults
from teleop_hw_so101.emulator.faults import Damage
from teleop_hw_so101.emulator.protection import Sensed
from teleop_hw_so101.emulator.servo import Servo
from teleop_hw_so101.emulator.wire import Bus
from teleop_hw_so101.packet import BROADCAST, Instruction, Packet, Parser

BYTE = 10e-6  # [s]
POSITION = (56, 2)


def bus(count=6, **options):
    servos = [Servo(number) for number in range(1, count + 1)]
    for servo in servos:
        servo.boot(Sensed(angle=1000.0 * servo.id % 4096))
    return Bus(servos, Damage("1/left/wire"), **options)


def answers(sendings):
    """Return the good packets of what came back."""
    return Parser().feed(b"".join(sending.data for sending in sendings))


def ask(line, request, now=1.0, baud=1_000_000):
    return answers(line.receive(request, now, baud))


def test_sync_read_takes_its_time_on_the_wire_and_answers_come_in_the_order_of_the_list():
    line = bus()
    sendings = line.receive(packet.sync_read([3, 1, 2, 4, 5, 6], *POSITION), 1.0)
    assert [p.id for p in answers(sendings)] == [3, 1, 2, 4, 5, 6]
    assert [s.due - 1.0 for s in sendings] == pytest.approx([(14 + 8 * n) * BYTE for n in range(1, 7)])


def test_six_sync_written_goals_take_the_wire_26_bytes_and_nobody_answers():
    line = bus()
    assert line.receive(packet.sync_write(42, dict.fromkeys(range(1, 7), b"\x00\x08")), 1.0) == []
    assert [servo.get("goal_position") for servo in line.servos] == [2048] * 6
    # the next request waits for the line
    (reply,) = line.receive(packet.ping(1), 1.0)
    assert reply.due - 1.0 == pytest.approx((26 + 6 + 6) * BYTE)


def test_request_in_pieces_is_one_request_and_half_a_request_is_forgotten():
    line, request = bus(), packet.read(2, *POSITION)
    assert line.receive(request[:3], 1.0) == []
    assert [p.id for p in ask(line, request[3:], 1.0005)] == [2]
    assert line.receive(request[:5], 2.0) == []
    assert [p.id for p in ask(line, request, 2.1)] == [2]


def test_return_delay_comes_before_the_answer():
    line = bus(1)
    line.servos[0].write(7, b"\xfa", 0.0)
    (reply,) = line.receive(packet.ping(1), 1.0)
    assert reply.due - 1.0 == pytest.approx(12 * BYTE + 500e-6)


def test_absent_servo_leaves_its_turn_empty():
    line = bus()
    line.servos[2].alive = False
    sendings = line.receive(packet.sync_read(range(1, 7), *POSITION), 1.0)
    assert [p.id for p in answers(sendings)] == [1, 2, 4, 5, 6]
    assert sendings[2].due - sendings[1].due == pytest.approx(16 * BYTE)


def test_servo_at_another_speed_hears_nothing():
    line = bus(2)
    line.servos[1].write(6, b"\x04", 0.0)
    assert ask(line, packet.ping(2)) == []
    assert [p.id for p in ask(line, packet.ping(2), baud=115_200)] == [2]
    assert ask(line, packet.ping(1), baud=115_200) == []


def test_response_level_0_answers_reads_and_pings_only():
    line = bus(1)
    assert len(ask(line, packet.write(1, 8, b"\x00"))) == 0
    assert len(ask(line, packet.write(1, 41, b"\x05"))) == 0
    assert len(ask(line, packet.ping(1))) == 1
    assert ask(line, packet.read(1, 41, 1))[0].params == b"\x05"


def test_written_id_holds_from_the_next_request_on():
    line = bus(1)
    assert [p.id for p in ask(line, packet.write(1, 5, b"\x09"))] == [1]
    assert ask(line, packet.ping(1)) == []
    assert [p.id for p in ask(line, packet.ping(9))] == [9]


def test_broadcast_write_reaches_all_and_broadcast_ping_is_answered_in_turn():
    line = bus(3)
    assert line.receive(packet.write(BROADCAST, 41, b"\x07"), 1.0) == []
    assert [servo.get("acceleration") for servo in line.servos] == [7, 7, 7]
    assert [p.id for p in ask(line, packet.ping(BROADCAST))] == [1, 2, 3]


def test_action_lets_all_held_writes_happen_at_once():
    line = bus(2)
    for number in (1, 2):
        assert len(ask(line, packet.encode(Packet(number, Instruction.REG_WRITE, b"\x2a\x00\x08")))) == 1
    assert not any(servo.torque_on for servo in line.servos)
    assert line.receive(packet.encode(Packet(BROADCAST, Instruction.ACTION)), 1.1) == []
    assert all(servo.torque_on for servo in line.servos)


def test_adapter_with_echo_hands_back_the_request_before_the_answer():
    line, request = bus(1, echo=True), packet.ping(1)
    first, second = line.receive(request, 1.0)
    assert first.data == request
    assert second.due > first.due


def test_latency_of_the_adapter_delays_what_the_host_sees_and_not_the_wire():
    line = bus(1, latency=0.002)
    (first,), (second,) = line.receive(packet.ping(1), 1.0), line.receive(packet.ping(1), 1.0)
    assert first.due - 1.0 == pytest.approx(12 * BYTE + 0.002)
    assert second.due - first.due == pytest.approx(12 * BYTE)


def test_status_bits_stand_in_every_answer_and_the_write_is_done_all_the_same():
    line = bus(1)
    line.servos[0].protection.status = 0x20
    line.servos[0].overload_clears = "power"
    (reply,) = ask(line, packet.write(1, 40, b"\x01"))
    assert reply.code == 0x20
    assert line.servos[0].torque_on


def test_two_servos_of_one_id_that_say_the_same_are_heard_as_one_and_else_as_garbage():
    assert collision.heard([b"\xff\xff\x02\x02\x00\xfb"] * 2, [0, 0]) == b"\xff\xff\x02\x02\x00\xfb"
    line = bus(3)
    line.servos[2].write(5, b"\x02", 0.0)
    good = sum(len(ask(line, packet.read(2, *POSITION), 1.0 + n)) for n in range(50))
    assert good < 5
    assert len(ask(line, packet.read(1, *POSITION), 100.0)) == 1


@given(st.binary(min_size=1, max_size=20), st.integers(0, 9))
def test_a_lone_speaker_is_heard_as_it_speaks(data, late):
    assert collision.heard([data], [late]) == data


def damaged(words, requests=200, **options):
    """Return answered requests of ``requests`` sync reads, and the bytes that came back."""
    line = bus(**options)
    line.damage.add(faults.parse(words), 1.0)
    sent = [line.receive(packet.sync_read(range(1, 7), *POSITION), 1.0 + 0.01 * n) for n in range(requests)]
    return [sum(1 for _ in answers(one)) for one in sent], sent, line


def test_share_of_corrupt_replies_is_as_asked_and_each_fails_its_checksum():
    counts, _, line = damaged("corrupt share=0.02")
    assert line.damage.done["corrupt"] == pytest.approx(24, abs=15)
    # a flipped length byte takes the reply behind it along
    assert 1200 - 2 * line.damage.done["corrupt"] <= sum(counts) <= 1200 - line.damage.done["corrupt"]


@pytest.mark.parametrize("kind", ["lose", "cut", "corrupt"])
def test_counted_damage_hits_that_many_replies_of_that_servo_and_stops(kind):
    counts, _, line = damaged(f"{kind} id=4 count=10")
    assert counts == [5] * 10 + [6] * 190
    assert line.damage.done[kind] == 10


def test_doubled_byte_makes_a_reply_one_byte_longer():
    _, sent, _ = damaged("double id=1 count=1")
    assert len(sent[0][0].data) == 9
    assert len(sent[1][0].data) == 8


def test_late_reply_comes_after_the_others():
    _, sent, _ = damaged("late id=1 count=1 value=0.03")
    assert [p.id for p in answers(sent[0])] == [2, 3, 4, 5, 6, 1]


def test_garbled_request_is_not_heard():
    counts, _, line = damaged("garble count=3")
    assert counts[:3] == [0, 0, 0]
    assert counts[4:] == [6] * 196


def test_damage_ends_after_its_time_and_equal_seeds_damage_alike():
    counts, first, _ = damaged("corrupt share=0.5 for=1")
    assert set(counts[:100]) != {6}
    assert set(counts[101:]) == {6}
    assert damaged("corrupt share=0.5 for=1")[1] == first


def test_script_is_sorted_by_time_and_words_and_yaml_say_the_same(tmp_path):
    path = tmp_path / "faults.yaml"
    path.write_text("faults:\n- {fault: back, at: 3, id: 2}\n- {fault: corrupt, arm: left, share: 0.02, for: 10}\n")
    script = faults.load(path, ["left"])
    assert script == (faults.parse("corrupt left share=0.02 for=10"), faults.parse("back id=2 at=3"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("explode left", "fault"),
        ("", "fault"),
        ("gone left right", "arm"),
        ("gone id=two", "id"),
        ("lose share=2", "share"),
        ("lose count=0", "count"),
        ("lose colour=1", "colour"),
    ],
)
def test_fault_that_cannot_be_is_refused_by_name(words, said):
    with pytest.raises(ConfigError, match=f"key '{said}'"):
        faults.parse(words)


def test_script_for_an_arm_that_is_not_there_is_refused(tmp_path):
    path = tmp_path / "faults.yaml"
    path.write_text("faults: [{fault: gone, arm: middle}]\n")
    with pytest.raises(ConfigError, match="'middle'.*left, right"):
        faults.load(path, ["left", "right"])


def test_burn_names_a_register_of_eeprom():
    assert faults.parse("burn left id=3 register=homing_offset value=-65").register == "homing_offset"
    with pytest.raises(ConfigError, match="key 'value'.*'homing_offset'"):
        faults.parse("burn left register=homing_offset value=2048")
    with pytest.raises(ConfigError, match="key 'register'.*homing_offset"):
        faults.parse("burn left id=3 register=goal_position value=1")


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=12),
            st.builds(
                Packet,
                st.sampled_from([1, 2, 9, BROADCAST]),
                st.sampled_from([*Instruction, 0x06, 0x55]),
                st.binary(max_size=20),
            ).map(packet.encode),
            st.builds(packet.write, st.sampled_from([1, 2, BROADCAST]), st.integers(0, 255), st.binary(min_size=1, max_size=6)),
        ),
        max_size=8,
    )
)
def test_no_bytes_break_the_bus(chunks):
    line = bus(2)
    for number, chunk in enumerate(chunks):
        for sending in line.receive(chunk, 1.0 + 0.001 * number):
            assert sending.due >= 1.0
    for servo in line.servos:
        servo.step(Sensed(angle=1234.0), 2.0, 0.002)
        assert -1.0 <= servo.duty <= 1.0
        assert 0 <= servo.id <= 253


def test_read_of_all_servos_at_once_is_a_collision_of_their_own_ids():
    line = bus(3)
    assert answers(line.receive(packet.read(BROADCAST, *POSITION), 1.0)) == []
    assert [p.id for p in answers(bus(1).receive(packet.read(BROADCAST, *POSITION), 1.0))] == [1]
    assert len(answers(bus(1).receive(packet.read(1, 0, 255), 1.0))[0].params) == 250
