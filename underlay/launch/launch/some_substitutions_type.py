"""What may be given where a text is wanted."""

from __future__ import annotations

from collections.abc import Iterable

from launch.substitution import Substitution

SomeSubstitutionsType = str | Substitution | Iterable[str | Substitution]
SomeSubstitutionsType_types_tuple = (str, Substitution, Iterable)
