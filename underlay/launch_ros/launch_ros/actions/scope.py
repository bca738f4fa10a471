"""Namespace and parameters of all later nodes of a scope."""

from typing import Any

from launch import Action, LaunchContext, SomeSubstitutionsType, Substitution
from launch.utilities import text_of
from launch_ros.parameter_descriptions import evaluate_parameters

# Kept among the configurations, so that a GroupAction scopes them.
NAMESPACE, PARAMETERS = "ros_namespace", "global_params"


def join_namespaces(base: str, inner: str) -> str:
    """Return the absolute namespace of ``inner`` seen from ``base``; an absolute ``inner`` stands alone."""
    joined = inner if inner.startswith("/") else f"{base}/{inner}"
    return "/" + "/".join(part for part in joined.split("/") if part)


class PushROSNamespace(Action):
    """Puts later nodes of the scope into a namespace, inside the one that is set already."""

    def __init__(self, namespace: SomeSubstitutionsType, **kwargs: Any) -> None:
        """Keep the namespace."""
        super().__init__(**kwargs)
        self._namespace = namespace

    def execute(self, context: LaunchContext) -> None:
        """Set it."""
        inner = text_of(context, self._namespace)
        if inner:
            context.launch_configurations[NAMESPACE] = join_namespaces(context.launch_configurations.get(NAMESPACE, ""), inner)


PushRosNamespace = PushROSNamespace


class SetParameter(Action):
    """Gives a parameter to all later nodes of the scope; the parameters of a node itself win."""

    def __init__(self, name: SomeSubstitutionsType, value: Any, **kwargs: Any) -> None:
        """Keep name and value."""
        super().__init__(**kwargs)
        self._parameters = {name if isinstance(name, str | Substitution) else tuple(name): value}

    def execute(self, context: LaunchContext) -> None:
        """Set it."""
        before = context.launch_configurations.get(PARAMETERS, {})
        context.launch_configurations[PARAMETERS] = before | evaluate_parameters(context, self._parameters)
