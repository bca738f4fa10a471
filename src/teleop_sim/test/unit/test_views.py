"""Views: the shipped file, what is refused, which view is rendered when, and what is said about it."""

import re
from pathlib import Path

import pytest
import yaml

from teleop_common.enums import Device, DeviceReason
from teleop_common.errors import ConfigError
from teleop_sim.views import Scheduler, ViewConfig, load_views

REPOSITORY = Path(__file__).resolve().parents[4]
SHIPPED = REPOSITORY / "config/cameras.yaml"


def view(name, hz=10.0):
    return ViewConfig(name, "", 64, 48, hz, 80, "workspace", True, False, False, False, False)


def run(scheduler, wanted, seconds, cost, start=0.0):
    """Render as the node does, each picture costing ``cost`` [s]; return the count a view."""
    now, counts = start, dict.fromkeys(scheduler.views, 0)
    while now < start + seconds:
        name, wait = scheduler.next(now, wanted)
        if name is None:
            now += max(wait, 1e-4)
            continue
        scheduler.rendered(name, now, now + cost)
        counts[name] += 1
        now += cost
    return counts


def test_shipped_views_begin_with_overshoulder_and_leave_out_absent_arms():
    assert next(iter(yaml.safe_load(SHIPPED.read_text())["views"])) == "overshoulder"
    both = load_views(SHIPPED, ("left", "right"))
    assert [v.name for v in both] == ["overshoulder", "overhead", "front", "left_wrist", "right_wrist"]
    assert [v.name for v in load_views(SHIPPED, ("right",))] == ["overshoulder", "overhead", "front", "right_wrist"]
    assert {v.name for v in both if v.facing == "operator"} == {"front"}


@pytest.mark.parametrize(
    ("key", "value"), [("width", 4000), ("hz", 0), ("facing", "sideways"), ("quality", 100), ("record", "yes"), ("colour", "red")]
)
def test_wrong_key_or_value_is_named(tmp_path, key, value):
    path = tmp_path / "cameras.yaml"
    path.write_text(yaml.safe_dump({"views": {"top": {"width": 64, "height": 48, "hz": 5, "quality": 80, key: value}}}))
    with pytest.raises(ConfigError, match=f"views.top.{key}"):
        load_views(path, ())


def test_name_that_cannot_be_part_of_a_topic_is_refused(tmp_path):
    path = tmp_path / "cameras.yaml"
    path.write_text(yaml.safe_dump({"views": {"my/view": {"width": 64, "height": 48, "hz": 5, "quality": 80}}}))
    with pytest.raises(ConfigError, match="my/view"):
        load_views(path, ())


def test_nothing_is_rendered_while_nobody_looks():
    assert run(Scheduler([view("a"), view("b")]), set(), 2.0, 0.01) == {"a": 0, "b": 0}


def test_fast_machine_gives_each_view_its_own_rate():
    counts = run(Scheduler([view("a", 10.0), view("b", 25.0)]), {"a", "b"}, 4.0, 0.005)
    assert counts["a"] == pytest.approx(40, abs=1)
    assert counts["b"] == pytest.approx(100, abs=1)


def test_slow_machine_shares_between_views_and_counts_what_it_skips():
    scheduler = Scheduler([view("a"), view("b")])
    counts = run(scheduler, {"a", "b"}, 10.0, 0.1)
    assert counts["a"] == pytest.approx(50, abs=2)
    assert counts["b"] == pytest.approx(50, abs=2)
    assert scheduler.paces["a"].rendered + scheduler.paces["a"].skipped == pytest.approx(100, abs=3)
    report = scheduler.report("a", 10.0, 0.01)
    assert report.state == Device.DEGRADED
    assert re.match(r"5\.\d of 10 Hz, \d+ skipped", report.error)


def test_view_looked_at_again_starts_at_once_without_a_burst():
    scheduler = Scheduler([view("a")])
    run(scheduler, {"a"}, 1.0, 0.001)
    run(scheduler, set(), 5.0, 0.001, start=1.0)
    counts = run(scheduler, {"a"}, 1.0, 0.001, start=6.0)
    assert counts["a"] == pytest.approx(10, abs=1)
    assert scheduler.paces["a"].skipped == 0


def test_missing_state_is_reported_with_what_to_do():
    report = Scheduler([view("a")]).report("a", 5.0, float("inf"))
    assert (report.state, report.reason) == (Device.DISCONNECTED, DeviceReason.NO_HARDWARE_SIGNAL)
    assert "start the node sim" in report.error


def test_postponed_view_is_asked_again_one_period_later():
    scheduler = Scheduler([view("a")])
    assert scheduler.next(1.0, {"a"})[0] == "a"
    scheduler.postpone("a", 1.0)
    assert scheduler.next(1.05, {"a"}) == (None, pytest.approx(0.05))
    assert scheduler.next(1.1, {"a"})[0] == "a"
