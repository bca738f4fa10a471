"""Data sets for learning, made of episodes."""
