"""Actions: arguments, configurations, environment, functions, events, timers, groups and includes; processes are beside."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from launch import events
from launch.entities import Action, Event, EventHandler, LaunchDescription, LaunchDescriptionEntity, to_entities
from launch.execute_process import ExecuteProcess as ExecuteProcess
from launch.launch_context import LaunchContext
from launch.launch_description_sources import AnyLaunchDescriptionSource, LaunchDescriptionSource
from launch.logging import get_logger
from launch.subset import absent
from launch.utilities import SomeSubstitutionsType, normalize_to_list_of_substitutions, text_of


class DeclareLaunchArgument(Action):
    """An argument that the user of the launch file may give.

    Attributes:
        name: name of the argument and of the configuration that it sets.
        default_value: parts of the value when none is given; None: the argument is required.
        description: text for the user.
        choices: allowed values, None for any.
    """

    def __init__(
        self,
        name: str,
        *,
        default_value: SomeSubstitutionsType | None = None,
        description: str | None = None,
        choices: Iterable[str] | None = None,
        **kwargs: Any,
    ) -> None:
        """Declare it."""
        super().__init__(**kwargs)
        self.name, self.description = name, description or "no description given"
        self.default_value = None if default_value is None else normalize_to_list_of_substitutions(default_value)
        self.choices = None if choices is None else list(choices)

    def execute(self, context: LaunchContext) -> None:
        """Set the default if no value was given, and check the value.

        Raises:
            RuntimeError: a required argument is missing, or a value is not among the choices.
        """
        if self.name not in context.launch_configurations:
            if self.default_value is None:
                raise RuntimeError(f"launch argument '{self.name}': required, not given; it means: {self.description}")
            context.launch_configurations[self.name] = text_of(context, self.default_value)
        value = context.launch_configurations[self.name]
        if self.choices is not None and value not in self.choices:
            what = f"launch argument '{self.name}': got '{value}', allowed {', '.join(self.choices)}"
            raise RuntimeError(f"{what}; it means: {self.description}")


class SetLaunchConfiguration(Action):
    """Sets a configuration."""

    def __init__(self, name: SomeSubstitutionsType, value: SomeSubstitutionsType, **kwargs: Any) -> None:
        """Keep name and value."""
        super().__init__(**kwargs)
        self._name, self._value = name, value

    def execute(self, context: LaunchContext) -> None:
        """Set it."""
        context.launch_configurations[text_of(context, self._name)] = text_of(context, self._value)


class SetEnvironmentVariable(SetLaunchConfiguration):
    """Sets an environment variable for the processes that start later."""

    def execute(self, context: LaunchContext) -> None:
        """Set it."""
        context.environment[text_of(context, self._name)] = text_of(context, self._value)


class OpaqueFunction(Action):
    """Calls a function ``(context, *args, **kwargs)`` that may return actions."""

    def __init__(
        self, *, function: Callable[..., Any], args: Iterable[Any] = (), kwargs: Mapping[str, Any] | None = None, **options: Any
    ) -> None:
        """Keep function and arguments; for ``options`` see :class:`launch.Action`."""
        super().__init__(**options)
        self._function, self._args, self._kwargs = function, tuple(args or ()), kwargs or {}

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Call it and return its actions."""
        return to_entities(self._function(context, *self._args, **self._kwargs))


class LogInfo(Action):
    """Logs a text."""

    def __init__(self, *, msg: SomeSubstitutionsType, **kwargs: Any) -> None:
        """Keep the text."""
        super().__init__(**kwargs)
        self._message = msg

    def execute(self, context: LaunchContext) -> None:
        """Log it."""
        get_logger("user").info("%s", text_of(context, self._message))


class EmitEvent(Action):
    """Emits an event."""

    def __init__(self, *, event: Event, **kwargs: Any) -> None:
        """Keep the event."""
        super().__init__(**kwargs)
        self._event = event

    def execute(self, context: LaunchContext) -> None:
        """Queue it."""
        context.emit_event_sync(self._event)


class Shutdown(Action):
    """Ends the launch; as ``on_exit`` it gives the name of the process that ended as part of the reason."""

    def __init__(self, *, reason: SomeSubstitutionsType = "reason not given", **kwargs: Any) -> None:
        """Keep the reason."""
        super().__init__(**kwargs)
        self._reason = reason

    def execute(self, context: LaunchContext) -> None:
        """Emit the event, once; the launch may be ending already."""
        if context.is_shutdown:
            return
        reason = text_of(context, self._reason)
        process = getattr(context.locals.event, "process_name", None)
        get_logger().info("shutting down: %s%s", reason, f" (process[{process}] ended)" if process else "")
        context.emit_event_sync(events.Shutdown(reason=reason))


class RegisterEventHandler(Action):
    """Registers an event handler."""

    def __init__(self, event_handler: EventHandler, **kwargs: Any) -> None:
        """Keep the handler."""
        super().__init__(**kwargs)
        self._handler, self.inner = event_handler, event_handler.inner

    def execute(self, context: LaunchContext) -> None:
        """Register it."""
        context.register_event_handler(self._handler)


class TimerAction(Action):
    """Runs actions after a time, unless the launch ends before."""

    def __init__(
        self, *, period: float | SomeSubstitutionsType, actions: Iterable[LaunchDescriptionEntity], **kwargs: Any
    ) -> None:
        """Keep the actions and ``period`` [s]."""
        super().__init__(**kwargs)
        self._period: SomeSubstitutionsType = str(period) if isinstance(period, int | float) else period
        self.inner = list(actions)

    def execute(self, context: LaunchContext) -> None:
        """Start the timer."""
        self.future = asyncio.get_running_loop().create_task(self._wait(context, float(text_of(context, self._period))))

    async def _wait(self, context: LaunchContext, seconds: float) -> None:
        await asyncio.wait([context.ending], timeout=seconds)
        if not context.is_shutdown:
            context.emit_event_sync(events.IncludeLaunchDescription(LaunchDescription(self.inner)))


class GroupAction(Action):
    """Actions together, by default with configurations and environment that end with the group."""

    def __init__(
        self,
        actions: Iterable[LaunchDescriptionEntity],
        *,
        scoped: bool = True,
        launch_configurations: Mapping[str, SomeSubstitutionsType] | None = None,
        **kwargs: Any,
    ) -> None:
        """Keep the group.

        Args:
            actions: the actions.
            scoped: changes of configurations and environment end with the group.
            launch_configurations: configurations set at the start of the group.
            **kwargs: see :class:`launch.Action`.
        """
        super().__init__(**kwargs)
        self.inner = list(actions)
        self._scoped, self._configurations = scoped, launch_configurations or {}

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Begin the scope and return the actions and its end."""
        inside = {name: text_of(context, value) for name, value in self._configurations.items()}
        if self._scoped:
            context.push_scope()
        context.launch_configurations.update(inside)
        return [*self.inner, OpaqueFunction(function=LaunchContext.pop_scope)] if self._scoped else self.inner


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
        self._arguments = [(normalize_to_list_of_substitutions(name), value) for name, value in launch_arguments or ()]

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the description if it is known before the launch runs, without the arguments that this include gives."""
        description = self._source.try_get_launch_description_without_context()
        given = {"".join(getattr(part, "text", "\0") for part in name) for name, _ in self._arguments}
        entities = [] if description is None else description.entities
        return [entity for entity in entities if not (isinstance(entity, DeclareLaunchArgument) and entity.name in given)]

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Return the arguments and the description, which itself refuses to go on without an argument that it requires."""
        description = self._source.get_launch_description(context)
        return [*(SetLaunchConfiguration(name, value) for name, value in self._arguments), description]


__getattr__ = absent(__name__)
