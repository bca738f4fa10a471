"""Panels as a PNG, by Pillow, and as a page with everything in it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from teleop_recorder.plot.panels import Panel

_WIDTH, _HEIGHT, _COLUMNS = 640, 220, 2  # [px] of a panel
_LEFT, _TOP, _BOTTOM = 60, 34, 22
_POINTS = 4000  # of a curve in the page


def _range(panel: Panel) -> tuple[float, float]:
    values = np.concatenate([line.y[np.isfinite(line.y)] for line in panel.lines] or [np.zeros(0)])
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    pad = 0.05 * (high - low) or 1.0
    return low - pad, high + pad


def png(panels: list[Panel], title: str, path: Path) -> None:
    """Draw the panels into a picture, two in a row."""
    rows = (len(panels) + _COLUMNS - 1) // _COLUMNS
    picture = Image.new("RGB", (_WIDTH * _COLUMNS, 40 + rows * _HEIGHT), "white")
    draw = ImageDraw.Draw(picture)
    draw.text((12, 8), title, fill="black", font=ImageFont.load_default(18))
    for number, panel in enumerate(panels):
        _panel(draw, panel, number % _COLUMNS * _WIDTH, 40 + number // _COLUMNS * _HEIGHT)
    picture.save(path)


def _panel(draw: ImageDraw.ImageDraw, panel: Panel, left: int, top: int) -> None:
    small = ImageFont.load_default(12)
    x0, x1 = left + _LEFT, left + _WIDTH - 14
    y0, y1 = top + _TOP, top + _HEIGHT - _BOTTOM
    low, high = _range(panel)
    last = max((float(line.x[-1]) for line in panel.lines if len(line.x)), default=0.0) or 1.0
    draw.text((left + _LEFT, top + 2), panel.title, fill="black", font=ImageFont.load_default(14))
    at = left + _LEFT
    for line in panel.lines:
        draw.text((at, top + 19), line.name, fill=line.colour, font=small)
        at += round(draw.textlength(line.name, font=small)) + 14
    for share in (0.0, 0.5, 1.0):
        y = y1 - share * (y1 - y0)
        draw.line((x0, y, x1, y), fill="#d0d7de")
        draw.text((x0 - 6, y), f"{low + share * (high - low):.4g}", fill="#57606a", font=small, anchor="rm")
        x = x0 + share * (x1 - x0)
        draw.text((x, y1 + 4), f"{share * last:.3g} s", fill="#57606a", font=small, anchor="ma")
    for line in panel.lines:
        good = np.isfinite(line.y)
        xs = x0 + line.x / last * (x1 - x0)
        ys = y1 - (line.y - low) / (high - low) * (y1 - y0)
        # a gap in the values is a gap in the curve
        for part in np.split(np.arange(len(good)), np.flatnonzero(np.diff(good.astype(int))) + 1):
            if len(part) > 1 and good[part[0]]:
                draw.line(list(zip(xs[part].tolist(), ys[part].tolist(), strict=True)), fill=line.colour, width=1)


def page(panels: list[Panel], title: str, path: Path) -> None:
    """Write a page in which the panels can be zoomed and read off; it fetches nothing."""
    data = []
    for panel in panels:
        lines = []
        for line in panel.lines:
            step = max(len(line.x) // _POINTS, 1)
            y = [round(float(v), 4) if np.isfinite(v) else None for v in line.y[::step]]
            lines.append({"name": line.name, "colour": line.colour, "x": np.round(line.x[::step], 4).tolist(), "y": y})
        data.append({"title": panel.title, "lines": lines})
    text = Path(__file__).with_name("page.html").read_text()
    # a task may hold anything, also the end of a script
    safe = [json.dumps(value).replace("</", "<\\/") for value in (title, data)]
    path.write_text(text.replace("__TITLE__", safe[0]).replace("__DATA__", safe[1]))
