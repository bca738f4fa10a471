"""Errors that name the thing, the value, what is allowed and what to do."""

from __future__ import annotations


class TeleopError(Exception):
    """Base class of every error of this project."""


class ConfigError(TeleopError, ValueError):
    """Configuration that must not be started with.

    Attributes:
        what: kind of thing, e.g. ``limit`` or ``parameter``.
        name: its name, e.g. ``shoulder_pan.upper``.
        value: the value found.
        allowed: what would be allowed, in words.
        remedy: what to do.
        source: file in which it stands, or empty.
    """

    def __init__(self, what: str, name: str, value: object, allowed: str, remedy: str = "", source: str = "") -> None:
        """Compose the one-line message of the house form."""
        self.what, self.name, self.value, self.allowed = what, name, value, allowed
        self.remedy, self.source = remedy, source
        text = f"{what} '{name}': got {value!r}, allowed {allowed}"
        if source:
            text = f"{source}: {text}"
        if remedy:
            text = f"{text}; {remedy}"
        super().__init__(text)
