import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def monado_here():
    if shutil.which("monado-service") is None:
        pytest.skip("needs Monado: ./teleop test openxr prepares it")
    pytest.importorskip("xr")


@pytest.fixture
def service(monado_here, tmp_path):
    """A running Monado with a headset and two controllers that are driven by packets."""
    from monado import Service

    made = Service(tmp_path / "monado.log")
    yield made
    made.kill()
