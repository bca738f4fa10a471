"""The guard: authority, limits, collision filter, commits, e-stop."""
