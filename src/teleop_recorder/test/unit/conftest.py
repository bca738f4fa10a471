import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from recorder_bench import make_bench  # noqa: E402


@pytest.fixture
def bench(tmp_path):
    return make_bench(tmp_path)
