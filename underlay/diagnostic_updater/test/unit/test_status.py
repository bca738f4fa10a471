import pytest

pytest.importorskip("rclpy")

import diagnostic_updater
from diagnostic_msgs.msg import DiagnosticStatus
from diagnostic_updater import DiagnosticStatusWrapper, FunctionDiagnosticTask


def test_values_become_text_and_numbers_levels():
    stat = DiagnosticStatusWrapper()
    stat.summary(2, "off")
    stat.add("rate", 3.5)
    stat.add("on", True)
    assert (stat.level, stat.message) == (DiagnosticStatus.ERROR, "off")
    assert [(item.key, item.value) for item in stat.values] == [("rate", "3.5"), ("on", "True")]


def test_task_of_a_function_fills_the_status_it_is_given():
    task = FunctionDiagnosticTask("a", lambda stat: stat.add("x", 1) or stat)
    assert task.run(DiagnosticStatusWrapper()).values[0].key == "x"


@pytest.mark.parametrize("name", ["TopicDiagnostic", "CompositeDiagnosticTask", "FrequencyStatus"])
def test_outside_the_subset_names_the_real_package(name):
    with pytest.raises(NotImplementedError, match=f"{name}.*ros-jazzy-diagnostic-updater"):
        getattr(diagnostic_updater, name)
