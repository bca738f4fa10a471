import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_hw_so101.registers import REGISTERS, TABLE, TABLE_SIZE, span, status_text, unpack


@pytest.mark.parametrize(
    ("name", "count", "data"),
    [
        ("present_position", 1000, b"\xe8\x03"),
        ("present_position", -10, b"\x0a\x80"),
        ("goal_position", -1, b"\x01\x80"),
        ("present_load", -500, b"\xf4\x05"),
        ("homing_offset", -1480, b"\xc8\x0d"),
        ("homing_offset", 2047, b"\xff\x07"),
        ("present_current", -3, b"\x03\x80"),
        ("max_position", 4095, b"\xff\x0f"),
        ("present_voltage", 74, b"\x4a"),
    ],
)
def test_counts_are_the_bytes_of_the_vendors_table(name, count, data):
    assert REGISTERS[name].encode(count) == data
    assert REGISTERS[name].decode(data) == count


@pytest.mark.parametrize(("name", "count"), [("homing_offset", 2048), ("homing_offset", -2048), ("id", 256)])
def test_count_that_does_not_fit_is_refused_by_name(name, count):
    with pytest.raises(ValueError, match=rf"register '{name}': got {count}"):
        REGISTERS[name].encode(count)


@given(st.sampled_from(TABLE), st.data())
def test_every_count_survives_the_wire(register, data):
    largest = (1 << register.sign_bit) - 1 if register.sign_bit is not None else (1 << 8 * register.size) - 1
    count = data.draw(st.integers(-largest if register.sign_bit is not None else 0, largest))
    assert register.decode(register.encode(count)) == count


def test_registers_overlap_nowhere_and_lie_inside_the_table():
    taken = [byte for r in TABLE for byte in range(r.address, r.address + r.size)]
    assert len(taken) == len(set(taken))
    assert max(taken) == TABLE_SIZE - 1
    assert all(r.minimum <= r.default <= r.maximum for r in TABLE)


def test_block_is_read_from_its_first_address():
    assert span("present_position", "present_current") == (56, 15)
    data = bytes([0xE8, 0x03, 0, 0, 0xF4, 0x05, 74, 30])
    names = ("present_position", "present_load", "present_voltage", "present_temperature")
    assert unpack(names, data) == dict(zip(names, (1000, -500, 74, 30)))


def test_status_is_told_in_words():
    assert status_text(0) == ""
    assert status_text(0x25) == "voltage, temperature, overload"
    assert status_text(0xC0) == "unknown 0xc0"
