"""Recorded takes again: as pictures in the simulation, and as commands to arms."""
