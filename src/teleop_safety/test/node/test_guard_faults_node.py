"""The guard's process stopped, killed, with a clock that stands, with two retargeters, with a publisher it cannot read."""

import shutil
import signal
import time

import pytest

pytest.importorskip("rclpy")

from guard_player import ARM, NAMES, Player, drive  # noqa: E402
from guard_world import HOME, ROBOT  # noqa: E402

from teleop_common import qos, records  # noqa: E402
from teleop_common.enums import Authority, Counter  # noqa: E402
from teleop_common.testing import probe, process  # noqa: E402
from teleop_safety import pieces  # noqa: E402


def guard(domain, expect=0, **params):
    return process(
        "teleop_safety", "guard", domain, {"arms": (ARM,), "countdown": 0.3, "collision": False, **params}, expect=expect
    )


@pytest.fixture
def player(domain):
    with probe(domain) as node:
        made = Player(node)
        yield made
        made.stop()


def ready(player):
    player.node.until(lambda: player.commands and player.state() == Authority.IDLE, 15.0, "the guard's first command")


def test_guard_stopped_for_a_while_goes_on_holding_and_the_grip_must_open(domain, player):
    with guard(domain) as child:
        ready(player)
        drive(player)
        child.send_signal(signal.SIGSTOP)
        time.sleep(0.1)
        held = player.commands[-1].position
        player.offset = 0.4  # the hand moves on while nobody listens
        time.sleep(0.6)
        player.commands.clear()
        child.send_signal(signal.SIGCONT)
        player.node.until(lambda: player.state() == Authority.IDLE, 1.0, "IDLE")
        assert player.authority[-1].arms[0].must_open
        time.sleep(0.3)
        assert {command.position for command in player.commands} == {held}
        player.offset = 0.0
        drive(player)


def test_killed_guard_comes_back_with_the_drivers_goal_and_with_its_latch(domain, player):
    with guard(domain, expect=None) as child:
        ready(player)
        drive(player)
        player.offset = 0.2
        player.node.until(lambda: abs(player.commands[-1].position[0] - HOME[0] - 0.2) < 1e-3, 3.0, "arm at its target")
        child.kill()
        child.wait(5.0)
    held = player.commands[-1].position
    player.estop = True  # a driver latches by itself; nobody tells the dead guard
    player.commands.clear()
    player.authority.clear()
    with guard(domain):
        player.node.until(lambda: player.commands and player.estops and player.estops[-1].latched, 15.0, "latched")
        assert player.commands[0].position == held
        player.node.until(lambda: player.state() == Authority.ESTOP, 2.0, "ESTOP")
        time.sleep(0.3)
        assert {command.position for command in player.commands} == {held}


def test_clock_that_stands_moves_nothing_and_the_process_lives(domain, player):
    player.squeeze = 1.0
    with guard(domain, use_sim_time=True) as child:
        player.node.until(lambda: player.authority, 15.0, "authority")
        player.squeeze = 0.0
        time.sleep(0.3)
        player.squeeze = 1.0
        time.sleep(1.0)
        assert player.state() == Authority.IDLE
        assert not player.commands
        assert child.poll() is None


def test_second_retargeter_breaks_no_limit_and_is_told(domain, player):
    reports = player.node.listen(records.ProviderReport, "/teleop/devices/guard")
    with guard(domain):
        ready(player)
        drive(player)
        other = player.node.talk(records.JointTargets, "/teleop/joint_targets")
        before = player.authority[-1].arms[0].counters[Counter.DUPLICATE]
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            asked = (HOME[0] + 1.0, *HOME[1:])
            target = records.JointTarget(ARM, "operator", player.engage, (0,) * len(NAMES), NAMES, asked)
            stamp = records.Header(player.node.now_ns())
            other.publish(records.JointTargets(stamp, stamp.stamp, 9, player.sequence, 0, 3, arms=(target,)))
            time.sleep(1 / 90)
        assert player.authority[-1].arms[0].counters[Counter.DUPLICATE] > before
        positions = [command.position[0] for command in player.commands]
        assert max(abs(b - a) for a, b in zip(positions, positions[1:])) <= 2.0 * 0.025 + 1e-9
        player.node.until(
            lambda: reports and "/teleop/joint_targets: 2 publishers" in reports[-1].error, 3.0, "the second one reported"
        )


def test_publisher_that_cannot_be_read_is_told(domain, player):
    with guard(domain, expect=None) as child:
        ready(player)
        player.node.talk(records.DriverState, f"/{ARM}/driver_state", qos.NEWEST)
        time.sleep(1.0)
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate(timeout=10.0)
    assert "incompatible QoS" in output
    assert f"/{ARM}/driver_state" in output


def test_links_that_cannot_be_cut_into_pieces_are_told_with_a_remedy(domain, tmp_path, monkeypatch):
    file, mine = pieces.cache(ROBOT), tmp_path / "xr-teleop" / "guard"
    if file.parent.is_dir():  # the hulls, which take seconds, may be there
        shutil.copytree(file.parent, mine, ignore=shutil.ignore_patterns(f"{file.stem}*"))
    (mine / file.with_suffix(".lock").name).mkdir(parents=True)  # what a folder that cannot be written is to others than root
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with probe(domain) as node, guard(domain, collision=True):
        reports = node.listen(records.ProviderReport, "/teleop/devices/guard")
        states = node.listen(records.GuardState, "/teleop/guard/state")
        node.until(lambda: reports and "set XDG_CACHE_HOME" in reports[-1].error, 60.0, "the reason why there are no pieces")
        assert f"cache '{mine}'" in reports[-1].error
        assert states[-1].geometry == "hulls"
