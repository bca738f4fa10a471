"""What a re-simulation needs of a retargeter: its configuration and, now and then, its state, as JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from teleop_common.cell import Cell
from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits
from teleop_common.plain import from_plain, to_plain
from teleop_description import folds
from teleop_ik.arm import Arm
from teleop_ik.retargeter import Retargeter, to_json
from teleop_ik.setup_arms import from_parameters, model_hash

FORMAT = 1
OTHER_VERSION = "re-simulate with the version that recorded it"


def describe(
    parameters: Mapping[str, Any], limits: RobotLimits, cell: Cell, arms: tuple[Arm, ...], started_ns: int
) -> dict[str, Any]:
    """Return what does not change while the process lives.

    Args:
        parameters: of the node.
        limits: limits in use.
        cell: cell in use.
        arms: made of all these.
        started_ns: monotonic time of the start [ns], which also tells processes apart.
    """
    return {
        "format": FORMAT,
        "parameters": to_plain(dict(parameters)),
        "limits": to_plain(limits),
        "cell": to_plain(cell),
        "limits_file": limits.source,
        "cell_file": cell.source,
        "model_hash": model_hash(limits),
        # distances of hulls are iterated, and may differ in their last digits from machine to machine
        "folds": to_plain(arms[0].config.folds),
        "started_ns": started_ns,
    }


def snapshot(core: Retargeter, at_ns: int, refused: int) -> dict[str, Any]:
    """Return the core's state after all steps up to ``at_ns``; its ``connection`` and ``sequence`` name the frame.

    Args:
        core: the core.
        at_ns: monotonic time [ns].
        refused: messages that the node refused so far.
    """
    counts = {"steps": core.steps, "duplicates": core.duplicates, "refused": refused}
    return {"at_ns": at_ns, **counts, "state": to_json(core.state)}


def rebuild(config: Mapping[str, Any], defaults: Mapping[str, Any]) -> tuple[Arm, ...]:
    """Return the arms that ``describe`` described, out of its own values and not this machine's files; the model apart.

    Args:
        config: what was recorded.
        defaults: every parameter of the node with its default, for those that came after the recording.

    Raises:
        ConfigError: another format, a parameter or field that is not known here, or another robot model.
    """
    if config.get("format") != FORMAT:
        raise ConfigError("recording", "format", config.get("format"), str(FORMAT), OTHER_VERSION)
    parameters = config.get("parameters")
    if not isinstance(parameters, Mapping):
        raise ConfigError("recording", "parameters", parameters, "names with values", OTHER_VERSION)
    for name, value in parameters.items():
        if name not in defaults:
            raise ConfigError("recorded parameter", name, value, "one of " + ", ".join(sorted(defaults)), OTHER_VERSION)
    limits = from_plain(RobotLimits, config.get("limits"), "limits", OTHER_VERSION)
    cell = from_plain(Cell, config.get("cell"), "cell", OTHER_VERSION)
    here = model_hash(limits)
    if config.get("model_hash") != here:
        raise ConfigError(
            "recorded model",
            limits.urdf,
            config.get("model_hash"),
            f"{here}, the model here",
            "install the model that was recorded",
        )
    try:
        # a recording of before the folds was made without any
        borders = folds.from_json(config.get("folds", []))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise ConfigError("recording", "folds", str(error), "the folds of this version", OTHER_VERSION) from error
    return from_parameters({**defaults, **parameters}, limits, cell, borders)
