"""``plugin.yaml``: how a plugin is started and which devices it owns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from teleop_common import yamlfile
from teleop_common.enums import ProviderType
from teleop_common.errors import ConfigError
from teleop_diagnostics.declarations import PLUGIN, Declaration, DeviceDeclaration

FILE = "plugin.yaml"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_PATH = re.compile(r"(/[A-Za-z0-9_]+)+")


class Plugin(NamedTuple):
    """One plugin's manifest.

    Attributes:
        root: its name, the root of its devices' ids; a part of a topic.
        folder: where it is started.
        command: program and arguments.
        devices: what it owns; none means that it is started and not monitored.
        description: for people.
        version: its own.
    """

    root: str
    folder: Path
    command: tuple[str, ...]
    devices: tuple[DeviceDeclaration, ...] = ()
    description: str = ""
    version: str = ""

    @property
    def monitored(self) -> bool:
        """Whether it reports devices and is therefore in the inventory."""
        return bool(self.devices)

    def declaration(self) -> Declaration:
        """Return what it owns."""
        return Declaration(f"{PLUGIN}{self.root}", ProviderType.PLUGIN, self.description or self.root, self.devices)


def _words(table: yamlfile.Table, name: str) -> tuple[str, ...]:
    value = table.raw(name, [])
    if not isinstance(value, list) or not all(isinstance(item, str | int | float) for item in value):
        raise table.error(name, value, "a list of words")
    return tuple(map(str, value))


def _device(table: yamlfile.Table) -> DeviceDeclaration:
    path = table.text("path")
    if not _PATH.fullmatch(path):
        raise table.error("path", path, "parts of letters, digits and _, each after a slash, as in /left/pedal")
    device = DeviceDeclaration(path, table.text("type", ""), table.text("description", ""))
    table.done()
    return device


def load(folder: Path) -> Plugin:
    """Read the manifest in ``folder``.

    Raises:
        ConfigError: it is absent, or a key is wrong.
    """
    table = yamlfile.read(folder / FILE)
    root = table.text("name")
    if not _NAME.fullmatch(root):
        raise table.error("name", root, "letters, digits and _, a letter first: it becomes part of a topic")
    command = table.text("command").split()
    if not command:
        raise table.error("command", "", "a program, with its arguments parted by spaces")
    devices = tuple(_device(entry) for entry in table.tables("devices", []))
    paths = [device.path for device in devices]
    for path in paths:
        if paths.count(path) > 1:
            raise table.error("devices", path, "each path once")
    words = (*command, f"--plugin-root-id={root}", *_words(table, "args"))
    plugin = Plugin(root, folder, words, devices, table.text("description", ""), str(table.raw("version", "")))
    table.done()
    return plugin


def load_all(folders: Sequence[Path]) -> tuple[Plugin, ...]:
    """Read the manifests of plugins' folders, or of all folders below one that has none itself.

    Raises:
        ConfigError: a folder is none or holds no plugin, a manifest is wrong, or two plugins have one name.
    """
    plugins: dict[str, Plugin] = {}
    for folder in folders:
        found = [folder] if (folder / FILE).is_file() else sorted(path.parent for path in folder.glob(f"*/{FILE}"))
        if not found:
            raise ConfigError("plugin folder", str(folder), "no plugin.yaml", f"a folder with {FILE}, or with such folders")
        for each in found:
            plugin = load(each.resolve())
            if plugin.root in plugins:
                where = str(plugins[plugin.root].folder)
                raise ConfigError("plugin", plugin.root, str(each), "each name once", f"rename it; the other is in {where}")
            plugins[plugin.root] = plugin
    return tuple(plugins.values())
