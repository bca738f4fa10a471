"""Base of the values that are known only when the launch runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from launch.launch_context import LaunchContext


class Substitution:
    """A text that is worked out while the launch runs."""

    def describe(self) -> str:
        """Return a short text of what this stands for, without working it out."""
        return type(self).__name__

    def perform(self, context: LaunchContext) -> str:
        """Return the text in this context."""
        raise NotImplementedError(f"{type(self).__name__}.perform() is missing")


class TextSubstitution(Substitution):
    """A fixed text."""

    def __init__(self, *, text: str) -> None:
        """Keep ``text``.

        Raises:
            TypeError: it is not a string.
        """
        if not isinstance(text, str):
            raise TypeError(f"TextSubstitution: got {text!r}, allowed a string")
        self._text = text

    @property
    def text(self) -> str:
        """The text."""
        return self._text

    def describe(self) -> str:
        """Return the quoted text."""
        return f"'{self._text}'"

    def perform(self, context: LaunchContext) -> str:
        """Return the text."""
        return self._text


class SubstitutionFailure(RuntimeError):  # noqa: N818 (name of the real package)
    """A substitution has no value in this context."""
