"""Reading a YAML file strictly: unknown, missing and mistyped keys are named with their file and path."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import yaml

from teleop_common.errors import ConfigError


class _Nothing:
    """What stands where a key is missing; null is written ``None``, and is something else."""

    def __repr__(self) -> str:
        return "nothing"


NOTHING = _Nothing()


class _Loader(yaml.SafeLoader):
    """Refuses a key that stands twice in one mapping: YAML forbids it, and the first of the two would be lost without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the mapping.

        Raises:
            yaml.constructor.ConstructorError: a key stands twice; its line is named.
        """
        seen: set[tuple[str, str]] = set()
        for key, _value in node.value:
            name = (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else None
            if name in seen:
                text = f'key "{key.value}" stands twice in one mapping'
                raise yaml.constructor.ConstructorError(None, None, text, key.start_mark)
            if name is not None:
                seen.add(name)
        return super().construct_mapping(node, deep)


class Table:
    """A mapping of a YAML file that remembers where it came from and which keys were asked for."""

    def __init__(self, data: Any, source: str, path: str = "") -> None:
        """Wrap ``data``.

        Raises:
            ConfigError: it is not a mapping.
        """
        if not isinstance(data, dict):
            raise ConfigError("section", path or "top", data, "a mapping of keys", "mend the file", source)
        self.data, self.source, self.path = data, source, path
        self._asked: set[str] = set()

    def key(self, name: str) -> str:
        """Return the dotted path of ``name``."""
        return f"{self.path}.{name}" if self.path else name

    def error(self, name: str, value: Any, allowed: str, remedy: str = "mend the file") -> ConfigError:
        """Return the error for key ``name``."""
        return ConfigError("key", self.key(name), value, allowed, remedy, self.source)

    def raw(self, name: str, default: Any = ...) -> Any:
        """Return the value of ``name`` as it stands."""
        self._asked.add(name)
        if name not in self.data:
            if default is ...:
                raise self.error(name, NOTHING, "a value", "add the key")
            return default
        return self.data[name]

    def number(self, name: str, low: float, high: float, default: Any = ...) -> float:
        """Return a finite number within [low, high]."""
        value = self.raw(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or not low <= value <= high:
            raise self.error(name, value, f"a number from {low:g} to {high:g}")
        return float(value)

    def text(self, name: str, default: Any = ..., choices: tuple[str, ...] = ()) -> str:
        """Return a string, one of ``choices`` when given."""
        value = self.raw(name, default)
        if not isinstance(value, str) or (choices and value not in choices):
            raise self.error(name, value, "one of " + ", ".join(choices) if choices else "text")
        return value

    def flag(self, name: str, default: Any = ...) -> bool:
        """Return true or false."""
        value = self.raw(name, default)
        if not isinstance(value, bool):
            raise self.error(name, value, "true or false")
        return value

    def numbers(self, name: str, count: int, low: float, high: float, default: Any = ...) -> tuple[float, ...]:
        """Return ``count`` finite numbers within [low, high]."""
        value = self.raw(name, default)
        good = isinstance(value, list | tuple) and len(value) == count
        for item in value if good else ():
            good = good and isinstance(item, int | float) and not isinstance(item, bool) and low <= item <= high
        if not good:
            raise self.error(name, value, f"a list of {count} numbers from {low:g} to {high:g}")
        return tuple(float(item) for item in value)

    def table(self, name: str, default: Any = ...) -> Table:
        """Return a nested mapping."""
        return Table(self.raw(name, default), self.source, self.key(name))

    def items(self) -> list[tuple[str, Table]]:
        """Return every key with its nested mapping."""
        return [(str(name), self.table(name)) for name in self.data]

    def tables(self, name: str, default: Any = ...) -> list[Table]:
        """Return a list of mappings."""
        value = self.raw(name, default)
        if not isinstance(value, list | tuple):
            raise self.error(name, value, "a list")
        return [Table(item, self.source, f"{self.key(name)}[{i}]") for i, item in enumerate(value)]

    def done(self) -> None:
        """Raise ConfigError for a key that nobody asked for."""
        for name in self.data:
            if name not in self._asked:
                raise self.error(
                    str(name), self.data[name], "one of " + ", ".join(sorted(self._asked)), "unknown key, mend or remove it"
                )


def read(path: str | Path) -> Table:
    """Read a YAML mapping.

    Raises:
        ConfigError: the file is absent, unreadable or no mapping, or a key stands in it twice.
    """
    return Table(tree(path), str(Path(path)))


def tree(path: str | Path) -> Any:
    """Read whatever a YAML file holds.

    Raises:
        ConfigError: the file is absent or unreadable, or a key stands in it twice.
    """
    path = Path(path)
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506 - a safe loader
    except OSError as error:
        raise ConfigError("file", str(path), error.strerror, "a readable YAML file", "name an existing file") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError("file", str(path), " ".join(str(error).split()), "valid YAML", "mend the file") from error
