"""Isaac Teleop's recordings (MCAP with FlatBuffers) as operator frames, and back."""
