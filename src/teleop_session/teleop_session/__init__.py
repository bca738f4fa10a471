"""Session state machine, tracking space, TF and markers."""
