"""What is asked of the machine: modules, libraries, programs, files. Nothing is imported, so nothing can crash or be slow."""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Machine:
    """This machine; tests give another.

    Attributes:
        environment: environment variables.
        architecture: of the processor, as the kernel calls it.
    """

    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    architecture: str = field(default_factory=lambda: os.uname().machine)

    def has_module(self, name: str) -> bool:
        """Return whether a top-level module could be imported."""
        return importlib.util.find_spec(name) is not None

    def has_library(self, name: str) -> bool:
        """Return whether the loader knows a shared library, e.g. ``EGL``."""
        return ctypes.util.find_library(name) is not None

    def has_program(self, name: str) -> bool:
        """Return whether a program is on the path."""
        return shutil.which(name) is not None

    def exists(self, path: str) -> bool:
        """Return whether there is such a file, folder or socket."""
        return Path(path).exists()

    def text(self, path: str) -> str | None:
        """Return a file's text, None when it cannot be read."""
        try:
            return Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def files(self, folder: str, pattern: str) -> list[str]:
        """Return the paths in a folder that match."""
        return sorted(str(path) for path in Path(folder).glob(pattern))
