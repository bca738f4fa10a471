"""Subset of launch for machines without a ROS install."""

from launch import actions, conditions, event_handlers, events, launch_description_sources, logging, substitutions
from launch.entities import Action, Event, EventHandler, LaunchDescription, LaunchDescriptionEntity, SomeEntitiesType
from launch.launch_context import LaunchContext
from launch.launch_description_sources import LaunchDescriptionSource
from launch.launch_service import LaunchService
from launch.subset import absent
from launch.utilities import SomeSubstitutionsType, Substitution

__all__ = [
    "Action", "Event", "EventHandler", "LaunchContext", "LaunchDescription", "LaunchDescriptionEntity", "LaunchDescriptionSource",
    "LaunchService", "SomeEntitiesType", "SomeSubstitutionsType", "Substitution",
    "actions", "conditions", "event_handlers", "events", "launch_description_sources", "logging", "substitutions",
]  # fmt: skip

__getattr__ = absent(__name__)
