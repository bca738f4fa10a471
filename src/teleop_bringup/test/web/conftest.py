import pytest

from teleop_web import testing


@pytest.fixture(scope="session")
def browser():
    with testing.chromium() as made:
        yield made
