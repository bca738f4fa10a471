"""Base of the events of a launch."""

from __future__ import annotations


class Event:
    """Something that happened, or a wish that something happen."""

    name = "launch.Event"

    def __repr__(self) -> str:
        return f"<{self.name}>"
