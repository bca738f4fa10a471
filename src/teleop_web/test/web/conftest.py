import pytest

from teleop_web import testing


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """One gateway for the tests of a module, each with a page of its own: where it is, a probe, and the frames it heard."""
    common = pytest.importorskip("teleop_common.testing")
    from teleop_common import records

    with common.free_domain() as domain, common.probe(domain) as node:
        heard = node.listen(records.TeleopFrame, "/teleop/input/webxr/frame")
        folder = tmp_path_factory.mktemp("certificate")
        with testing.gateway(node, domain, folder, web_root=str(testing.built_pages())) as address:
            yield address, node, heard


@pytest.fixture
def gateway(served):
    return served[0]


@pytest.fixture
def probe(served):
    return served[1]


@pytest.fixture
def frames(served):
    served[2].clear()
    return served[2]
