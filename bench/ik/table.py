"""Writes the tables of docs/benchmarks.md: `./teleop bench ik --json F`, then `./teleop exec python -m bench.ik.table F`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

PER_STREAM = ("ours/analytic", "ours/differential", "pink", "mink", "placo")


def short(value: float) -> str:
    """Return a figure as people read it."""
    if value < 0.001:
        return "0" if value == 0.0 else "< 0.001"
    return f"{value:.0f}" if value >= 10.0 else f"{value:.2g}"


def overall(hard: dict[str, dict[str, dict[str, Any]]]) -> list[str]:
    """Return one row per participant, the worst of all streams."""
    rows = [
        "| who | rad/s | rad/s² | frozen steps | exceptions | worst residual mm | back on the hand |",
        "|---|---|---|---|---|---|---|",
    ]
    for who in next(iter(hard.values())):
        runs = [stream[who] for stream in hard.values()]
        returns = [run["return_s"] for run in runs if run["return_s"] is not None]
        back = f"{len(returns)} of {len(runs)}" + (f", at most {max(returns):.2f} s" if returns else "")
        rows.append(
            f"| {who} | {max(run['worst_speed_rad_s'] for run in runs):.1f}"
            f" | {max(run['worst_acceleration_rad_s2'] for run in runs):.0f}"
            f" | {sum(run['frozen_steps'] for run in runs)} | {sum(run['raised'] for run in runs)}"
            f" | {short(max(run['residual_mm'] for run in runs))} | {back} |"
        )
    return rows


def streams(hard: dict[str, dict[str, dict[str, Any]]]) -> list[str]:
    """Return one row per stream: residual in mm and time to be back in s."""
    rows = ["| stream | " + " | ".join(PER_STREAM) + " |", "|---|" + "---|" * len(PER_STREAM)]
    for name, runs in hard.items():
        cells = []
        for who in PER_STREAM:
            back = runs[who]["return_s"]
            cells.append(f"{short(runs[who]['residual_mm'])} mm, " + ("never" if back is None else f"{back:.2f} s"))
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return rows


def engaged(reengage: dict[str, dict[str, Any]]) -> list[str]:
    """Return one row per participant: the change when it is engaged outside a limit."""
    rows = ["| who | change |", "|---|---|"]
    for who, figures in reengage.items():
        change = figures["change_deg"]
        rows.append(f"| {who} | " + ("raises" if change is None else f"{short(change)}°") + " |")
    return rows


def main() -> None:
    """Read the figures, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="figures as ./teleop bench ik --json wrote them")
    figures = json.loads(parser.parse_args().file.read_text())["ik"]
    for table in (overall(figures["hard"]), streams(figures["hard"]), engaged(figures["reengage"])):
        print("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
