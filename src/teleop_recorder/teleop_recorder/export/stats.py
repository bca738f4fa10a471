"""Statistics of a data set, put together from those of its episodes, so that adding one reads no other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_QUANTILES = {"q01": 0.01, "q10": 0.10, "q50": 0.50, "q90": 0.90, "q99": 0.99}


def _of(values: np.ndarray) -> dict[str, list[float]]:
    """Return statistics over the first axis of (N, C)."""
    found = {"min": values.min(0), "max": values.max(0), "mean": values.mean(0), "std": values.std(0)}
    found |= {name: np.quantile(values, q, axis=0) for name, q in _QUANTILES.items()}
    return {name: np.atleast_1d(v).astype(float).tolist() for name, v in found.items()} | {"count": [len(values)]}


def of_columns(columns: Mapping[str, np.ndarray]) -> dict[str, dict[str, list[float]]]:
    """Return column → statistics of (N,) or (N, C)."""
    return {name: _of(values.astype(float).reshape(len(values), -1)) for name, values in columns.items()}


def of_pixels(pixels: np.ndarray) -> dict[str, list[float]]:
    """Return statistics of pixels (K, 3) in 0..1."""
    return _of(pixels)


def together(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the statistics of a whole set; a quantile is the mean of its episodes' quantiles, by their lengths.

    Args:
        rows: of each episode ``data`` and ``images``: name → statistics.
    """
    made = {name: _merge([row["data"][name] for row in rows]) for name in rows[0]["data"]}
    for camera in rows[0]["images"]:
        merged = _merge([row["images"][camera] for row in rows])
        # of an image: one value a channel, (3, 1, 1)
        made[f"observation.images.{camera}"] = {
            name: values if name == "count" else [[[v]] for v in values] for name, values in merged.items()
        }
    return made


def _merge(parts: Sequence[Mapping[str, list[float]]]) -> dict[str, Any]:
    counts = np.array([p["count"][0] for p in parts], float)
    weights = (counts / counts.sum())[:, None]
    of = {name: np.array([p[name] for p in parts]) for name in parts[0] if name != "count"}
    mean = (weights * of["mean"]).sum(0)
    variance = (weights * (of["std"] ** 2 + (of["mean"] - mean) ** 2)).sum(0)
    made = {"min": of["min"].min(0), "max": of["max"].max(0), "mean": mean, "std": np.sqrt(variance)}
    made |= {name: (weights * of[name]).sum(0) for name in _QUANTILES}
    return {name: values.tolist() for name, values in made.items()} | {"count": [int(counts.sum())]}
