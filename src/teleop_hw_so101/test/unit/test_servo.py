"""One emulated servo: what its registers do when written, at power-off, and under load."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_hw_so101.emulator.protection import Sensed
from teleop_hw_so101.emulator.servo import BOOT_TIME, Servo
from teleop_hw_so101.registers import OVERLOAD, REGISTERS, STATUS_BITS

DT = 0.002
BIT = {name: bit for bit, name in STATUS_BITS.items()}


def put(servo, name, count, now=0.0):
    register = REGISTERS[name]
    servo.write(register.address, register.encode(count), now)


def get(servo, name):
    register = REGISTERS[name]
    return register.decode(servo.read(register.address, register.size))


def run(servo, seconds, sensed=None, start=0.0):
    """Let the servo control for ``seconds`` while its sensors say ``sensed``; return the last duty."""
    sensed = sensed or servo.sensed
    duty = 0.0
    for step in range(round(seconds / DT)):
        duty = servo.step(sensed, start + step * DT, DT)
    return duty


def power_cycle(servo, sensed=None):
    sensed = sensed or servo.sensed
    servo.step(sensed._replace(volts=0.0), 100.0, DT)
    run(servo, BOOT_TIME + 2 * DT, sensed, 100.0)


def test_goal_written_while_torque_is_off_turns_torque_on():
    servo = Servo(1)
    put(servo, "torque_enable", 0)
    assert run(servo, 0.01) == 0.0
    put(servo, "goal_position", 2300)
    assert get(servo, "torque_enable") == 1
    assert run(servo, 0.01) > 0.0


def test_torque_on_with_the_goal_of_a_fresh_boot_drives_towards_zero():
    servo = Servo(1)
    assert get(servo, "goal_position") == 0
    put(servo, "torque_enable", 1)
    assert run(servo, 0.01) == -1.0


def test_goal_beyond_the_limits_acts_clamped_and_reads_back_as_written():
    servo = Servo(1, [("min_position", 1000), ("max_position", 3000)])
    put(servo, "goal_position", 4000)
    assert get(servo, "goal_position") == 4000
    assert servo.goal_position() == 3000
    assert run(servo, 0.01, Sensed(angle=3000.5)) == 0.0


@given(name=st.sampled_from([r.name for r in REGISTERS.values() if r.eeprom and r.writable]), count=st.integers(0, 3))
def test_eeprom_outlives_the_power_only_when_written_unlocked(name, count):
    servo = Servo(1)
    register = REGISTERS[name]
    count = min(max(count, register.minimum), register.maximum)
    put(servo, name, count)
    assert get(servo, name) == count  # it acts at once all the same
    power_cycle(servo)
    assert get(servo, name) == (1 if name == "id" else register.default)
    put(servo, "lock", 0)
    put(servo, name, count)
    power_cycle(servo)
    assert get(servo, name) == count
    assert get(servo, "lock") == 1


def test_ram_takes_its_defaults_at_power_on_and_the_torque_limit_that_of_eeprom():
    servo = Servo(1, [("max_torque", 500)])
    put(servo, "acceleration", 20)
    put(servo, "torque_limit", 100)
    put(servo, "goal_position", 2100)
    power_cycle(servo)
    assert [get(servo, n) for n in ("acceleration", "torque_limit", "goal_position", "torque_enable")] == [0, 500, 0, 0]


def test_servo_without_supply_is_dead_until_it_has_booted():
    servo = Servo(1)
    put(servo, "goal_position", 2300)
    assert servo.step(servo.sensed._replace(volts=3.0), 1.0, DT) == 0.0
    assert not servo.alive
    run(servo, BOOT_TIME / 2, Sensed(), 1.0)
    assert not servo.alive
    run(servo, BOOT_TIME, Sensed(), 1.0 + BOOT_TIME / 2)
    assert servo.alive
    assert not servo.torque_on


@given(angle=st.integers(-20_000, 20_000), offset=st.integers(-2047, 2047))
def test_position_is_the_encoder_less_the_offset_modulo_one_turn(angle, offset):
    servo = Servo(1, [("homing_offset", offset)])
    servo.boot(Sensed(angle=angle + 0.5))
    assert get(servo, "present_position") == (angle - offset) % 4096


@given(start=st.integers(0, 4095), offset=st.integers(-2047, 2047), turned=st.integers(-20_000, 20_000))
def test_multi_turn_position_counts_on_over_the_seam_and_forgets_turns_at_power_off(start, offset, turned):
    servo = Servo(1, [("homing_offset", offset), ("phase", 12 | 0x10)])
    servo.boot(Sensed(angle=start + 0.5))
    servo.step(Sensed(angle=start + turned + 0.5), 0.0, DT)
    assert get(servo, "present_position") == start + turned - offset
    power_cycle(servo)
    assert get(servo, "present_position") == (start + turned) % 4096 - offset


def test_seam_makes_a_servo_turn_the_long_way():
    servo = Servo(1)
    servo.boot(Sensed(angle=4090.0))
    put(servo, "goal_position", 4095)
    assert run(servo, 0.01) > 0.0
    # one step past the seam the same goal lies a whole turn ahead
    assert run(servo, 0.01, Sensed(angle=4097.0)) == 1.0


def test_128_in_torque_enable_makes_the_present_position_2048():
    servo = Servo(1)
    for angle in (10.0, 2048.0, 4000.0, 9000.0):
        servo.boot(Sensed(angle=angle))
        put(servo, "torque_enable", 128)
        assert get(servo, "present_position") == 2048
        assert abs(get(servo, "homing_offset")) <= 2047
        assert not servo.torque_on


def test_signed_registers_read_back_with_their_sign():
    servo = Servo(1)
    put(servo, "homing_offset", -1480)
    assert servo.read(31, 2) == (1480 | 1 << 11).to_bytes(2, "little")
    servo.sensed = Sensed(angle=2048.0, speed=-700.0)
    servo.duty = -0.25
    assert get(servo, "present_velocity") == -700
    assert servo.read(60, 2) == (250 | 1 << 10).to_bytes(2, "little")


def test_read_only_registers_keep_their_value():
    servo = Servo(1)
    servo.write(56, b"\x00\x00\x00\x00", 0.0)
    put(servo, "model_number", 5)
    assert get(servo, "present_position") == 2048
    assert get(servo, "model_number") == 777


def test_reg_write_waits_for_action_and_shows_that_it_waits():
    servo = Servo(1)
    servo.hold_back(42, (2300).to_bytes(2, "little"))
    assert get(servo, "async_flag") == 1
    assert not servo.torque_on
    servo.action(0.0)
    assert (get(servo, "async_flag"), get(servo, "goal_position"), servo.torque_on) == (0, 2300, True)


def test_droop_is_nine_permille_of_duty_a_step_at_the_gain_that_arms_use():
    servo = Servo(1, [("p_gain", 16)])
    put(servo, "goal_position", 2048 + 20)
    assert run(servo, 0.01) == pytest.approx(0.18, abs=0.001)


def test_error_within_the_dead_zone_moves_nothing_and_beyond_it_the_least_force_acts():
    servo = Servo(1, [("p_gain", 1)])
    put(servo, "goal_position", 2049)
    assert run(servo, 0.01) == 0.0
    put(servo, "goal_position", 2050)
    assert run(servo, 0.01) == pytest.approx(0.016)


def test_torque_limit_bounds_the_duty():
    servo = Servo(1)
    put(servo, "torque_limit", 300)
    put(servo, "goal_position", 4000)
    assert run(servo, 0.01) == 0.3


def test_acceleration_and_speed_bound_the_ramp_to_the_goal():
    servo = Servo(1)
    put(servo, "acceleration", 10)  # 1000 step/s²
    put(servo, "goal_velocity", 500)
    put(servo, "goal_position", 3000)
    places = []
    for step in range(2000):
        servo.step(Sensed(), step * DT, DT)
        places.append(servo.loop.setpoint)
    speeds = [(b - a) / DT for a, b in zip(places, places[1:])]
    assert max(speeds) == pytest.approx(500.0, rel=1e-6)
    assert min(speeds) >= 0.0  # no overshoot
    assert max(abs(b - a) for a, b in zip(speeds, speeds[1:])) <= 1000.0 * DT + 1e-6
    assert places[-1] == pytest.approx(3000.0, abs=0.5)


def test_overload_limits_the_output_after_two_seconds_and_clears_when_torque_goes_off():
    servo = Servo(1)
    put(servo, "goal_position", 4000)
    assert run(servo, 1.9) == 1.0
    assert servo.status == 0
    assert run(servo, 0.2, start=1.9) == 0.2
    assert servo.status == OVERLOAD
    assert get(servo, "status") == OVERLOAD
    assert servo.led
    put(servo, "goal_position", 2048)
    assert servo.status == OVERLOAD  # latched: the load is gone, the flag is not
    put(servo, "torque_enable", 0)
    assert servo.status == 0


def test_overload_that_only_the_supply_clears_stays_when_torque_goes_off():
    servo = Servo(1, overload_clears="power")
    servo.protection.status |= OVERLOAD
    put(servo, "torque_enable", 0)
    assert servo.status == OVERLOAD
    power_cycle(servo)
    assert servo.status == 0


def test_heat_cuts_the_output_until_the_servo_has_cooled():
    servo = Servo(1)
    put(servo, "goal_position", 3000)
    assert run(servo, 0.01, Sensed(celsius=70.0)) == 0.0
    assert servo.status == BIT["temperature"]
    assert run(servo, 0.01, Sensed(celsius=66.0)) == 0.0
    assert run(servo, 0.01, Sensed(celsius=64.0)) == 1.0
    assert servo.status == 0


def test_over_current_cuts_the_output_after_its_time():
    servo = Servo(1, [("protection_current", 100), ("over_current_time", 50)])
    put(servo, "goal_position", 3000)
    assert run(servo, 0.45, Sensed(current=0.7)) == 1.0
    assert run(servo, 0.1, Sensed(current=0.7)) == 0.0
    assert servo.status == BIT["current"]


def test_low_supply_is_reported_and_cuts_only_where_eeprom_says_so():
    servo = Servo(1, [("min_voltage", 110)])
    put(servo, "goal_position", 3000)
    assert run(servo, 0.01, Sensed(volts=10.5)) == 1.0
    assert servo.status == BIT["voltage"]
    put(servo, "unloading_condition", 44 | BIT["voltage"])
    assert run(servo, 0.01, Sensed(volts=10.5)) == 0.0
    run(servo, 0.01, Sensed(volts=12.0))
    assert servo.status == 0


def test_modes_of_speed_pwm_and_steps():
    servo = Servo(1, [("mode", 2)])
    put(servo, "torque_enable", 1)
    put(servo, "goal_time", -250)
    assert run(servo, 0.01) == -0.25
    put(servo, "mode", 1)
    put(servo, "goal_velocity", -1000)
    assert -1.0 < run(servo, 0.01) < 0.0
    put(servo, "mode", 3)
    put(servo, "goal_velocity", 0)
    put(servo, "goal_position", -500)
    run(servo, 0.01)
    assert servo.loop.setpoint == 2048 - 500


def test_word_written_in_part_keeps_its_other_byte():
    servo = Servo(1)
    put(servo, "goal_position", 0x0123)
    servo.write(43, b"\x02", 0.0)
    assert get(servo, "goal_position") == 0x0223
    servo.write(41, b"\x00\x45", 0.0)
    assert get(servo, "goal_position") == 0x0245


def test_read_of_any_block_is_a_piece_of_the_whole_table():
    servo = Servo(1, [("homing_offset", -77), ("max_position", 3000)])
    whole = servo.read(0, 100)
    for address in range(90):
        for length in (1, 2, 3, 7):
            assert servo.read(address, length) == whole[address : address + length]
