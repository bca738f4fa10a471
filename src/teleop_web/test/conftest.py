import sys
from pathlib import Path

# shared helpers of the tests (client, fake_graph) lie beside this file
sys.path.insert(0, str(Path(__file__).parent))
