"""What may be given where actions are wanted."""

from __future__ import annotations

from collections.abc import Iterable

from launch.launch_description_entity import LaunchDescriptionEntity

SomeEntitiesType = LaunchDescriptionEntity | Iterable[LaunchDescriptionEntity]
