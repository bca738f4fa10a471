"""Arguments, configurations, environment, events and functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from launch.action import Action
from launch.event import Event
from launch.event_handler import EventHandler
from launch.events import Shutdown as ShutdownEvent
from launch.launch_context import LaunchContext
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.logging import get_logger
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.substitution import Substitution
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions, text_of, to_entities


class DeclareLaunchArgument(Action):
    """An argument that the user of the launch file may give."""

    def __init__(
        self,
        name: str,
        *,
        default_value: SomeSubstitutionsType | None = None,
        description: str | None = None,
        choices: Iterable[str] | None = None,
        **kwargs: Any,
    ) -> None:
        """Declare it.

        Args:
            name: name of the argument and of the configuration that it sets.
            default_value: value when none is given; without one the argument is required.
            description: text for the user.
            choices: allowed values.
            **kwargs: see :class:`launch.Action`.
        """
        super().__init__(**kwargs)
        self._name = name
        self._default = None if default_value is None else normalize_to_list_of_substitutions(default_value)
        self._choices = None if choices is None else list(choices)
        if self._choices is not None and not self._choices:
            raise ValueError(f"launch argument '{name}': got no choices, allowed at least one")
        self._description = description
        if description is None:
            self._description = "no description given" if self._choices is None else f"One of the choices: {self._choices}"

    @property
    def name(self) -> str:
        """Name."""
        return self._name

    @property
    def default_value(self) -> list[Substitution] | None:
        """Parts of the default, None for a required argument."""
        return self._default

    @property
    def description(self) -> str:
        """Text for the user."""
        return self._description or ""

    @property
    def choices(self) -> list[str] | None:
        """Allowed values, None for any."""
        return self._choices

    def execute(self, context: LaunchContext) -> None:
        """Set the default if no value was given, and check the value.

        Raises:
            RuntimeError: a required argument is missing, or a value is not among the choices.
        """
        if self._name not in context.launch_configurations:
            if self._default is None:
                raise RuntimeError(f"launch argument '{self._name}': required, not given; it means: {self.description}")
            context.launch_configurations[self._name] = perform_substitutions(context, self._default)
        value = context.launch_configurations[self._name]
        if self._choices is not None and value not in self._choices:
            allowed = ", ".join(self._choices)
            raise RuntimeError(f"launch argument '{self._name}': got '{value}', allowed {allowed}; it means: {self.description}")


class SetLaunchConfiguration(Action):
    """Sets a configuration."""

    def __init__(self, name: SomeSubstitutionsType, value: SomeSubstitutionsType, **kwargs: Any) -> None:
        """Keep name and value."""
        super().__init__(**kwargs)
        self._name, self._value = normalize_to_list_of_substitutions(name), normalize_to_list_of_substitutions(value)

    def execute(self, context: LaunchContext) -> None:
        """Set it."""
        name = perform_substitutions(context, self._name)
        context.launch_configurations[name] = perform_substitutions(context, self._value)


class SetEnvironmentVariable(Action):
    """Sets an environment variable for the processes that start later."""

    def __init__(self, name: SomeSubstitutionsType, value: SomeSubstitutionsType, **kwargs: Any) -> None:
        """Keep name and value."""
        super().__init__(**kwargs)
        self._name, self._value = normalize_to_list_of_substitutions(name), normalize_to_list_of_substitutions(value)

    def execute(self, context: LaunchContext) -> None:
        """Set it."""
        context.environment[perform_substitutions(context, self._name)] = perform_substitutions(context, self._value)


class UnsetEnvironmentVariable(Action):
    """Removes an environment variable for the processes that start later."""

    def __init__(self, name: SomeSubstitutionsType, **kwargs: Any) -> None:
        """Keep the name."""
        super().__init__(**kwargs)
        self._name = normalize_to_list_of_substitutions(name)

    def execute(self, context: LaunchContext) -> None:
        """Remove it, if it is set."""
        context.environment.pop(perform_substitutions(context, self._name), None)


class OpaqueFunction(Action):
    """Calls a function ``(context, *args, **kwargs)`` that may return actions."""

    def __init__(
        self,
        *,
        function: Callable[..., Any],
        args: Iterable[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        **action_kwargs: Any,
    ) -> None:
        """Keep function and arguments."""
        super().__init__(**action_kwargs)
        self._function, self._args, self._kwargs = function, tuple(args or ()), dict(kwargs or {})

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Call it and return its actions."""
        return to_entities(self._function(context, *self._args, **self._kwargs))


class LogInfo(Action):
    """Logs a text."""

    def __init__(self, *, msg: SomeSubstitutionsType, **kwargs: Any) -> None:
        """Keep the text."""
        super().__init__(**kwargs)
        self._message = normalize_to_list_of_substitutions(msg)

    def execute(self, context: LaunchContext) -> None:
        """Log it."""
        get_logger("launch.user").info("%s", perform_substitutions(context, self._message))


class EmitEvent(Action):
    """Emits an event."""

    def __init__(self, *, event: Event, **kwargs: Any) -> None:
        """Keep the event."""
        super().__init__(**kwargs)
        self._event = event

    @property
    def event(self) -> Event:
        """The event."""
        return self._event

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
        process = getattr(context.get_locals_as_dict().get("event"), "process_name", None)
        get_logger("launch").info("shutting down: %s%s", reason, f" (process[{process}] ended)" if process else "")
        context.emit_event_sync(ShutdownEvent(reason=reason))


class RegisterEventHandler(Action):
    """Registers an event handler."""

    def __init__(self, event_handler: EventHandler, **kwargs: Any) -> None:
        """Keep the handler."""
        super().__init__(**kwargs)
        self._handler = event_handler

    @property
    def event_handler(self) -> EventHandler:
        """The handler."""
        return self._handler

    def execute(self, context: LaunchContext) -> None:
        """Register it."""
        context.register_event_handler(self._handler)

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the actions of the handler."""
        return self._handler.entities
