import pytest


@pytest.fixture
def probe(domain):
    common = pytest.importorskip("teleop_common.testing")
    with common.probe(domain) as node:
        yield node


@pytest.fixture
def pages(tmp_path):
    root = tmp_path / "pages"
    root.mkdir()
    (root / "index.html").write_text("cockpit")
    (root / "vr.html").write_text("headset")
    return root


@pytest.fixture
def gateway(probe, domain, tmp_path, pages):
    from teleop_web import testing

    with testing.gateway(probe, domain, tmp_path, web_root=str(pages)) as address:
        yield address


@pytest.fixture
def client(gateway):
    from client import Operator

    made = []

    def connect(**options):
        made.append(Operator(gateway, **options))
        return made[-1]

    yield connect
    for each in made:
        each.close()
