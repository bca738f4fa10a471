"""Draws the hard streams, ours beside the peers: `./teleop exec python -m bench.ik.plot docs/images`."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from bench.ik import Setting, hard, play_all
from bench.ik.streams import HZ, Stream
from teleop_ik.kinematics import forward

# who is drawn, peers first so that ours lie on top; every lasting figure is in the table, not here
LINES: dict[str, dict[str, Any]] = {
    "placo": {"color": "#c7a008", "linewidth": 1.0},
    "mink": {"color": "#7b52ab", "linewidth": 1.0},
    "pink": {"color": "#d6498d", "linewidth": 1.0},
    "ours/differential": {"color": "#1a8a5a", "linewidth": 1.6},
    "ours/analytic": {"color": "#1155bb", "linewidth": 1.6},
}


def draw(path: Path, setting: Setting, runs: dict[str, dict[str, hard.Run]], what: str) -> None:
    """Draw one panel a stream: ``speed`` of the fastest joint, or ``distance`` of the tool from the hand."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(4, 2, figsize=(12.0, 13.0), layout="constrained")
    for axis, stream in zip(axes.flat, setting.streams):
        seconds = [k / HZ for k in range(len(stream.targets))]
        for who, style in LINES.items():
            axis.plot(seconds, values(setting, stream, runs[stream.name][who], what), label=who, **style)
        axis.set_yscale("log")
        axis.set_title(stream.title, fontsize=11, loc="left")
        axis.margins(x=0.0)
        axis.grid(alpha=0.25)
        if what == "speed":
            axis.set_ylim(1e-2, 1e3)
            axis.axhline(max(setting.bounds.velocity), color="#c0392b", linestyle="--", linewidth=1.0, label="limit of the arm")
        else:
            axis.set_ylim(1e-3, 1e4)
    for axis in axes[-1]:
        axis.set_xlabel("time [s]")
    for axis in axes[:, 0]:
        axis.set_ylabel("fastest joint [rad/s]" if what == "speed" else "tool to hand [mm]")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside upper center", ncols=len(labels), frameon=False, fontsize=11)
    figure.savefig(path, dpi=90)
    pyplot.close(figure)


def values(setting: Setting, stream: Stream, run: hard.Run, what: str) -> list[float]:
    """Return one value a frame: rad/s or mm."""
    if what == "speed":
        return [max(map(abs, rate)) for rate in hard.speeds(run)]
    points = [forward(setting.chain, joints).position for joints in run.measured]
    return [1e3 * math.dist(point, target.position) for point, target in zip(points, stream.targets)]


def main() -> None:
    """Play and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="where ik_speed.png and ik_distance.png go")
    directory: Path = parser.parse_args().directory
    setting = Setting()
    runs = play_all(setting, lambda who: who in LINES)
    draw(directory / "ik_speed.png", setting, runs, "speed")
    draw(directory / "ik_distance.png", setting, runs, "distance")


if __name__ == "__main__":
    main()
