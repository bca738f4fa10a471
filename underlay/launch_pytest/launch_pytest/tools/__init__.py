"""Tools for tests."""

from launch_pytest.tools import process as process
