"""The judge of the hard streams: servo, streams, dense search, and what counts as frozen, back on the hand and at rest."""

import functools
import itertools
import math

import numpy as np
import pytest

from bench.ik import hard, servo
from bench.ik.closest import Search, direct_search, tool_points
from bench.ik.ours import Driven
from bench.ik.streams import HZ, Still, Stream, hard_streams
from teleop_ik.kinematics import forward
from teleop_ik.setup_arms import make_solver
from teleop_ik.solver import Target, rotation_between

STEPS = (17, 13, 13, 11, 3)


@pytest.fixture
def home(so101):
    return so101.home[:5]


@pytest.fixture
def streams(so101, home):
    return {stream.name: stream for stream in hard_streams(so101.chain, home)}


@functools.cache
def searched(chain, lower, upper):
    """One search for all tests: what it has found it knows."""
    return Search(chain, lower, upper, STEPS)


@pytest.fixture
def search(so101):
    return searched(so101.chain, so101.bounds.lower, so101.bounds.upper)


def posed(chain, joints):
    posture = forward(chain, joints)
    return Target(posture.position, posture.rotation)


@pytest.mark.parametrize("hz", [90.0, 1000.0, 37.0])
def test_a_servo_reaches_63_percent_after_delay_and_lag(hz):
    slow = servo.Servo(lag=0.060, delay=0.012)
    state, _ = servo.settled(slow, (0.0,))
    steps = 200
    for _ in range(steps):
        state = servo.follow(slow, state, (1.0,), 0.072 / steps)
    assert state.measured[0] == pytest.approx(1.0 - math.exp(-1.0), abs=1e-9)
    state, _ = servo.settled(slow, (0.0,))
    for _ in range(round(hz)):
        state = servo.follow(slow, state, (1.0,), 1.0 / hz)
    assert state.measured[0] == pytest.approx(1.0 - math.exp(-(round(hz) / hz - 0.012) / 0.060), abs=1e-9)


def test_nothing_moves_before_the_delay_is_over():
    late = servo.Servo(delay=0.012)
    state, _ = servo.settled(late, (0.0,))
    seen = []
    for k in range(4):
        state = servo.follow(late, state, (1.0 + k,), 1.0 / HZ)
        seen.append(state.measured[0])
    assert seen == [0.0, 1.0, 2.0, 3.0]  # 12 ms are one period of 11 ms and a bit


def test_settled_servos_hang_below_their_command_and_stay(home):
    state, command = servo.settled(servo.LAGGING, home)
    assert math.degrees(home[1] - command[1]) == pytest.approx(2.8)
    after = servo.follow(servo.LAGGING, state, command, 1.0 / HZ)
    assert after.measured == pytest.approx(home, abs=1e-15)


def test_ideal_servos_are_where_they_were_told(home):
    state, command = servo.settled(servo.IDEAL, home)
    assert command == home
    assert servo.follow(servo.IDEAL, state, (0.1,) * 5, 1.0 / HZ).measured == (0.1,) * 5


def test_every_stream_starts_at_the_same_pose_and_rests(streams, so101, home):
    assert len(streams) == 8
    for stream in streams.values():
        start = posed(so101.chain, home)
        assert all(math.dist(t.position, start.position) < 1e-12 for t in stream.targets[:8]), stream.name
        for still in stream.stills:
            assert len(set(stream.targets[still.first : still.last + 1])) == 1
            assert still.last - still.first >= 0.9 * HZ
            assert stream.targets[still.first - 1] != stream.targets[still.last] or stream.name == "wrist_flips"


def test_the_streams_are_as_hard_as_they_say(streams):
    def jump(name):
        targets = streams[name].targets
        return max(math.dist(a.position, b.position) for a, b in zip(targets, targets[1:]))

    assert jump("far_target") == pytest.approx(3.0)
    assert jump("teleport") == pytest.approx(0.6)
    flips = streams["wrist_flips"].targets
    turns = [math.hypot(*rotation_between(a.rotation, b.rotation)) for a, b in zip(flips, flips[1:])]
    assert sum(turn > 3.14 for turn in turns) == 8
    assert min(math.hypot(*t.position[:2]) for t in streams["pan_axis"].targets) < 0.05


def test_tool_points_are_those_of_forward_kinematics(so101, rng):
    joints = [so101.random(rng) for _ in range(20)]
    for point, q in zip(tool_points(so101.chain, np.array(joints)), joints):
        assert tuple(point) == pytest.approx(forward(so101.chain, q).position, abs=1e-12)


def test_the_simplex_search_finds_a_minimum_inside_and_at_the_edge():
    value, place = direct_search(lambda q: math.dist(q, (0.3, -0.2)), (0.0, 0.0), 0.1, (-1.0, -1.0), (1.0, 1.0))
    assert place == pytest.approx((0.3, -0.2), abs=1e-6)
    value, place = direct_search(lambda q: math.dist(q, (3.0, 0.5)), (0.0, 0.0), 0.1, (-1.0, -1.0), (1.0, 1.0))
    assert place == pytest.approx((1.0, 0.5), abs=1e-3)
    assert value == pytest.approx(2.0, abs=1e-6)


def test_the_search_finds_a_reachable_pose(search, so101, rng):
    for _ in range(3):
        target = posed(so101.chain, so101.random(rng, 0.1))
        found = search.closest(target)
        assert found.distance < 1e-6
        assert found.turn < 1e-3


def test_no_joints_are_closer_than_the_search_says(search, so101, rng):
    tried = tool_points(so101.chain, np.array([so101.random(rng) for _ in range(20_000)]))
    for position in ((2.0, 1.0, 1.0), (0.05, 0.0, 0.1), (0.6, -0.1, 0.0)):
        found = search.closest(Target(position, posed(so101.chain, so101.home[:5]).rotation))
        assert found.distance <= np.min(np.linalg.norm(tried - np.array(position), axis=1)) + 1e-9


def sweep(chain, home, frames=8):
    """A stream along reachable poses, and the joints that have them."""
    joints = [(home[0] + 0.01 * min(k, frames), *home[1:]) for k in range(1, frames + 91)]
    targets = tuple(posed(chain, q) for q in joints)
    return Stream("sweep", "", targets, (Still(frames - 1, len(targets) - 1),)), joints


def test_a_follower_at_once_is_never_frozen_late_or_off(search, so101, home):
    stream, joints = sweep(so101.chain, home)
    answers = iter(joints)
    run = hard.play(stream.targets, lambda start: lambda target, measured: next(answers), servo.IDEAL, home)
    found = hard.figures(so101.chain, stream, run, search)
    assert found["frozen_steps"] == 0
    assert found["return_s"] == 0.0
    assert found["residual_mm"] < 1e-3
    assert found["worst_speed_rad_s"] == pytest.approx(0.01 * HZ)
    assert found["worst_acceleration_rad_s2"] == pytest.approx(0.01 * HZ * HZ)
    assert hard.late(so101.chain, stream, run, search, so101.bounds, servo.IDEAL) < 0.0


def test_an_arm_that_stands_still_is_frozen_and_never_back(search, so101, home):
    stream, _ = sweep(so101.chain, home)
    run = hard.play(stream.targets, lambda start: lambda target, measured: start, servo.IDEAL, home)
    found = hard.figures(so101.chain, stream, run, search)
    assert found["frozen_steps"] == 7
    assert found["return_s"] is None
    assert found["residual_mm"] > 10.0
    assert hard.late(so101.chain, stream, run, search, so101.bounds, servo.IDEAL) == math.inf


def test_what_raises_is_counted_and_stands_still(search, so101, home):
    stream, joints = sweep(so101.chain, home)

    def driver(start):
        def drive(target, measured):
            raise ValueError("no")

        return drive

    run = hard.play(stream.targets, driver, servo.IDEAL, home)
    assert run.raised == len(stream.targets)
    assert set(run.commands) == {home}
    assert hard.reengage(so101.chain, driver, servo.IDEAL, home, so101.bounds) is None


def test_the_time_to_be_back_counts_from_the_hands_rest(so101, home):
    stream, joints = sweep(so101.chain, home)
    late = iter([home] * 9 + joints)
    run = hard.play(stream.targets, lambda start: lambda target, measured: next(late), servo.IDEAL, home)
    assert hard.back(so101.chain, stream.targets, run, stream.stills[0], True) == pytest.approx(10 / HZ)


@pytest.mark.parametrize("name", ["analytic", "differential", "velocity"])
@pytest.mark.parametrize("servos", [servo.IDEAL, servo.LAGGING], ids=["ideal", "lagging"])
def test_no_stream_makes_a_joint_exceed_speed_or_acceleration(name, servos, streams, so101, home):
    solver = make_solver(name, so101.chain)
    for stream in streams.values():
        run = hard.play(stream.targets, lambda start: Driven(solver, so101.robot, start, HZ).step, servos, home)
        speed, acceleration = hard.worst(run)
        assert run.raised == 0
        assert speed <= max(so101.bounds.velocity) * (1.0 + 1e-9), stream.name
        assert acceleration <= max(so101.bounds.acceleration) * (1.0 + 1e-9), stream.name


@pytest.mark.parametrize("name", ["analytic", "differential"])
@pytest.mark.parametrize("servos", [servo.IDEAL, servo.LAGGING], ids=["ideal", "lagging"])
def test_engaging_outside_a_limit_moves_nothing(name, servos, so101, home):
    solver = make_solver(name, so101.chain)
    change = hard.reengage(so101.chain, lambda start: Driven(solver, so101.robot, start, HZ).step, servos, home, so101.bounds)
    assert math.degrees(change) < 1e-9


@pytest.mark.parametrize("name", ["analytic", "differential", "velocity", "levenberg_marquardt", "qp"])
def test_a_solver_is_back_on_the_hand_in_time_and_rests_on_the_closest_point(name, search, streams, so101, home):
    if name == "qp":
        pytest.importorskip("pink")
    solver = make_solver(name, so101.chain)
    for stream, servos in itertools.product(streams.values(), (servo.IDEAL, servo.LAGGING)):
        run = hard.play(stream.targets, lambda start: Driven(solver, so101.robot, start, HZ).step, servos, home)
        # at the speed that the guard leaves to the retargeter
        bounds = Driven(solver, so101.robot, home, HZ).arm.bounds
        assert hard.late(so101.chain, stream, run, search, bounds, servos) <= 0.0, stream.name
        assert hard.residual(so101.chain, stream, run, search) < 1e-3, stream.name
        # lagging, it once stands where the hand comes back to just then: the target moves, and the arm is on it
        standing = 1 if servos is servo.LAGGING and stream.name == "stretch_dither" else 0
        assert hard.frozen(stream, run, search) <= standing, stream.name
