"""The SO-101 on its servo bus."""
