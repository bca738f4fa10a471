"""Texts that are known only when the launch runs, and how they become texts and booleans."""

from __future__ import annotations

from collections.abc import Iterable
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


SomeSubstitutionsType = str | Substitution | Iterable[str | Substitution]


class TextSubstitution(Substitution):
    """A fixed text."""

    def __init__(self, *, text: str) -> None:
        """Keep ``text``."""
        self.text = text

    def describe(self) -> str:
        """Return the quoted text."""
        return f"'{self.text}'"

    def perform(self, context: LaunchContext) -> str:
        """Return the text."""
        return self.text


def normalize_to_list_of_substitutions(subs: SomeSubstitutionsType) -> list[Substitution]:
    """Return a list of substitutions from a string, a substitution, or an iterable of both.

    Raises:
        TypeError: it is none of these.
    """
    if isinstance(subs, str):
        return [TextSubstitution(text=subs)]
    if isinstance(subs, Substitution):
        return [subs]
    if isinstance(subs, Iterable):
        return [part for item in subs for part in normalize_to_list_of_substitutions(item)]
    raise TypeError(f"text: got {subs!r} of type {type(subs).__name__}, allowed a string, a Substitution or a list of them")


def perform_substitutions(context: LaunchContext, subs: Iterable[Substitution]) -> str:
    """Return the joined text of ``subs`` in this context."""
    return "".join(sub.perform(context) for sub in subs)


def text_of(context: LaunchContext, value: SomeSubstitutionsType) -> str:
    """Return the text of anything that may be given where a text is wanted."""
    return perform_substitutions(context, normalize_to_list_of_substitutions(value))


def describe(value: SomeSubstitutionsType) -> str:
    """Return a short text of what anything that may be given as a text stands for, without working it out."""
    return " + ".join(sub.describe() for sub in normalize_to_list_of_substitutions(value))


def parse_bool(text: str) -> bool:
    """Return the truth of true, false, 1, 0 in any case.

    Raises:
        ValueError: it is another text.
    """
    word = text.strip().lower()
    if word not in ("true", "1", "false", "0"):
        raise ValueError(f"boolean: got '{text}', allowed true, false, 1, 0")
    return word in ("true", "1")
