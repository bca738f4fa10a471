"""The SO-101 model: one source for URDF, MJCF, limits, meshes and scenes."""
