"""Subset of launch for machines without a ROS install."""

from launch import actions, conditions, event_handlers, events, launch_description_sources, logging, substitutions
from launch.action import Action
from launch.event import Event
from launch.event_handler import EventHandler
from launch.launch_context import LaunchContext
from launch.launch_description import LaunchDescription
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.launch_description_sources import LaunchDescriptionSource
from launch.launch_service import LaunchService
from launch.some_entities_type import SomeEntitiesType
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.subset import absent
from launch.substitution import Substitution

__all__ = [
    "Action",
    "Event",
    "EventHandler",
    "LaunchContext",
    "LaunchDescription",
    "LaunchDescriptionEntity",
    "LaunchDescriptionSource",
    "LaunchService",
    "SomeEntitiesType",
    "SomeSubstitutionsType",
    "Substitution",
    "actions",
    "conditions",
    "event_handlers",
    "events",
    "launch_description_sources",
    "logging",
    "substitutions",
]

__getattr__ = absent("launch", __name__)
