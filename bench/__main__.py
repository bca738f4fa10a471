"""Runs the benchmarks and prints one JSON object with every figure; docs/benchmarks.md names them."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

PARTS = ("ik", "guard", "pipeline", "bus", "record")


def machine() -> dict[str, Any]:
    """Return what the figures were measured on."""
    cpu = next(
        (line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line), ""
    )
    return {"cpu": cpu or platform.processor(), "cores": os.cpu_count(), "load": round(os.getloadavg()[0], 2)}


def show(figures: Any, indent: str = "") -> None:
    """Print figures for people."""
    for name, value in figures.items():
        if isinstance(value, dict) and any(isinstance(item, dict) for item in value.values()):
            print(f"{indent}{name}")
            show(value, indent + "  ")
        elif isinstance(value, dict):
            print(f"{indent}{name:<30}" + "  ".join(f"{key} {_short(item)}" for key, item in value.items()))
        else:
            print(f"{indent}{name:<30}{_short(value)}")


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main() -> int:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(prog="./teleop bench", description=__doc__)
    parser.add_argument("part", nargs="?", default="all", choices=[*PARTS, "all"], help="what to measure (default: all)")
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON, - for standard output")
    chosen = parser.parse_args()
    figures: dict[str, Any] = {"machine": machine()}
    for part in PARTS if chosen.part == "all" else (chosen.part,):
        figures[part] = importlib.import_module(f"bench.{part}").run()
    if chosen.json == "-":
        json.dump(figures, sys.stdout, indent=1)
        print()
        return 0
    show(figures)
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
