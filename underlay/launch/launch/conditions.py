"""Conditions on texts."""

from launch.launch_context import LaunchContext
from launch.subset import absent
from launch.utilities import SomeSubstitutionsType, describe, parse_bool, text_of


class IfCondition:
    """Holds when the text is true or 1."""

    def __init__(self, predicate_expression: SomeSubstitutionsType) -> None:
        """Keep the expression."""
        self._expression = predicate_expression

    def evaluate(self, context: LaunchContext) -> bool:
        """Tell whether it holds.

        Raises:
            ValueError: the text is neither true nor false.
        """
        try:
            return parse_bool(text_of(context, self._expression))
        except ValueError as error:
            raise ValueError(f"condition {describe(self._expression)}: {error}") from None


class UnlessCondition(IfCondition):
    """Holds when the text is false or 0."""

    def evaluate(self, context: LaunchContext) -> bool:
        """Tell whether the text is false."""
        return not super().evaluate(context)


__getattr__ = absent(__name__)
