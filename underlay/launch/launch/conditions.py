"""Conditions on texts."""

from __future__ import annotations

from launch.condition import Condition
from launch.launch_context import LaunchContext
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.subset import absent
from launch.utilities import normalize_to_list_of_substitutions, parse_bool, perform_substitutions

__all__ = ["Condition", "IfCondition", "InvalidConditionExpressionError", "UnlessCondition"]


class InvalidConditionExpressionError(RuntimeError):
    """The text of a condition is neither true nor false."""


class IfCondition(Condition):
    """Holds when the text is true or 1."""

    def __init__(self, predicate_expression: SomeSubstitutionsType) -> None:
        """Keep the expression."""
        self._expression = normalize_to_list_of_substitutions(predicate_expression)
        super().__init__(predicate=self._is_true)

    def _is_true(self, context: LaunchContext) -> bool:
        try:
            return parse_bool(perform_substitutions(context, self._expression))
        except ValueError as error:
            shown = " + ".join(part.describe() for part in self._expression)
            raise InvalidConditionExpressionError(f"condition {shown}: {error}") from None


class UnlessCondition(IfCondition):
    """Holds when the text is false or 0."""

    def evaluate(self, context: LaunchContext) -> bool:
        """Tell whether the text is false."""
        return not super().evaluate(context)


__getattr__ = absent("launch", __name__)
