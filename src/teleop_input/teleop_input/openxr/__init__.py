"""Input from an OpenXR runtime: a pure life cycle, and the runtime behind a protocol."""
