"""Node parameters as a frozen dataclass: declared once, described, checked, and refused with one line when wrong."""

from __future__ import annotations

import dataclasses
import math
import sys
from pathlib import Path
from typing import Any, TypeVar

import yaml
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node

from teleop_common.errors import ConfigError

Config = TypeVar("Config")
_ROS_OWN = {"use_sim_time", "start_type_description_service"}


def param(
    default: Any,
    description: str,
    *,
    unit: str = "",
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[Any, ...] | None = None,
) -> Any:
    """Describe one parameter of a config dataclass.

    Args:
        default: its default; lists are given as tuples.
        description: what it does, for people.
        unit: its unit, e.g. ``s``; empty when it has none.
        minimum: smallest allowed value (of a number, or of each element).
        maximum: largest allowed value.
        choices: allowed values (of the parameter, or of each element).
    """
    meta = {"description": description, "unit": unit, "minimum": minimum, "maximum": maximum, "choices": choices}
    return dataclasses.field(default=default, metadata=meta)


def allowed_text(meta: Any) -> str:
    """Return the allowed values of a parameter in words, from its metadata."""
    if meta["choices"] is not None:
        return "one of " + ", ".join(map(str, meta["choices"]))
    low, high = meta["minimum"], meta["maximum"]
    unit = f" {meta['unit']}" if meta["unit"] else ""
    if low is None and high is None:
        return "any value" + unit
    return f"{'-inf' if low is None else low} to {'inf' if high is None else high}{unit}"


def check(config_class: type, name: str, value: Any, source: str = "") -> None:
    """Raise ConfigError when ``value`` is not allowed for the field ``name`` of ``config_class``."""
    meta = next(f.metadata for f in dataclasses.fields(config_class) if f.name == name)
    for item in value if isinstance(value, tuple | list) else (value,):
        good = meta["choices"] is None or item in meta["choices"]
        if isinstance(item, int | float) and not isinstance(item, bool):
            good = good and math.isfinite(item)
            good = good and (meta["minimum"] is None or item >= meta["minimum"])
            good = good and (meta["maximum"] is None or item <= meta["maximum"])
        if not good:
            raise ConfigError("parameter", name, item, allowed_text(meta), meta["description"], source)


def _range(meta: Any, default: Any) -> dict[str, Any]:
    low, high = meta["minimum"], meta["maximum"]
    if low is None or high is None or isinstance(default, bool | str | tuple):
        return {}
    if isinstance(default, int):
        return {"integer_range": [IntegerRange(from_value=int(low), to_value=int(high), step=0)]}
    return {"floating_point_range": [FloatingPointRange(from_value=float(low), to_value=float(high), step=0.0)]}


def _params_files() -> list[Path]:
    return [Path(b) for a, b in zip(sys.argv, sys.argv[1:], strict=False) if a == "--params-file"]


def _source_of(name: str) -> str:
    """Return the parameter file that sets ``name``, for error messages."""
    for path in reversed(_params_files()):
        try:
            tree = yaml.safe_load(path.read_text())
        except (OSError, yaml.YAMLError):
            continue
        if any(name in (node or {}).get("ros__parameters", {}) for node in (tree or {}).values() if isinstance(node, dict)):
            return str(path)
    return ""


def load(node: Node, config_class: type[Config]) -> Config:
    """Declare every field of ``config_class`` on ``node`` and return it filled from the overrides.

    All parameters are read-only: retuning is a restart, which respawns in hold within a second.

    Raises:
        ConfigError: an unknown key, a wrong type, or a value outside its range.
    """
    fields = dataclasses.fields(config_class)  # type: ignore[arg-type]
    known = {f.name for f in fields}
    for name, override in node._parameter_overrides.items():  # noqa: SLF001 - rclpy has no public view of undeclared overrides
        if name not in known and name not in _ROS_OWN and not name.startswith("qos_overrides."):
            raise ConfigError(
                "parameter", name, override.value, "one of " + ", ".join(sorted(known)), "mend the key", _source_of(name)
            )
    values: dict[str, Any] = {}
    for field in fields:
        meta = field.metadata
        unit = f" [{meta['unit']}]" if meta["unit"] else ""
        descriptor = ParameterDescriptor(
            description=meta["description"] + unit,
            additional_constraints=allowed_text(meta),
            read_only=True,
            # rclpy types an empty list as bytes and would then refuse every other
            dynamic_typing=field.default == (),
            **_range(meta, field.default),
        )
        override = node._parameter_overrides.get(field.name)  # noqa: SLF001
        if (
            isinstance(field.default, float)
            and override is not None
            and isinstance(override.value, int)
            and not isinstance(override.value, bool)
        ):
            override._value, override._type_ = float(override.value), override.Type.DOUBLE  # noqa: SLF001 - "1" is a fine number of seconds
        default = list(field.default) if isinstance(field.default, tuple) else field.default
        try:
            value = node.declare_parameter(field.name, default, descriptor).value
        except (InvalidParameterTypeException, InvalidParameterValueException) as error:
            got = override.value if override is not None else default
            kind = type(default).__name__
            raise ConfigError(
                "parameter", field.name, got, f"{kind}, {allowed_text(meta)}", meta["description"], _source_of(field.name)
            ) from error
        value = tuple(value) if isinstance(value, list) or hasattr(value, "tolist") else value
        check(config_class, field.name, value, _source_of(field.name))
        values[field.name] = value
    return config_class(**values)
