"""Texts from lists of substitutions, booleans from texts, actions from what handlers return."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from launch.some_substitutions_type import SomeSubstitutionsType
from launch.substitution import Substitution, TextSubstitution

if TYPE_CHECKING:
    from launch.launch_context import LaunchContext
    from launch.launch_description_entity import LaunchDescriptionEntity


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


def parse_bool(text: str) -> bool:
    """Return the truth of true, false, 1, 0 in any case.

    Raises:
        ValueError: it is another text.
    """
    word = text.strip().lower()
    if word in ("true", "1"):
        return True
    if word in ("false", "0"):
        return False
    raise ValueError(f"boolean: got '{text}', allowed true, false, 1, 0")


def to_entities(value: Any) -> list[LaunchDescriptionEntity]:
    """Return a list of entities from None, an entity, or an iterable of entities.

    Raises:
        TypeError: something else.
    """
    from launch.launch_description_entity import LaunchDescriptionEntity

    if value is None:
        return []
    if isinstance(value, LaunchDescriptionEntity):
        return [value]
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise TypeError(f"actions: got {value!r}, allowed an action, a list of actions or None")
    found = [item for item in value if item is not None]
    for item in found:
        if not isinstance(item, LaunchDescriptionEntity):
            raise TypeError(f"actions: got {item!r} in a list, allowed actions only")
    return found
