import pytest

pytest.importorskip("rclpy")

import diagnostic_updater
from diagnostic_msgs.msg import DiagnosticStatus
from diagnostic_updater import (
    CompositeDiagnosticTask,
    DiagnosticStatusWrapper,
    FrequencyStatus,
    FrequencyStatusParam,
    FunctionDiagnosticTask,
)

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


def status(level, message):
    stat = DiagnosticStatusWrapper()
    stat.summary(level, message)
    return stat


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        ((OK, "good"), (WARN, "hot"), (WARN, "hot")),
        ((WARN, "hot"), (OK, "good"), (WARN, "hot")),
        ((WARN, "hot"), (ERROR, "off"), (ERROR, "hot; off")),
        ((ERROR, "off"), (WARN, "hot"), (ERROR, "off; hot")),
        ((OK, "a"), (OK, "b"), (OK, "a; b")),
    ],
)
def test_merging_keeps_the_worse_level_and_its_reasons(first, second, merged):
    stat = status(*first)
    stat.mergeSummary(*second)
    assert (stat.level, stat.message) == merged


def test_values_become_text():
    stat = DiagnosticStatusWrapper()
    stat.add("rate", 3.5)
    stat.add("on", True)
    assert [(item.key, item.value) for item in stat.values] == [("rate", "3.5"), ("on", "True")]


def test_composite_merges_its_tasks():
    def fill(level, message):
        def run(stat):
            stat.summary(level, message)
            stat.add(message, 1)
            return stat

        return run

    task = CompositeDiagnosticTask("both")
    task.addTask(FunctionDiagnosticTask("a", fill(OK, "fine")))
    task.addTask(FunctionDiagnosticTask("b", fill(ERROR, "broken")))
    stat = task.run(DiagnosticStatusWrapper())
    assert (stat.level, stat.message, len(stat.values)) == (ERROR, "broken", 2)


def test_frequency_without_events_is_an_error_and_with_too_many_a_warning():
    task = FrequencyStatus(FrequencyStatusParam({"min": 1.0, "max": 2.0}))
    assert task.run(DiagnosticStatusWrapper()).level == ERROR
    for _ in range(1000):
        task.tick()
    assert task.run(DiagnosticStatusWrapper()).message == "Frequency too high."


def test_outside_the_subset_names_the_real_package():
    with pytest.raises(NotImplementedError, match="ros-jazzy-diagnostic-updater"):
        diagnostic_updater.TopicDiagnostic("x")
