"""Where recordings of real devices lie: beside the repository, not in it."""

from __future__ import annotations

import os
from pathlib import Path

REAL_DATA = Path(os.environ.get("TELEOP_ROOT", ".")).resolve().parent / "shared/data/real"
