"""Which providers and devices there are, how they are, since when and why."""
