import pytest

from teleop_web import testing


@pytest.fixture
def probe(domain):
    common = pytest.importorskip("teleop_common.testing")
    with common.probe(domain) as node:
        yield node


@pytest.fixture
def gateway(probe, domain, tmp_path):
    with testing.gateway(probe, domain, tmp_path, web_root=str(testing.built_pages())) as address:
        yield address


@pytest.fixture
def frames(probe, gateway):
    from teleop_common import records

    return probe.listen(records.TeleopFrame, "/teleop/input/webxr/frame")
