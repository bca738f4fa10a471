"""Groups of actions with a scope of their own, and includes of other descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from launch.action import Action
from launch.actions.basic import DeclareLaunchArgument, OpaqueFunction, SetLaunchConfiguration
from launch.launch_context import LaunchContext
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.launch_description_sources import AnyLaunchDescriptionSource, LaunchDescriptionSource
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions, text_of


class GroupAction(Action):
    """Actions together, by default with configurations and environment that end with the group."""

    def __init__(
        self,
        actions: Iterable[LaunchDescriptionEntity],
        *,
        scoped: bool = True,
        forwarding: bool = True,
        launch_configurations: Mapping[str, SomeSubstitutionsType] | None = None,
        **kwargs: Any,
    ) -> None:
        """Keep the group.

        Args:
            actions: the actions.
            scoped: changes of configurations and environment end with the group.
            forwarding: the configurations of outside are seen inside (needs ``scoped`` to be turned off).
            launch_configurations: configurations set at the start of the group.
            **kwargs: see :class:`launch.Action`.
        """
        super().__init__(**kwargs)
        self._actions = list(actions)
        self._scoped, self._forwarding = scoped, forwarding
        self._configurations = dict(launch_configurations or {})

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the actions."""
        return self._actions

    def _enter(self, context: LaunchContext) -> None:
        inside = {name: text_of(context, value) for name, value in self._configurations.items()}
        if self._scoped:
            context.push_scope()
            if not self._forwarding:
                context.launch_configurations.clear()
        context.launch_configurations.update(inside)

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Return the actions between the begin and the end of the scope."""
        entities: list[LaunchDescriptionEntity] = [OpaqueFunction(function=self._enter), *self._actions]
        if self._scoped:
            entities.append(OpaqueFunction(function=LaunchContext.pop_scope))
        return entities


class IncludeLaunchDescription(Action):
    """Visits another launch description; the arguments stay set after it unless a group scopes them."""

    def __init__(
        self,
        launch_description_source: LaunchDescriptionSource | SomeSubstitutionsType,
        *,
        launch_arguments: Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]] | None = None,
        **kwargs: Any,
    ) -> None:
        """Keep the source (or the path of a launch file) and pairs of argument name and value."""
        super().__init__(**kwargs)
        if not isinstance(launch_description_source, LaunchDescriptionSource):
            launch_description_source = AnyLaunchDescriptionSource(launch_description_source)
        self._source = launch_description_source
        self._arguments = [
            (normalize_to_list_of_substitutions(name), normalize_to_list_of_substitutions(value))
            for name, value in launch_arguments or ()
        ]

    @property
    def launch_description_source(self) -> LaunchDescriptionSource:
        """The source."""
        return self._source

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the description if it is known before the launch runs, without the arguments that this include gives."""
        description = self._source.try_get_launch_description_without_context()
        if description is None:
            return []
        given = {"".join(getattr(part, "text", "\0") for part in name) for name, _ in self._arguments}
        return [
            entity for entity in description.entities if not (isinstance(entity, DeclareLaunchArgument) and entity.name in given)
        ]

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Return the arguments and the description.

        Raises:
            RuntimeError: a required argument of the description is not given.
        """
        description = self._source.get_launch_description(context)
        given = {perform_substitutions(context, name): value for name, value in self._arguments}
        for argument in description.entities:
            if (
                isinstance(argument, DeclareLaunchArgument)
                and argument.condition is None
                and argument.default_value is None
                and argument.name not in given
                and argument.name not in context.launch_configurations
            ):
                raise RuntimeError(
                    f"launch file '{self._source.location}': required argument '{argument.name}' is not given; "
                    f"description: {argument.description}"
                )
        outside = context.get_locals_as_dict().get("current_launch_file_path")
        setters = [SetLaunchConfiguration(name, value) for name, value in given.items()]
        return [self._at(self._source.location), *setters, description, self._at(outside)]

    @staticmethod
    def _at(path: str | None) -> OpaqueFunction:
        return OpaqueFunction(function=lambda context: context.extend_locals({"current_launch_file_path": path}))
