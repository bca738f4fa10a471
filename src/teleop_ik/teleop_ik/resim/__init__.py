"""Re-simulation: the recorded inputs through the same core, compared with the recorded targets."""
