"""Input providers: scripted operator and replay of recorded input."""
