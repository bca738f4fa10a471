import pytest

from teleop_bringup.exits_node import Ended


@pytest.mark.parametrize(("returncode", "code", "number"), [(0, 0, 0), (2, 2, 0), (-9, -1, 9), (-15, -1, 15)])
def test_end_of_a_process_is_told_by_code_or_signal(returncode, code, number):
    told = Ended("guard", 12, returncode).record(5)
    assert (told.node, told.pid, told.exit_code, told.term_signal, told.header.stamp) == ("guard", 12, code, number, 5)
