"""Settings shared by every test: hypothesis profiles and a free ROS domain."""

import os

import pytest

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

try:
    from hypothesis import HealthCheck, settings
except ImportError:  # a ring that needs no properties
    pass
else:
    settings.register_profile("ci", max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
    settings.register_profile("nightly", max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture
def domain():
    """A ROS domain id that no other test on this machine uses, also in the environment of child processes."""
    pytest.importorskip("domain_coordinator")
    from teleop_common.testing import free_domain

    with free_domain() as number:
        before = os.environ.get("ROS_DOMAIN_ID")
        os.environ["ROS_DOMAIN_ID"] = str(number)
        yield number
        if before is None:
            del os.environ["ROS_DOMAIN_ID"]
        else:
            os.environ["ROS_DOMAIN_ID"] = before


@pytest.fixture(scope="session")
def browser():
    """One headless Chromium for all browser tests: a second one in the same process is not possible."""
    testing = pytest.importorskip("teleop_web.testing")
    with testing.chromium() as made:
        yield made
