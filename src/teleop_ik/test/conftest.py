"""Lets the tests import the world they share."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "unit"))
