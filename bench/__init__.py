"""Benchmarks against peers and floors: `./teleop bench [PART] [--json FILE]`."""
